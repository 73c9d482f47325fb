package slack

import (
	"fmt"
	"testing"

	"standin/channels"
	"standin/channels/channeltest"
	"standin/channels/slack/slacktest"
)

// The promises that every adapter keeps, over real sockets.
func TestContract(t *testing.T) {
	channeltest.Contract(t, func(t *testing.T) channeltest.Rig {
		r := newRig(t, setup{idle: true})
		said := map[int]string{}
		return channeltest.Rig{
			Channel: r.c,
			To:      r.to(slacktest.DM, ""),
			Seen:    func() string { return r.s.Seen(slacktest.DM) },
			Files:   func() []string { return r.s.FilesIn(slacktest.DM) },
			Say: func(n int, text string) {
				r.await("it listens", func() bool { return r.c.Health().State == channels.Ready })
				if said[n] != "" {
					return // Slack delivers it again by itself
				}
				said[n] = r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: text})
			},
			Fail: func(o channels.Outcome, posted bool) {
				switch o {
				case channels.NotSent:
					r.s.Fail("chat.postMessage", slacktest.Fault{Status: 429, RetryAfter: "1"})
				case channels.Refused:
					r.s.Fail("chat.postMessage", slacktest.Fault{Code: "is_archived"})
				case channels.Unknown:
					r.s.Fail("chat.postMessage", slacktest.Fault{Cut: true, Applied: posted})
				default:
					panic(fmt.Sprint("no fault for ", o))
				}
			},
			Limit:   r.c.cfg.TextChunkLimit,
			Secrets: []string{slacktest.BotToken, slacktest.AppToken, slacktest.Signing},
		}
	})
}
