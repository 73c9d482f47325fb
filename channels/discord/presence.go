package discord

import (
	"context"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
)

// presence is what the bot's status shows.
type presence struct {
	status discordgo.Status
	text   string
}

// presenceOf words a standing [D18]: online, idle when a stand-in answers, do
// not disturb when no model can.
func (a AutoPresence) presenceOf(s channels.Standing, why string) presence {
	p := presence{discordgo.StatusOnline, a.HealthyText}
	switch s {
	case channels.Degraded:
		p = presence{discordgo.StatusIdle, a.DegradedText}
	case channels.Exhausted:
		p = presence{discordgo.StatusDoNotDisturb, a.ExhaustedText}
	}
	p.text = strings.TrimSpace(strings.ReplaceAll(p.text, "{reason}", why))
	return p
}

// present keeps the bot's status what its models' standing is, until ctx ends. A
// new connection begins as online, so what it shows is told it again.
func (c *Channel) present(ctx context.Context) {
	set := c.cfg.AutoPresence
	if !set.Enabled || c.opt.Standing == nil {
		return
	}
	var shown presence
	var on *link
	const soon = time.Second // a connection that is being made is looked for so often
	for {
		wait := time.Duration(set.IntervalMs) * time.Millisecond
		standing, why := c.opt.Standing(ctx)
		want := set.presenceOf(standing, why)
		switch l := c.line.Load(); {
		case l == nil:
			wait = min(wait, soon)
		case l != on || want != shown:
			if err := l.send(map[string]any{"op": opPresence, "d": want.wire()}); err != nil {
				c.log.Debug("the status is not shown", "err", err)
			} else {
				shown, on = want, l
				c.log.Debug("the status shows how the models are", "status", want.status, "standing", standing)
			}
		}
		if channels.Sleep(ctx, wait) != nil {
			return
		}
	}
}

// wire is the presence as the gateway takes it. A text is the custom status.
func (p presence) wire() map[string]any {
	activities := []any{}
	if p.text != "" {
		activities = append(activities, map[string]any{"name": "Custom Status", "type": discordgo.ActivityTypeCustom, "state": clip(p.text, 128)})
	}
	return map[string]any{"since": nil, "activities": activities, "status": p.status, "afk": false}
}
