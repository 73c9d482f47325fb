package rehearsal

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"standin/fallback/provider"
)

// EffectOK is what a vendor does of whom nothing is said.
const EffectOK = "ok"

// simulated is how a vendor fails when a simulation says so in a word: as the
// reasons of failover.md 4.1 come about in earnest, and as the network breaks.
var simulated = []struct {
	word string
	does vendorKeys
}{
	{"rate_limit", answers(429, "rate_limit_exceeded", "Rate limit reached")},
	{"overloaded", answers(529, "overloaded", "Overloaded")},
	{"billing", answers(402, "insufficient_quota", "Insufficient credits")},
	{"auth", answers(401, "invalid_api_key", "Invalid API key")},
	{"auth_permanent", answers(403, "", "API key revoked")},
	{"timeout", answers(504, "", "Gateway timeout")},
	{"format", answers(400, "", "Invalid request format")},
	{"model_not_found", answers(404, "model_not_found", "The model does not exist")},
	{"context_overflow", answers(400, "context_length_exceeded", "This model's maximum context length is exceeded: the prompt is too long")},
	{"server_error", vendorKeys{Error: &errorKeys{Status: 500, Type: "server_error", Message: "The server had an error"}}},
	{"empty", vendorKeys{Empty: true}},
	{"refused", vendorKeys{Network: "refused"}},
	{"reset", vendorKeys{Network: "reset"}},
	{"dns", vendorKeys{Network: "dns"}},
	{"eof", vendorKeys{Network: "eof"}},
	{"hang", vendorKeys{Hang: true}},
	{EffectOK, vendorKeys{}},
}

func answers(status int, code, message string) vendorKeys {
	return vendorKeys{Error: &errorKeys{Status: status, Code: word(code), Message: message}}
}

// EffectWords are the words that a simulation knows, beside HTTP statuses.
func EffectWords() []string {
	var words []string
	for _, e := range simulated {
		words = append(words, e.word)
	}
	return words
}

// effect is what a vendor does for a word or a bare status.
func effect(word string) vendorKeys {
	for _, e := range simulated {
		if e.word == word {
			return e.does
		}
	}
	status, _ := strconv.Atoi(word) // KnownEffect has seen to it that it is one
	text := http.StatusText(status)
	if text == "" {
		text = "Status " + word
	}
	return answers(status, "", text)
}

// KnownEffect tells whether a simulation knows the word: one of EffectWords, or an
// HTTP status of a failure.
func KnownEffect(word string) bool {
	if n, err := strconv.Atoi(word); err == nil {
		return len(word) == 3 && n >= 400 && n <= 599
	}
	return slices.Contains(EffectWords(), word)
}

// Answer gives what a vendor does with a call for a word that KnownEffect knows,
// and how long that takes; now is when it answers. No request is made.
func Answer(word string, c *provider.Call, now time.Time) (reply *provider.Reply, took time.Duration, err error) {
	r := &rule{vendorKeys: effect(word), left: -1}
	if r.Hang {
		limit, which := firstLimit(c.Limits)
		return nil, limit, cut(c, which, errors.New(string(which)), "")
	}
	reply, err = r.answer(c, now)
	return reply, 0, err
}
