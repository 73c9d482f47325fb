package main

import (
	"context"
	"time"

	"standin/bot"
	"standin/fallback"
)

// staging is what a rehearsal looks at the daemon through. Nothing in it
// changes a rule: ids that are short, a clock that says when
// nothing runs, and an eye on what is written.
type staging struct {
	id      func() string                                    // of turns and epochs
	pause   func(ctx context.Context, d time.Duration) error // how the bot waits outside of turns
	stirred func()                                           // see bot.Options.Stirred
	store   func(bot.Store) bot.Store                        // between the bot and its store
	// ranks are the places of profiles in the order that is stored for an agent
	// (failover.md 8.1).
	ranks map[fallback.ProfileID]int
}

// look puts the staging between the bot and the house.
func (s *staging) look(o *bot.Options) {
	o.ID, o.Sleep, o.Stirred = s.id, s.pause, s.stirred
	o.Store = s.store(o.Store)
}

// order gives the profiles their stored places.
func (s *staging) order(profiles []fallback.Profile) []fallback.Profile {
	if s == nil {
		return profiles
	}
	for i := range profiles {
		profiles[i].Rank = s.ranks[profiles[i].ID]
	}
	return profiles
}
