package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"standin/bot"
	"standin/fallback"
)

// playStep is one decision of a played run.
type playStep struct {
	At      time.Time `json:"at"`
	Event   string    `json:"event"` // attempt, skip, override, cooldown, disabled, blocked (rehearsal.md R9–R12)
	Model   string    `json:"model,omitempty"`
	Profile string    `json:"profile,omitempty"`
	Outcome string    `json:"outcome,omitempty"` // ok, failed
	Reason  string    `json:"reason,omitempty"`
	Status  int       `json:"status,omitempty"`
	Why     string    `json:"why,omitempty"`
	Probe   string    `json:"probe,omitempty"`
	Act     string    `json:"act,omitempty"`
	Until   time.Time `json:"until,omitzero"`
	Place   int       `json:"position,omitempty"`
	Next    bool      `json:"rotated,omitempty"` // another credential of the same model
	Text    string    `json:"text"`
}

// playedStep reads a step of the engine; before are those before it. The
// decision records say the same in other words and are left out.
func playedStep(s fallback.Step, before []playStep) (playStep, bool) {
	p := playStep{At: s.At, Event: string(s.What)}
	switch {
	case s.Attempt != nil:
		a := s.Attempt
		p.Model, p.Profile, p.Place, p.Probe = a.Model.String(), string(a.Profile), a.Position, string(a.Probe)
		p.Reason, p.Status, p.Why = cmp.Or(string(a.Reason), string(a.Label)), a.Status, string(a.Skipped)
		for _, b := range before {
			p.Next = p.Next || b.Event == p.Event && b.Place == p.Place && b.Profile != p.Profile
		}
		p.Outcome = "failed"
		if a.OK {
			p.Outcome = "ok"
		}
		if a.Skipped != "" {
			p.Outcome, p.Next = "", false
		}
		p.Text = attemptText(*a, p.Next)
	case s.Window != nil:
		w := s.Window
		p.Profile, p.Model, p.Reason, p.Until = string(w.Profile), w.Model, string(w.Window.Reason), w.Window.Until
		p.Text = fmt.Sprintf("%s rests until %s (%s%s)", p.Profile, bot.Clock(p.Until, p.At), bot.Word(w.Window.Reason), onlyFor(p.Profile, w.Model))
	case s.Write != nil:
		p.Act, p.Model = string(s.Write.Act), s.Write.Now.Model.String()
		p.Text = writeText(*s.Write)
	default:
		return p, false
	}
	return p, true
}

func onlyFor(profile, model string) string {
	if model == "" {
		return ", for all models of " + fallback.ProfileID(profile).Provider()
	}
	return ", for " + model + " only"
}

func attemptText(a fallback.Attempt, rotated bool) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d. %s", a.Position, a.Model)
	if a.Profile != "" {
		s.WriteString(" with " + string(a.Profile))
		if rotated {
			s.WriteString(", its next credential")
		}
	}
	switch a.Probe {
	case fallback.PrimaryProbe:
		s.WriteString(" (looking whether it is back)")
	case fallback.CooldownProbe:
		s.WriteString(" (a single try although its credentials rest)")
	}
	switch {
	case a.OK:
		s.WriteString(" answers")
	case a.Skipped != "":
		s.WriteString(" is passed over, no request is made: " + bot.PassedOver(a.Skipped, a.Reason))
	default:
		s.WriteString(" fails: " + bot.Failing(a))
	}
	return s.String()
}

func writeText(w fallback.Write) string {
	switch {
	case w.Act == fallback.ActRollback && w.Now.Model.IsZero():
		return fmt.Sprintf("%s did not answer: the session goes back to the configured model", w.Was.Model)
	case w.Act == fallback.ActRollback:
		return fmt.Sprintf("%s did not answer: the session goes back to %s", w.Was.Model, w.Now.Model)
	case w.Rule != "":
		return fmt.Sprintf("the session's choice %s is cleared: %s", w.Was.Model, bot.Stale(w.Rule))
	case w.Act == fallback.ActClear:
		return fmt.Sprintf("the session's choice %s is cleared: %s is back", w.Was.Model, w.Was.Origin)
	}
	return fmt.Sprintf("the session switches to %s in place of %s; then that model is asked", w.Now.Model, w.Now.Origin)
}

// print tells the played run.
func (r *simulationResult) print(w io.Writer) {
	p := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	p("")
	p("Supposing %s (played in no time, nothing is really asked):", strings.Join(r.Spec, ", "))
	for _, warning := range r.Warnings {
		p("  note: %s", warning)
	}
	p("")
	var zone *time.Location
	for _, s := range r.Steps {
		if zone == nil {
			zone = s.At.Location()
		}
		indent := ""
		if s.Place == 0 {
			indent = "   "
		}
		p("  %s  %s%s", s.At.In(zone).Format(time.TimeOnly), indent, s.Text)
	}
	if len(r.Steps) == 0 {
		p("  no model is asked")
	}
	p("")
	switch {
	case r.Silent != "" && r.Failure != "":
		p("No model answers. In the room nothing is read (%s); the line would be:", r.Silent)
		p("  %s", r.Failure)
	case r.Failure != "":
		p("No model answers. What people read:")
		p("  %s", r.Failure)
	default:
		p("What people read:")
		if r.Notice != "" && r.Silent == "" {
			p("  %s", r.Notice)
		}
		p("  (the answer of %s)", r.Answered)
		if r.Silent != "" {
			p("The notice would be %q, but is not shown: %s.", r.Notice, r.Silent)
		}
	}
	p("Nothing was asked and nothing was written: this was a simulation.")
}
