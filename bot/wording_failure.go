package bot

import (
	"fmt"
	"math"
	"strings"
	"time"

	"standin/bot/policy"
	"standin/fallback"
	"standin/fallback/provider"
)

// whyNot is a failed turn as it is told.
type whyNot struct {
	name    string // for logs and the inbox row
	line    string // for the person
	always  bool   // however often the room has read it
	generic bool   // tells nobody anything that helps: not for rooms [T20]
}

// whyFailed words an error of the engine [M33, 18.3].
func whyFailed(err error, now time.Time) whyNot {
	c := fallback.CauseOf(err, now)
	w := whyNot{name: string(c.Kind), line: sayFailed(c)}
	switch c.Kind {
	case fallback.CauseMixed, fallback.CauseOther, fallback.CauseSwitching:
		// What a user chose exactly is always reported [M8, T21].
		w.generic = !(c.Strict && chosen(c.Why)) && !c.Acted
	}
	w.always = c.Strict && chosen(c.Why) || c.Acted
	return w
}

func chosen(w fallback.Why) bool { return w == fallback.FromUser || w == fallback.FromLegacy }

// sayFailed is the line of a turn that no model answered: what failed and why,
// what happens next, what the reader can do.
func sayFailed(c fallback.Cause) string {
	if c.Acted {
		return strings.TrimSpace(what(c) + " I had already done part of what you asked. So that nothing is done twice, no other model was asked: please check what is done, and tell me what is still missing.")
	}
	return strings.TrimSpace(what(c) + " " + strictly(c) + next(c))
}

// what says what failed and why.
func what(c fallback.Cause) string {
	model := c.Model.String()
	switch c.Kind {
	case fallback.CauseInvalid:
		return fmt.Sprintf("The model %s that was chosen for this session is not configured here.", model)
	case fallback.CauseBilling:
		if c.Auth == fallback.OAuth || c.Auth == fallback.Token {
			return fmt.Sprintf("%s refused to answer: its subscription does not cover this any more.", model)
		}
		return fmt.Sprintf("%s refused to answer: the account behind its API key has run out of credit.", model)
	case fallback.CauseOverflow:
		return fmt.Sprintf("This conversation has become too long for %s.", model)
	case fallback.CauseRefusal:
		return fmt.Sprintf("%s declined to answer this because of its safety rules.", model)
	case fallback.CauseRateLimited:
		if c.Said != "" {
			return subject(c, "is at its limit", "are at their limits") + ": " + c.Said
		}
		return subject(c, "is", "are") + " temporarily rate-limited" + busy(c) + "."
	case fallback.CauseAuth:
		if c.Profile != "" {
			return fmt.Sprintf("%s could not be asked: the credential %s, which was chosen for this session, is expired or incomplete.", model, c.Profile)
		}
		return fmt.Sprintf("%s could not be asked: its credential is missing or was refused.", model)
	case fallback.CauseMissingModel:
		return fmt.Sprintf("The provider does not know the model %s.", model)
	case fallback.CauseOperator:
		return fmt.Sprintf("%s could not be asked: whoever runs this bot has switched its credential off.", model)
	case fallback.CauseBudget:
		return "The spending limit set for this bot is used up."
	case fallback.CauseNetwork:
		return "I could not connect to any model: " + unreached(c) + ". This looks like a network problem on the machine I run on."
	case fallback.CauseUnreachable:
		if len(c.Attempts) > 1 {
			return "None of the models could be reached in time: " + late(c) + "."
		}
		return fmt.Sprintf("%s could not be reached, or did not answer in time.", model)
	case fallback.CauseDeadline:
		return "This took longer than one answer may take, so I stopped it."
	case fallback.CauseSwitching:
		return "The model was changed several times while I was answering, so I stopped."
	case fallback.CauseBlind:
		return fmt.Sprintf("I cannot look at pictures here: %s takes text alone, and no model that sees is set for them.", model)
	case fallback.CauseMixed:
		return "No model could answer: " + tried(c) + "."
	}
	if len(c.Attempts) == 1 {
		return model + " could not answer: " + detail(c.Attempts[0]) + "."
	}
	return "Something went wrong on my side while answering."
}

// subject is who is limited, with what one or several of them do.
func subject(c fallback.Cause, one, several string) string {
	if len(c.Attempts) > 1 {
		return "All models " + several
	}
	return c.Model.String() + " " + one
}

func busy(c fallback.Cause) string {
	for _, a := range c.Attempts {
		if a.Reason == fallback.Overloaded {
			return " or overloaded"
		}
	}
	return ""
}

// strictly tells why nothing stood in for a model that a person had chosen.
func strictly(c fallback.Cause) string {
	if !c.Strict || !chosen(c.Why) || c.Kind == fallback.CauseInvalid {
		return ""
	}
	return "It was chosen for this session with /model, so no other model stands in. "
}

