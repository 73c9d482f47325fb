package fallback

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"standin/fallback/provider"
)

// Change is what an answer changes in what the room was told.
type Change string

// The changes.
const (
	NoChange Change = ""
	Quiet    Change = "quiet"   // only the stored reason moves; nothing is said [N4]
	Moved    Change = "moved"   // onto a fallback, or from one to another [19.4]
	Cleared  Change = "cleared" // back on the selected model [19.5]
)

// Announce compares who answered with what the room was told last. It gives
// the notice ("" unless Moved or Cleared), the pair to store, and what changed.
// attempts are this turn's failures and skips before the answer, in order.
//
// A pair is announced when it becomes true and not again while it stays true,
// so sticky turns and restarts are silent [M11, N5]; told must be the pair as
// it was before the run cleared anything [T16].
func Announce(told Told, selected, active Model, attempts []Attempt) (text string, next Told, change Change) {
	selected, active = selected.normal(), active.normal()
	was := Told{Selected: told.Selected.normal(), Active: told.Active.normal(), Reason: told.Reason}
	if active == selected {
		if was.Selected == was.Active {
			return "", told, NoChange
		}
		return clearedNotice(selected, was.Active), Told{}, Cleared
	}
	next = Told{Selected: selected, Active: active, Reason: whyMoved(attempts)}
	switch {
	case was == next:
		return "", told, NoChange
	case was.Selected == selected && was.Active == active:
		return "", next, Quiet
	}
	return movedNotice(next), next, Moved
}

// movedNotice is the line for going to a fallback [M13].
func movedNotice(t Told) string {
	return fmt.Sprintf("↪️ Model Fallback: %s (selected %s; %s)", t.Active, t.Selected, t.Reason)
}

// clearedNotice is the line for coming back. The bracket is left out when
// there is nothing to say in it [19.1].
func clearedNotice(selected, was Model) string {
	s := fmt.Sprintf("↪️ Model Fallback cleared: %s", selected)
	if was.IsZero() || was == selected {
		return s
	}
	return s + fmt.Sprintf(" (was %s)", was)
}

// reasonLimit is how long the first candidate's part of a reason may be, in
// characters, a closing ellipsis included [N11].
const reasonLimit = 80

// Unexplained is the reason of a pair that stands on a turn without failures:
// nothing was asked that could have told why [19.7].
const Unexplained = "selected model unavailable"

// whyMoved is the reason part of a notice: what happened to the first
// candidate, and how many more failed after it [19.7, N10, N11]. It is redacted
// once more here, since it leaves the house [N12].
func whyMoved(attempts []Attempt) string {
	if attempts = perCandidate(attempts); len(attempts) == 0 {
		return Unexplained
	}
	s := clip(oneLine(provider.Redact(firstReason(attempts[0]))), reasonLimit)
	if more := len(attempts) - 1; more > 0 {
		s += fmt.Sprintf(" (+%d more attempts)", more)
	}
	return s
}

// firstReason says in the fewest useful words why a candidate did not answer:
// the vendor's own sentence when it tells a passing trouble concretely, else
// the class, the code, the status, the text.
func firstReason(a Attempt) string {
	word := a.word()
	if passing(word) && hint.MatchString(a.Detail) {
		if s := display(a); s != "" && !strings.Contains(strings.ToLower(s), "unknown error") {
			return s
		}
	}
	switch {
	case word != "":
		return strings.ReplaceAll(word, "_", " ")
	case a.Code != "":
		return a.Code
	case a.Status != 0:
		return "HTTP " + strconv.Itoa(a.Status)
	case a.Detail != "":
		return a.Detail
	}
	return "error"
}

// word is the class of a failure, or the label where there is no class.
func (a Attempt) word() string {
	if a.Reason != NoReason {
		return string(a.Reason)
	}
	return string(a.Label)
}

// passing tells whether a failure is of the kinds whose vendor text is worth
// more than their name, since it may say for how long [N10].
func passing(word string) bool {
	switch Reason(word) {
	case RateLimit, Overloaded, Timeout, EmptyResponse, NoErrorDetails, Unclassified:
		return true
	}
	return false
}

// hint finds something concrete in a vendor's text [19.7].
var hint = regexp.MustCompile(`(?i)\b(429|5\d\d)\b|too many requests|usage limit|\bquota\b|try again in|retry[- ]after|` +
	`\b\d+(\.\d+)?\s*(seconds?|minutes?|hours?)\b|temporarily unavailable|overloaded|service unavailable|throttl`)

// statusFirst is an HTTP status in front of a vendor's text.
var statusFirst = regexp.MustCompile(`(?i)^(?:HTTP\s+)?([45]\d\d)\b[\s:.,-]*(.*)$`)

// display makes a vendor's text readable: JSON becomes its type and message,
// and the status stands in front of what has one. "" when the text is of no
// use to people, such as a page of HTML or JSON that was cut.
func display(a Attempt) string {
	status, text := a.Status, oneLine(a.Detail)
	if m := statusFirst.FindStringSubmatch(text); m != nil && (status == 0 || m[1] == strconv.Itoa(status)) {
		status, _ = strconv.Atoi(m[1])
		text = m[2]
	}
	var kind string
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if kind, text = fromJSON(text); text == "" {
			return ""
		}
		if status == 0 {
			return strings.TrimSpace("LLM error "+kind) + ": " + text
		}
	}
	switch {
	case strings.HasPrefix(text, "<"):
		return ""
	case status == 0:
		return text
	case text == "":
		return "" // a status alone says less than the class
	}
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", status, kind)) + ": " + text
}

// fromJSON finds type and message in the envelopes that vendors use:
// {"error":{…}}, {"error":"…"}, [{"error":…}] and the flat form.
func fromJSON(text string) (kind, message string) {
	type envelope struct {
		Error   json.RawMessage `json:"error"`
		Type    string          `json:"type"`
		Message string          `json:"message"`
	}
	raw := json.RawMessage(text)
	for range 3 {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
			raw = list[0]
		}
		if json.Unmarshal(raw, &message) == nil {
			return kind, message
		}
		var e envelope
		if json.Unmarshal(raw, &e) != nil {
			return "", ""
		}
		if len(e.Error) == 0 || string(e.Error) == "null" {
			return e.Type, e.Message
		}
		raw = e.Error
	}
	return "", ""
}

// perCandidate leaves one attempt per candidate: its last, which is the one
// that ended it. Rotation inside a candidate is no news for the room (6.6).
func perCandidate(attempts []Attempt) []Attempt {
	var out []Attempt
	for _, a := range attempts {
		if n := len(out); n > 0 && out[n-1].Model == a.Model && out[n-1].Position == a.Position {
			out[n-1] = a
			continue
		}
		out = append(out, a)
	}
	return out
}

// oneLine collapses all white space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clip cuts a text to at most n characters, the last of them an ellipsis.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return strings.TrimRight(string(r[:n-1]), " ") + "…"
}
