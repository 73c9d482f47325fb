package bot

import (
	"slices"
	"time"

	"standin/fallback"
)

// toldDeeds is how many of them a story tells, and deedsBefore how long before
// the change they may lie: what somebody did an hour earlier may be its cause.
const (
	toldDeeds   = 3
	deedsBefore = time.Hour
)

// PastDeeds is how many records of credentials a story is chosen from.
const PastDeeds = 200

// hands picks what was done by hand to the credentials of the story's models,
// around its change and since; without a change, within a day of the latest.
func hands(about About, change *StoryChange) (list []fallback.Deed) {
	var since time.Time
	switch {
	case change != nil:
		since = change.At.Add(-deedsBefore)
	case len(about.Deeds) > 0:
		since = about.Deeds[0].At.Add(-24 * time.Hour)
	}
	var vendors []string
	for _, m := range []fallback.Model{about.Plan.Selected, about.Plan.Requested, about.Plan.Primary} {
		vendors = append(vendors, fallback.CredentialProviders(m.Provider)...)
	}
	for _, d := range about.Deeds {
		if len(list) < toldDeeds && !d.At.Before(since) && (d.Provider == "" || slices.Contains(vendors, d.Provider)) {
			list = append(list, d)
		}
	}
	slices.Reverse(list)
	return list
}

// byHand tells them, oldest first.
func (t *teller) byHand(s Story) {
	for i, d := range s.Hands {
		if i == 0 {
			t.say("Done to credentials by hand:")
		}
		about := string(d.Profile)
		if about == "" {
			about = d.Provider
		}
		t.say("- %s, %s: %s", t.when(d.At), about, SayDeed(d))
	}
}
