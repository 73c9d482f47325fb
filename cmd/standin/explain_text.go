package main

import (
	"fmt"
	"io"
	"time"

	"standin/bot"
	"standin/fallback"
)

// print lays the explanation out for a person who has never seen one.
func (e *explanation) print(w io.Writer, now time.Time) {
	p := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	p("%s in %s, agent %s. It is %s.", e.runName(), e.Session, e.Agent, now.Format("Monday 2 January 2006, 15:04 MST"))
	if !e.Stored && e.Run == string(fallback.Chat) {
		p("Nothing is stored of this session yet: this is what its first message would do.")
	}
	p("")
	p("Model       %s", e.Selected)
	p("Chosen by   %s", e.Chosen)
	p("Policy      %s", e.Policy)
	if e.Selected != e.Default {
		p("Default     %s", e.Default)
	}
	if e.Invalid != "" {
		p("Impossible  %s; the run fails at once, and /model default mends it", e.Invalid)
	}
	if e.Cleared != "" {
		p("Cleared     %s", e.Cleared)
	}
	if in := e.StandsIn; in != nil {
		line := in.Model
		if !in.Since.IsZero() {
			line += ", since " + bot.Moment(in.Since, now)
		}
		if in.Reason != "" {
			line += ": " + in.Reason
		}
		p("Stands in   %s", line)
		p("Next look   %s", e.nextLook(now))
	}
	p("")
	p("The models, in the order in which they are asked:")
	first := true
	for _, c := range e.Candidates {
		p("")
		p("%d. %s: %s", c.Position, c.Model, c.verdict(first, now))
		for _, one := range c.Profiles {
			p("     %-*s  %s", c.widest(), one.ID, one.standing(now))
		}
		first = first && c.Do == fallback.Skip
	}
	if first && e.Invalid == "" {
		p("")
		p("No model can be asked now: the message would not be answered.")
	}
	if e.Simulation != nil {
		e.Simulation.print(w)
	}
}

func (e *explanation) runName() string {
	switch fallback.Kind(e.Run) {
	case fallback.Cron:
		return "A job"
	case fallback.Heartbeat:
		return "A heartbeat"
	}
	return "A message"
}

// nextLook tells when the selected model is asked again.
func (e *explanation) nextLook(now time.Time) string {
	switch in := e.StandsIn; {
	case in.Due:
		return fmt.Sprintf("now: this message asks %s again", e.Selected)
	case fallback.Kind(e.Run) != fallback.Chat:
		return "with a person's message; this run does not look"
	case in.Next.After(now):
		return fmt.Sprintf("%s is asked again with the first message after %s, or with the next one after a restart", e.Selected, bot.Moment(in.Next, now))
	}
	return fmt.Sprintf("none: %s is not the default any more", e.Selected)
}

// verdict is what is done with a candidate. first: none before it is asked.
func (c candidacy) verdict(first bool, now time.Time) string {
	turn := "asked if the ones before it fail"
	if first {
		turn = "asked first"
	}
	rests := ""
	if !c.Until.IsZero() {
		rests = ", the first of them until " + bot.Clock(c.Until, now)
		if len(c.Profiles) == 1 {
			rests = ", until " + bot.Clock(c.Until, now)
		}
	}
	switch c.Do {
	case fallback.Probe:
		return fmt.Sprintf("%s, once, to see whether it is back: its credentials rest (%s)%s", turn, bot.Word(fallback.Reason(c.Reason)), rests)
	case fallback.Skip:
		s := "passed over, no request is made: " + bot.PassedOver(fallback.SkipWhy(c.Why), fallback.Reason(c.Reason))
		switch fallback.SkipWhy(c.Why) {
		case fallback.SkipBilling, fallback.SkipPersistentAuth:
			rests = "; the first credential may be used again at " + bot.Clock(c.Until, now)
		}
		s += rests
		if c.Mend != "" {
			s += ". To mend it: " + c.Mend
		}
		return s
	}
	return turn
}

func (c candidacy) widest() int {
	wide := 0
	for _, p := range c.Profiles {
		wide = max(wide, len(p.ID))
	}
	return wide
}

// standing says when a credential would be used, or why not.
func (c credential) standing(now time.Time) string {
	var s string
	switch {
	case c.Unfit != "":
		return "cannot be used: " + unfitWord(c.Unfit)
	case c.Place == 1:
		s = "used first"
	case c.Place > 1:
		s = "next in line, after a failure that another credential may mend (401, 402, 429, overload; not a timeout)"
	case c.Until.IsZero():
		s = "not used by this run"
	}
	if !c.Until.IsZero() {
		rests := fmt.Sprintf("rests until %s: %s", bot.Moment(c.Until, now), bot.Word(fallback.Reason(c.Reason)))
		if c.Scope != "" {
			rests += ", for this model only"
		}
		if s != "" {
			s = "used all the same; it "
		}
		s += rests
	}
	switch c.Pin {
	case string(fallback.ByUser):
		s += " (chosen by hand: no other is used until /new)"
	case string(fallback.Auto):
		if c.Place == 1 {
			s += " (this session keeps to it)"
		}
	}
	return s
}

// unfitWord words a cause of failover.md 8.6.
func unfitWord(why string) string {
	switch why {
	case fallback.ProfileMissing:
		return "the config names it, but it is not stored here"
	case fallback.ProviderMismatch:
		return "it belongs to another provider"
	case fallback.ModeMismatch:
		return "it is of another type than auth.profiles says"
	case fallback.MissingCredential:
		return "it holds no key"
	case fallback.InvalidExpires, fallback.Expired:
		return "it has expired"
	}
	return why
}
