package bot

import (
	"context"
	"slices"
	"strings"

	"standin/channels"
	"standin/fallback"
)

// Standing tells how the default agent's models are now, and why, by the windows
// of their credentials [D18]. A model whose credentials the store does not know
// counts as usable: only asking it can tell.
func (b *Bot) Standing(ctx context.Context) (s channels.Standing, why string) {
	cfg := b.Config()
	plan := fallback.Resolve(fallback.Ask{Agent: cfg.DefaultAgent, Kind: fallback.Chat, Config: cfg.Fallback}, fallback.Selection{}, false)
	for i, m := range fallback.Chain(cfg.Fallback, plan) {
		reason, usable := b.usable(ctx, cfg.DefaultAgent, m)
		if usable && i == 0 {
			return channels.Healthy, ""
		}
		if usable {
			return channels.Degraded, why
		}
		if i == 0 {
			why = strings.ReplaceAll(string(reason), "_", " ")
		}
	}
	return channels.Exhausted, why
}

// usable tells whether a credential of the model's provider can be used for it,
// and if none can, why one cannot.
func (b *Bot) usable(ctx context.Context, a fallback.AgentID, m fallback.Model) (why fallback.Reason, usable bool) {
	if b.Credentials == nil {
		return "", true
	}
	profiles, err := b.Credentials.Profiles(ctx, a, m.Provider)
	if err != nil || len(profiles) == 0 {
		return "", true
	}
	usage, err := b.Credentials.Usage(ctx, a, m.Provider)
	if err != nil {
		return "", true
	}
	free := slices.ContainsFunc(profiles, func(p fallback.Profile) bool {
		w, blocked := usage[p.ID].Blocking(m.Name, b.Now())
		if blocked && why == "" {
			why = w.Reason
		}
		return !blocked
	})
	return why, free
}
