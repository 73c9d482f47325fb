package bot

import (
	"fmt"
	"strings"
	"time"

	"standin/bot/policy"
	"standin/fallback"
	"standin/fallback/provider"
)

// SayWhy tells a Story in plain sentences, for /why and `standin why`. Times are
// told in now's zone.
func SayWhy(s Story, now time.Time) string {
	t := teller{now: now}
	t.say("%s", t.standing(s))
	if s.Change == nil || s.From != "" {
		t.say("%s", t.nothing(s))
	} else {
		t.change(s)
	}
	t.unanswered(s)
	t.byHand(s)
	t.looks(s)
	return strings.Join(t.lines, "\n")
}

// sayNoPast answers /why where no record is kept.
func sayNoPast() string {
	return "I keep no record here, so I cannot tell. /status says how things stand now."
}

// FailureLine is the line that a person reads when a message's run ended with
// err [M33]. rooms tells whether rooms read it too: those are spared lines that
// help nobody [T20].
func FailureLine(err error, now time.Time) (line string, rooms bool) {
	w := whyFailed(err, now)
	return w.line, !w.generic
}

// Word is a reason of failover.md 4.1 in words for people.
func Word(r fallback.Reason) string { return word(r) }

// Clock is a moment for people, as precise as its distance asks for: the time
// of day, with its seconds when they matter, with the day when that is another
// one than now's.
func Clock(at, now time.Time) string {
	at = at.In(now.Location())
	switch y, d := at.Year(), at.YearDay(); {
	case now.Sub(at).Abs() < 5*time.Minute:
		return at.Format(time.TimeOnly)
	case y == now.Year() && d == now.YearDay():
		return at.Format("15:04")
	case now.Sub(at).Abs() < 6*24*time.Hour:
		return at.Format("Mon 15:04")
	}
	return at.Format("2 Jan 2006 15:04")
}

// Moment is Clock with the span from now: "14:02 (12 min ago)", "14:10 (in 8 min)".
func Moment(at, now time.Time) string {
	if at.After(now) {
		return Clock(at, now) + " (in " + countdown(at.Sub(now)) + ")"
	}
	return Clock(at, now) + " (" + ago(now.Sub(at)) + ")"
}

func ago(d time.Duration) string {
	if d < time.Second {
		return "just now"
	}
	return age(d) + " ago"
}

// teller collects the sentences.
type teller struct {
	now   time.Time
	lines []string
	zoned bool // the zone of the times has been named
}

// when is a moment; the first one names the zone, which need not be the reader's.
func (t *teller) when(at time.Time) string {
	if t.zoned {
		return Moment(at, t.now)
	}
	t.zoned = true
	clock := Clock(at, t.now)
	return clock + " " + at.In(t.now.Location()).Format("MST") + strings.TrimPrefix(Moment(at, t.now), clock)
}

