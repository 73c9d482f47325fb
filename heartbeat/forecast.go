package heartbeat

import (
	"fmt"
	"strings"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
)

// Forecast is what an agent's heartbeat comes to, for people who look at their
// config before it costs them anything [IL-109].
type Forecast struct {
	PerDay int              // requests a day, when each beat asks one model once
	Chain  []fallback.Model // of a session without a choice of its own
	Price  provider.Price   // of the first of them
	Why    fallback.Why
	Strict bool
	Goes   string // where its answers go, in words
}

// ForecastOf reckons from the config alone: the phase of the schedule, which
// belongs to the installation, hardly matters to it.
func ForecastOf(s *Settings, a fallback.AgentID, now time.Time) Forecast {
	c := s.For(a)
	plan := fallback.Resolve(fallback.Ask{
		Agent: a, Kind: fallback.Heartbeat, Config: s.Fallback, Model: c.Model, Fallbacks: c.Fallbacks, Listed: c.Listed,
	}, fallback.Selection{}, false)
	f := Forecast{PerDay: PerDay(now, c.Every, 0, c.Hours), Chain: fallback.Chain(s.Fallback, plan), Why: plan.Why, Goes: c.goes()}
	f.Strict = plan.Strict || len(f.Chain) == 1
	if len(f.Chain) > 0 {
		f.Price = s.Fallback.FactsOf(f.Chain[0]).Price
	}
	return f
}

// Cost is the least that a day's beats come to in USD: the question and the
// agent's instructions alone, and a short answer, at the price of the first
// model. known is false when nobody knows that price.
func (f Forecast) Cost(instructions string) (usd float64, known bool) {
	const charsPerToken, answer = 4, 10
	asked := int64(len(instructions)+len(usual)) / charsPerToken
	return float64(f.PerDay) * f.Price.Cost(provider.Tokens{Input: asked, Output: answer}), f.Price.Priced
}

// goes says where answers are posted.
func (c Config) goes() string {
	switch {
	case c.Target == TargetNone || c.Target == "":
		return "what it says is posted nowhere (target: none)"
	case c.Target == TargetLast:
		return "what it says is posted where the session was last spoken to"
	case c.To != "":
		return fmt.Sprintf("what it says is posted to %s, %s", c.Target, c.To)
	}
	return "what it says is posted where the session was last spoken to on " + c.Target
}

// Span writes a duration as people do: 30m, 1h30m, 24h.
func Span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Says is what became of a beat, or why there was none, for people.
func (w Why) Says() string {
	switch w {
	case WhyOff:
		return "it is switched off; standin heartbeat enable switches it on"
	case WhyQuiet:
		return "it was outside of the active hours"
	case WhyBusy:
		return "the session was being answered; it is tried again at once after that"
	case WhyCron:
		return "a job was running; it is tried again at once after that"
	case WhyLanes:
		return "another session of the agent was being answered (skipWhenBusy)"
	case WhyAlertsOff:
		return "everything that it could show is switched off for its place (showOk, showAlerts, useIndicator)"
	case WhyEmptyFile:
		return "HEARTBEAT.md has nothing to do in it"
	case WhyNoTasks:
		return "none of the tasks in HEARTBEAT.md was due"
	case WhyIdle:
		return "paused: nobody has spoken in the session for a long time (idleAfter); the next message resumes it"
	case WhyCooling:
		return "every model of its chain rests after failures; it waits for the first of them"
	case WhyBudget:
		return "what it may spend is spent (standin cost, /budget); it goes on when the budget's next period begins"
	case WhyTaken:
		return "what there was to tell had been told already"
	case WhyFlood:
		return "there were too many in the last minute"
	case WhyInterrupted:
		return "it was stopped before it ended"
	case WhyUnreadable:
		return "HEARTBEAT.md cannot be read"
	case WhyPosted:
		return "it said something, which was posted"
	case WhyOK:
		return "nothing needed attention"
	case WhyShownOK:
		return "nothing needed attention, and the room was told so (showOk)"
	case WhyEmpty:
		return "the answer was empty, so nothing was posted"
	case WhyDuplicate:
		return "it said the same as the last time, so nothing was posted"
	case WhyHidden:
		return "it said something that is not shown (showAlerts: false)"
	case WhyNoTarget:
		return "it said something and has nowhere to say it (target)"
	case WhyNoAccount:
		return "it said something, but its channel has no such account (accountId)"
	case WhyDirect:
		return "it said something, but may not write into direct chats (directPolicy: block)"
	case WhyTrial:
		return "this is what it would have said; nothing was posted or kept"
	case WhyFailed:
		return "no model answered"
	}
	return string(w)
}
