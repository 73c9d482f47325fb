package incidents

import (
	"cmp"
	"slices"
	"time"
)

const (
	// Damping is how soon after its end a trouble that comes back is still the same
	// incident, and how long one that comes and goes must have stayed away before it
	// is over.
	Damping = 15 * time.Minute
	// Freshness is how exact a row's Seen is: it is not written at every look.
	Freshness = 5 * time.Minute
)

// News is what there is to be told of an incident.
type News string

// The news.
const (
	Nothing News = ""
	Began   News = "began"
	Worse   News = "worse" // a further stage
	Again   News = "again" // it is back, and comes and goes from now on
	Over    News = "over"
)

// Change is a row that is to be written, or dropped, and what is to be told of it.
type Change struct {
	Incident
	Before Incident // the row as it was, zero for a new one
	News   News
	Drop   bool
}

// Decide compares what is wrong with the incidents that are known: those that are
// not closed, and those that closed lately (see Lately). looked says which kinds
// were looked at: what could not be looked at stays as it is.
//
// A trouble is told once when it has lasted its Hold, and once when it is over.
// One that comes back within Damping goes on as the same incident; that it does
// is told once, and from then on it is over only when it has stayed away for
// Damping.
func Decide(rows []Incident, signs []Sign, looked func(Kind) bool, now time.Time) (changes []Change) {
	open, closed := map[key]Incident{}, map[key]Incident{}
	for _, r := range rows {
		switch {
		case r.Closed.IsZero():
			open[r.key()] = r
		case r.Closed.After(closed[r.key()].Closed):
			closed[r.key()] = r
		}
	}
	seen := map[key]bool{}
	for _, s := range signs {
		k := key{s.Kind, s.Subject}
		if seen[k] {
			continue // two sources of one trouble: the first speaks
		}
		seen[k] = true
		row, known := open[k]
		if !known {
			row = Incident{Kind: s.Kind, Subject: s.Subject, Opened: now, Since: begin(s.Since, now), Times: 1}
		}
		changes = append(changes, goesOn(row, closed[k], s, now)...)
	}
	for _, r := range rows {
		if r.Closed.IsZero() && !seen[r.key()] && looked(r.Kind) {
			changes = append(changes, isAway(r, now)...)
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Subject, b.Subject))
	})
	return changes
}

// Lately is how far back Decide has to know closed incidents, where the longest
// Hold is longest.
func Lately(longest time.Duration) time.Duration { return Damping + 2*longest + time.Hour }

// begin is when a trouble began: never after it was seen, whatever a clock says.
func begin(since, now time.Time) time.Time {
	if since.IsZero() || since.After(now) {
		return now
	}
	return since
}

// goesOn is a trouble that is there. former is the incident of the same trouble
// that was closed last, if any was.
func goesOn(row, former Incident, s Sign, now time.Time) []Change {
	was := row
	row.Title, row.Was, row.Quiet, row.Channel, row.Account = s.Title, s.Was, s.Quiet, s.Channel, s.Account
	if !was.Well.IsZero() { // it comes and goes
		row.Times++
	}
	row.Well = time.Time{}
	if now.Sub(row.Seen) >= Freshness || now.Before(row.Seen) {
		row.Seen = now
	}
	if row.Told.IsZero() {
		if from := begin(s.Since, now); from.Before(row.Since) {
			row.Since = from
		}
		if now.Sub(row.Since) < s.Hold {
			return ifChanged(Change{Incident: row, Before: was})
		}
		if former.ID != 0 && row.Since.Sub(former.Closed) <= Damping {
			return comesBack(row, former, s, now)
		}
		row.Told, row.Seen, row.Stage = now, now, s.Stage
		return []Change{told(row, was, s, Began, now)}
	}
	if s.Stage > row.Stage {
		row.Stage, row.Seen = s.Stage, now
		return []Change{told(row, was, s, Worse, now)}
	}
	return ifChanged(Change{Incident: row, Before: was})
}

// comesBack opens the former incident again, in the place of the row that has
// waited for its Hold.
func comesBack(row, former Incident, s Sign, now time.Time) (changes []Change) {
	if row.ID != 0 {
		changes = append(changes, Change{Incident: row, Before: row, Drop: true})
	}
	back := former
	back.Title, back.Was, back.Quiet, back.Channel, back.Account = row.Title, row.Was, row.Quiet, row.Channel, row.Account
	back.Times++
	back.Closed, back.Well, back.Seen, back.Stage = time.Time{}, time.Time{}, now, max(former.Stage, s.Stage)
	if former.Quiet && s.Quiet && s.Stage <= former.Stage {
		return append(changes, Change{Incident: back, Before: former}) // its end was not told either
	}
	return append(changes, told(back, former, s, Again, now))
}

// isAway is a trouble that is not there any more.
func isAway(row Incident, now time.Time) []Change {
	was := row
	if row.Told.IsZero() {
		return []Change{{Incident: row, Before: was, Drop: true}} // it passed before anybody had to know
	}
	if row.Well.IsZero() || now.Before(row.Well) {
		row.Well = now
	}
	if row.Flaps() && now.Sub(row.Well) < Damping {
		return ifChanged(Change{Incident: row, Before: was})
	}
	row.Closed = row.Well
	c := Change{Incident: row, Before: was}
	if !row.Quiet {
		c.News = Over
		c.Lines++
	}
	return []Change{c}
}

func told(row, was Incident, s Sign, news News, now time.Time) Change {
	row.Lines++
	c := Change{Incident: row, Before: was, News: news}
	c.Text = Say(c.Incident, s, news, now)
	return c
}

func ifChanged(c Change) []Change {
	if c.Incident == c.Before {
		return nil
	}
	return []Change{c}
}