// next says what happens now and what the reader can do.
func next(c fallback.Cause) string {
	back := ""
	if c.Strict && chosen(c.Why) {
		back = " /model default goes back to the default and its stand-ins."
	}
	switch c.Kind {
	case fallback.CauseInvalid:
		return "/model default goes back to the default, /models lists what there is."
	case fallback.CauseBilling:
		if c.Auth == fallback.OAuth || c.Auth == fallback.Token {
			return "Please check the subscription of " + c.Model.Provider + ", then send your message again." + back
		}
		return "Please top up the account at " + c.Model.Provider + ", then send your message again." + back
	case fallback.CauseOverflow:
		return "/new starts a fresh one; please send your message again there."
	case fallback.CauseRefusal:
		return "Putting it differently may help." + back
	case fallback.CauseRateLimited:
		if c.Said != "" {
			return strings.TrimSpace(back)
		}
		if c.Wait > 0 {
			return "Ready again in " + about(c.Wait) + "; please send your message again then." + back
		}
		return "Please try again in a few minutes." + back
	case fallback.CauseAuth:
		if c.Profile != "" {
			return "/model " + c.Model.String() + " without a credential lets me choose one again."
		}
		if c.Command != "" {
			return "Whoever runs this bot can fix it with: " + c.Command + "." + back
		}
		return "Whoever runs this bot has to give it a new one." + back
	case fallback.CauseMissingModel:
		return "/models lists the others." + back
	case fallback.CauseOperator:
		if c.Command != "" {
			return "They can switch it on again with: " + c.Command + "." + back
		}
		return "They can switch it on again with standin auth enable." + back
	case fallback.CauseBudget:
		return "Whoever runs this bot can raise it; otherwise I answer again when the next period begins."
	case fallback.CauseDeadline:
		return "Please try again, perhaps with a smaller question." + back
	case fallback.CauseNetwork, fallback.CauseUnreachable, fallback.CauseMixed:
		return "Please try again in a few minutes; /status tells more." + back
	case fallback.CauseBlind:
		return "Tell me in words what is in it, or choose a model that sees with /model. Whoever runs this bot can name one in agents.defaults.imageModel; if the model does see, models.providers has to say so (input: [text, image])."
	case fallback.CauseSwitching:
		return "Please send your message again."
	}
	return "Please try again; if it keeps failing, /new starts afresh." + back
}

// about is a wait for people: seconds up to a minute, then minutes, rounded up
// and never less than one [T19].
func about(d time.Duration) string {
	if d <= time.Minute {
		return fmt.Sprintf("about %d s", max(1, int(math.Ceil(d.Seconds()))))
	}
	return "about " + countdown(d)
}

// countdown is a span that is left, rounded up.
func countdown(d time.Duration) string {
	switch {
	case d <= time.Minute:
		return fmt.Sprintf("%d s", max(1, int(math.Ceil(d.Seconds()))))
	case d <= 3*time.Hour:
		return fmt.Sprintf("%d min", int(math.Ceil(d.Minutes())))
	}
	return fmt.Sprintf("%d h", int(math.Ceil(d.Hours())))
}

// tried lists each candidate with what befell it.
func tried(c fallback.Cause) string {
	var s []string
	for _, a := range c.Attempts {
		s = append(s, fmt.Sprintf("%s (%s)", a.Model, reason(a)))
	}
	return strings.Join(s, ", ")
}

// late lists each candidate; that it was late need not be said of each.
func late(c fallback.Cause) string {
	var s []string
	for _, a := range c.Attempts {
		name := a.Model.String()
		switch {
		case a.Reason != fallback.Timeout:
			name += " (" + reason(a) + ")"
		case a.Skipped != "":
			name += " (passed over)" // no request was made [IL-283]
		}
		s = append(s, name)
	}
	return strings.Join(s, ", ")
}

// unreached lists each candidate with what its connection met.
func unreached(c fallback.Cause) string {
	words := map[provider.Transport]string{
		provider.DNSFailed: "its address is not known", provider.Refused: "connection refused",
		provider.TLSFailed: "no secure connection", provider.ConnectTimeout: "no connection in time",
	}
	var s []string
	for _, a := range c.Attempts {
		s = append(s, fmt.Sprintf("%s (%s)", a.Model, words[a.Transport]))
	}
	return strings.Join(s, ", ")
}

// reason is a failure in a word or two.
func reason(a fallback.Attempt) string {
	w := word(a.Reason)
	if a.Reason == fallback.NoReason {
		w = word(fallback.Reason(a.Label))
	}
	if a.Skipped != "" {
		return "passed over, " + w // no request was made [IL-283]
	}
	return w
}

// word is a reason for people.
func word(r fallback.Reason) string {
	switch r {
	case fallback.NoReason:
		return "failed"
	case fallback.AuthFailed, fallback.AuthPermanent:
		return "credential refused"
	case fallback.Billing:
		return "out of credit"
	case fallback.Timeout:
		return "unavailable or too slow"
	case fallback.Operator:
		return "credential switched off by hand"
	}
	return strings.ReplaceAll(string(r), "_", " ")
}

// detail is the only candidate's own trouble: its class and what the vendor
// said, already redacted by the engine and cut here [3.2, IL-117].
func detail(a fallback.Attempt) string {
	s := reason(a)
	if a.Status != 0 {
		s += fmt.Sprintf(", HTTP %d", a.Status)
	}
	if a.Detail != "" {
		s += ", " + strings.TrimRight(policy.Short(a.Detail, 200), ". ")
	}
	return s
}

// sayBroken is the line of a turn that broke on a fault of ours.
func sayBroken() string {
	return "Something broke on my side while answering; the details are in my log. Please send your message again."
}

// sayEmpty tells that a model answered without any text, and on whose behalf
// [N17, 18.5, IL-298].
func sayEmpty(out *fallback.Outcome) string {
	if sel := out.Plan.Selected; !sel.IsZero() && sel != out.Used {
		return fmt.Sprintf("%s could not be reached, and %s, which stood in, answered with an empty message. Please try again.", sel, out.Used)
	}
	return fmt.Sprintf("%s answered with an empty message. Please try again.", out.Used)
}
