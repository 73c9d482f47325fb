package daemon

import (
	"context"
	"time"

	"standin/bot"
	"standin/bot/tools"
	"standin/fallback"
)

// Staging is what a rehearsal looks at the daemon through. Nothing in it changes
// a rule: ids that are short, a clock that says when nothing runs, and an eye on
// what is written.
type Staging struct {
	ID      func() string                                    // of turns and epochs
	Pause   func(ctx context.Context, d time.Duration) error // how the bot waits outside of turns
	Stirred func()                                           // see bot.Options.Stirred
	Store   func(bot.Store) bot.Store                        // between the bot and its store
	// Ranks are the places of profiles in the order that is stored for an agent
	// (failover.md 8.1).
	Ranks map[fallback.ProfileID]int
	// Tools stand in for those that reach out of the house: servers, the web, jobs.
	Tools []tools.Tool
}

// look puts the staging between the bot and the house.
func (s *Staging) look(o *bot.Options) {
	o.ID, o.Sleep, o.Stirred = s.ID, s.Pause, s.Stirred
	o.Store = s.Store(o.Store)
}

// order gives the profiles their stored places.
func (s *Staging) order(profiles []fallback.Profile) []fallback.Profile {
	if s == nil {
		return profiles
	}
	for i := range profiles {
		profiles[i].Rank = s.Ranks[profiles[i].ID]
	}
	return profiles
}
