package discord

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/channeltest"
	"standin/channels/discord/discordtest"
)

// The adapter keeps the promises of every adapter, in each way of showing an
// answer while it grows.
func TestContract(t *testing.T) {
	for _, streaming := range []string{streamOff, streamPartial, streamBlock, streamProgress} {
		t.Run(streaming, func(t *testing.T) {
			channeltest.Contract(t, func(t *testing.T) channeltest.Rig {
				return contractRig(newRig(t, setup{config: func(c *Config) { c.Streaming = streaming }}))
			})
		})
	}
}

func contractRig(r *rig) channeltest.Rig {
	alice := r.s.Person("alice")
	room := r.s.DM(alice)
	said := map[int]*discordtest.Message{}
	return channeltest.Rig{
		Channel: r.c,
		To:      r.c.address(room.ID),
		Seen:    func() string { return strings.Join(r.texts(room.ID), "\n") },
		Files:   func() []string { return r.s.FilesIn(room.ID) },
		Say: func(n int, text string) {
			r.ready()
			if m := said[n]; m != nil {
				r.s.Redeliver(m)
				return
			}
			said[n] = r.s.Say(alice, room, text)
		},
		Fail: func(o channels.Outcome, posted bool) {
			f := discordtest.Fault{Method: http.MethodPost, Path: "/messages", Applied: posted}
			switch o {
			case channels.NotSent:
				f = discordtest.Limited(http.MethodPost, "/messages", 10*time.Millisecond)
				f.Times = tries
			case channels.Unknown:
				f.Status = http.StatusInternalServerError
			case channels.Refused:
				f.Status, f.Body = http.StatusForbidden, `{"code":50013,"message":"Missing Permissions for `+r.s.Token+`"}`
			}
			r.s.Break(f)
		},
		Limit:   maxText,
		Secrets: []string{r.s.Token},
	}
}