func (t *teller) say(format string, args ...any) {
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

// standing says who answers now.
func (t *teller) standing(s Story) string {
	switch {
	case s.Selected != s.Active:
		return fmt.Sprintf("%s answers here, in place of %s.", s.Active, s.Selected)
	case chosen(fallback.Why(s.Cause)):
		return fmt.Sprintf("Only %s answers here: it was chosen by hand. /model default goes back to %s.", s.Active, s.Default)
	case s.Strict:
		return fmt.Sprintf("Only %s answers here, as configured.", s.Active)
	}
	return fmt.Sprintf("%s answers here, as configured.", s.Active)
}

// nothing says that no change is on record, and how far the record goes back.
func (t *teller) nothing(s Story) string {
	switch {
	case s.From != "":
		return fmt.Sprintf("It goes by the choice that was made in %s; how that came about can be asked there.", s.From)
	case s.Selected != s.Active || chosen(fallback.Why(s.Cause)):
		return "How that came about is not on record."
	case s.Since.IsZero():
		return "Nothing has happened in this session that I know of: no change, no failure."
	}
	return fmt.Sprintf("Nothing has changed that since %s, which is as far back as I looked.", t.when(s.Since))
}

// change tells the last change.
func (t *teller) change(s Story) {
	c := s.Change
	if c.To != s.Stored {
		// A moment ago, or by something that keeps no record, such as an import.
		t.say("How that came about is not on record. The last change that is:")
	}
	switch c.Kind {
	case ChangedFallback:
		if c.To == s.Active && s.Selected != s.Active {
			t.say("It has stood in since %s, because of this:", t.when(c.At))
		} else {
			t.say("%s stood in for %s from %s, because of this:", c.To, c.Origin, t.when(c.At))
		}
		if c.From != "" {
			t.say("- until then %s had stood in%s", c.From, because(c.Began))
		}
		t.events(c.Events, c.Open)
		t.told(c)
	case ChangedRecovered:
		t.say("%s has been back since %s.", c.Origin, t.when(c.At))
		line := c.From + " had stood in"
		if !c.StoodSince.IsZero() {
			line += fmt.Sprintf(" for %s, since %s", age(c.At.Sub(c.StoodSince)), Clock(c.StoodSince, t.now))
		}
		line += "."
		if c.Began != "" {
			line += " It began with: " + c.Began
		}
		t.say("%s", line)
		t.told(c)
	case ChangedByRule:
		t.say("At %s the stored choice %s was dropped: %s.", t.when(c.At), c.From, rule(fallback.ClearWhy(c.Rule)))
	case ChangedByPerson, ChangedByReset:
		t.say("%s", t.person(c, s))
	}
}

// person tells what somebody did, and what answered before.
func (t *teller) person(c *StoryChange, s Story) string {
	who := c.By
	if who == "" {
		who = "Somebody"
	}
	what := "went back to the default"
	switch {
	case c.Kind == ChangedByReset:
		what = "began a new session"
	case c.To != "" && c.To == c.From && c.Origin == "" && c.Pin != "":
		what = "chose the credential " + c.Pin
	case c.To != "" && c.To == c.From && c.Origin == "":
		what = "gave up the chosen credential"
	case c.To != "":
		what = "chose " + c.To
		if c.Pin != "" {
			what += " (credential " + c.Pin + ")"
		}
	case c.From == "" && c.Pin != "":
		what = "chose the default with the credential " + c.Pin
	}
	line := fmt.Sprintf("%s %s with %s at %s.", who, what, c.Command, t.when(c.At))
	switch {
	case c.Origin != "":
		line += fmt.Sprintf(" Until then %s stood in for %s.", c.From, c.Origin)
	case c.From == "":
		line += fmt.Sprintf(" Until then the default, %s, was selected.", s.Default)
	case c.From != c.To:
		line += fmt.Sprintf(" Until then %s was selected.", c.From)
	}
	return line
}

// rule words why a stored choice was stale.
func rule(r fallback.ClearWhy) string {
	switch r {
	case fallback.ClearNoOrigin:
		return "it was a fallback's, and nobody knows what it stood in for"
	case fallback.ClearOffChain:
		return "it was a fallback's, and the config does not name it any more"
	case fallback.ClearOrigin:
		return "a heartbeat found that the model it stood in for is not the configured one any more"
	case fallback.ClearNotPermitted:
		return "the config does not permit it any more"
	}
	return "it was stale (" + string(r) + ")"
}

// events lists what befell a message.
func (t *teller) events(list []StoryEvent, open bool) {
	for _, e := range list {
		if e.What == EventRests {
			t.say("  %s", t.event(e))
			continue
		}
		t.say("- %s %s", e.At.In(t.now.Location()).Format(time.TimeOnly), t.event(e))
	}
	if open {
		t.say("- no answer is on record yet: it is still being asked, or standin was stopped meanwhile")
	}
}

// event is one line of what happened.
func (t *teller) event(e StoryEvent) string {
	with := ""
	if e.Profile != "" {
		with = " with " + e.Profile
	}
	switch e.What {
	case EventAnswered:
		return e.Model + with + " answered"
	case EventUsed:
		s := fmt.Sprintf("%s%s used %s", e.Model, with, strings.Join(e.Tools, ", "))
		if e.Acted {
			s += ", which cannot be undone: from there on no other model would be asked"
		}
		return s
	case EventSkipped:
		s := fmt.Sprintf("%s was passed over without a request: %s", e.Model, skipped(e))
		return s
	case EventRests:
		of := ""
		if e.Model != "" {
			of = ", for " + e.Model + " only"
		}
		return fmt.Sprintf("%s then rests until %s (%s%s)", e.Profile, Clock(e.Until, t.now), word(fallback.Reason(e.Reason)), of)
	}
	return e.Model + with + " failed: " + failing(e)
}

// failing is a failure's class, status and text.
func failing(e StoryEvent) string {
	s := word(fallback.Reason(e.Reason))
	if e.Reason == string(fallback.Timeout) { // what the class says is not what was seen
		switch {
		case e.Status >= 500:
			s = "unavailable"
		case e.Status == 0:
			s = "no answer"
		}
	}
	if e.Status != 0 {
		s += fmt.Sprintf(", HTTP %d", e.Status)
	}
	switch broke := transportWord(provider.Transport(e.Detail)); {
	case broke != "":
		s += ", " + broke
	case e.Detail != "" && !strings.EqualFold(e.Detail, s):
		s += ", “" + policy.Short(e.Detail, 160) + "”"
	}
	return s
}

// transportWord words what broke below HTTP, "" for anything else.
func transportWord(t provider.Transport) string {
	switch t {
	case provider.DNSFailed:
		return "its name was not found"
	case provider.Refused:
		return "the connection was refused"
	case provider.Reset:
		return "the connection was reset"
	case provider.EOF:
		return "the connection was closed"
	case provider.TLSFailed:
		return "no secure connection"
	case provider.ConnectTimeout:
		return "no connection in time"
	case provider.FirstTokenTimeout:
		return "it did not begin to answer"
	case provider.IdleTimeout:
		return "it fell silent in the middle"
	case provider.AttemptTimeout:
		return "it ran out of time"
	case provider.OtherTransport:
		return "the connection failed"
	}
	return ""
}

// skipped says why no request was made.
func skipped(e StoryEvent) string {
	r := word(fallback.Reason(e.Reason))
	switch fallback.SkipWhy(e.Why) {
	case fallback.SkipNoProfile:
		return "there is no usable credential for it"
	case fallback.SkipPersistentAuth:
		return "its credentials were refused"
	case fallback.SkipBilling:
		return "its account is out of credit"
	case fallback.SkipProbeUsed:
		return "its credentials rest (" + r + "), and the provider was tried once already for this message"
	case fallback.SkipProbeThrottled:
		return "its credentials rest (" + r + "), and it was tried less than 30 s before"
	case fallback.SkipAuthCache:
		return "its credential was refused a short while before"
	case fallback.SkipOperator:
		return "its credential was switched off by hand"
	case fallback.SkipBlind:
		return "it cannot be shown pictures"
	case fallback.SkipBudget:
		return "the spending limit is reached"
	}
	return "its credentials rest (" + r + ")"
}

// told says what the room heard.
func (t *teller) told(c *StoryChange) {
	switch {
	case c.Notice == "" || c.Told == "":
	case c.Told == NoticeMute:
		t.say("The room was not told: notices are off here (messages.fallbackNotices).")
	case c.Told == NoticeDue:
		t.say("The room has not been told yet; the next visible answer says so.")
	default:
		t.say("The room was told: %s", c.Notice)
	}
}

// unanswered tells of the last message that no model answered.
func (t *teller) unanswered(s Story) {
	f := s.Unanswered
	if f == nil {
		return
	}
	if f.Open {
		t.say("A message of %s has no answer on record:", t.when(f.At))
	} else {
		t.say("At %s no model answered a message:", t.when(f.At))
	}
	t.events(f.Events, false)
	line := "The stored choice stayed as it was."
	if f.Count > 1 {
		line += fmt.Sprintf(" It was the last of %d such messages.", f.Count)
	}
	if f.Answered {
		line += " Later messages were answered."
	}
	t.say("%s", line)
}

// looks tells how the selected model was thought of since, and when it is next.
func (t *teller) looks(s Story) {
	if s.Selected == s.Active {
		return
	}
	if l := s.Looks; l != nil && l.Asked > 0 {
		t.say("Since then %s was asked again %s%s: %s.", s.Selected, times(l.Asked), t.lastOf(l.Asked, l.LastAsked), outcome(l.LastAsked))
	}
	if l := s.Looks; l != nil && l.Passed > 0 {
		t.say("It was due and passed over %s%s: %s.", times(l.Passed), t.lastOf(l.Passed, l.LastPassed), outcome(l.LastPassed))
	}
	switch {
	case !s.Next.After(t.now):
		t.say("%s is asked again with the next message.", s.Selected)
	case s.Guessed:
		t.say("%s is asked again with the first message after %s; if standin was restarted meanwhile, with the next one.", s.Selected, t.when(s.Next))
	default:
		t.say("%s is asked again with the first message after %s.", s.Selected, t.when(s.Next))
	}
}

func (t *teller) lastOf(n int, e StoryEvent) string {
	if n == 1 {
		return ", at " + t.when(e.At)
	}
	return ", last at " + t.when(e.At)
}

func outcome(e StoryEvent) string {
	switch e.What {
	case EventSkipped:
		return skipped(e)
	case EventAnswered:
		return "it answered"
	}
	return strings.TrimRight(failing(e), ".")
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// PassedOver says why a candidate is passed over without a request.
func PassedOver(why fallback.SkipWhy, r fallback.Reason) string {
	return skipped(StoryEvent{Why: string(why), Reason: string(r)})
}

// Failing is a failed attempt in words: its class, its status and what the
// vendor said.
func Failing(a fallback.Attempt) string {
	e, _ := eventOf(fallback.Step{Attempt: &a})
	return failing(e)
}

// Shown tells whether a session's room sees fallback notices [D12].
func Shown(n Notices, s fallback.SessionID) bool {
	return n == NoticesAll || n == NoticesDirect && IsDirect(s)
}

// Stale says by which rule a stored choice is taken away.
func Stale(r fallback.ClearWhy) string { return rule(r) }
