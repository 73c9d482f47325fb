package discord

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"standin/channels"
	"standin/channels/discord/discordtest"
)

// The bot's status shows how its models are, and again on a new connection [D18].
func TestPresenceFollowsTheModels(t *testing.T) {
	var now atomic.Value
	now.Store(channels.Healthy)
	w := newRig(t, setup{
		config: func(c *Config) {
			c.AutoPresence = AutoPresence{Enabled: true, IntervalMs: 5, DegradedText: "a stand-in answers ({reason})"}
		},
		options: func(o *Options) {
			o.Standing = func(context.Context) (channels.Standing, string) {
				return now.Load().(channels.Standing), "rate limit"
			}
		},
	})
	w.run()
	shows := func(what string) {
		t.Helper()
		w.await("the status shows "+what, func() bool {
			last := ""
			for _, e := range w.s.Journal() {
				if e.What == discordtest.Presence {
					last = e.Text
				}
			}
			return strings.Contains(last, what)
		})
	}
	shows(`"status":"online"`)
	now.Store(channels.Degraded)
	shows(`"state":"a stand-in answers (rate limit)"`)
	now.Store(channels.Exhausted)
	shows(`"status":"dnd"`)
	told := w.s.Count(discordtest.Presence, "")
	w.s.Drop()
	w.await("it is told again on a new connection", func() bool { return w.s.Count(discordtest.Presence, "") > told })
	shows(`"status":"dnd"`)
}

// Without the setting nothing is told.
func TestNoPresenceByDefault(t *testing.T) {
	w := newWorld(t, setup{options: func(o *Options) {
		o.Standing = func(context.Context) (channels.Standing, string) { return channels.Exhausted, "" }
	}})
	w.wantNothing(w.alice)
	if n := w.s.Count(discordtest.Presence, ""); n != 0 {
		t.Errorf("told %d times", n)
	}
}
