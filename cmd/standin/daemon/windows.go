package daemon

import (
	"context"

	"standin/fallback"
	"standin/store"
)

// mendWindows looks once, at the start, for windows that a wrong clock has made,
// and cuts them: a machine that was a month ahead for a minute would leave its
// credentials alone for a month [IL-036]. What cannot be read or written is told
// by whoever needs it.
func (a *App) mendWindows(ctx context.Context, creds *store.Credentials) {
	cfg, now := a.current.Load().Fallback.Cooldowns, a.parts.Now()
	agents, _ := creds.Agents()
	for _, agent := range agents {
		states, _ := creds.States(ctx, agent)
		for p, u := range states {
			if _, wrong := u.Plausible(cfg, now); !wrong {
				continue
			}
			was, is, err := creds.Update(ctx, agent, p, func(u fallback.Usage) fallback.Usage {
				u, _ = u.Plausible(cfg, now)
				return u
			})
			if err == nil {
				a.parts.Log.Warn("a credential's rest was made by a wrong clock and is cut", "agent", agent, "profile", p, "was", was.Whole.Until, "now", is.Whole.Until)
			}
		}
	}
}
