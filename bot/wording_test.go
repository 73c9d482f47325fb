package bot

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"standin/fallback"
	"standin/fallback/provider"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/failures.txt")

var (
	opus = fallback.Model{Provider: "anthropic", Name: "claude-opus-4-6"}
	gpt  = fallback.Model{Provider: "openai", Name: "gpt-5.4"}
)

// What a person reads when no model answered [M33, 18.3]: the whole set, to be
// read in one go. A change of the file is a change of what people are told.
func TestFailureLines(t *testing.T) {
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	try := func(m fallback.Model, r fallback.Reason, more ...func(*fallback.Attempt)) fallback.Attempt {
		a := fallback.Attempt{Model: m, Reason: r, Auth: fallback.APIKey}
		for _, f := range more {
			f(&a)
		}
		return a
	}
	says := func(status int, text string) func(*fallback.Attempt) {
		return func(a *fallback.Attempt) { a.Status, a.Detail = status, text }
	}
	account := func(a *fallback.Attempt) { a.Auth = fallback.OAuth }
	skipped := func(a *fallback.Attempt) { a.Skipped = fallback.SkipCooldown }
	user := fallback.Plan{Requested: opus, Selected: opus, Strict: true, Why: fallback.FromUser}
	type attempts = []fallback.Attempt
	var s strings.Builder
	for _, c := range []struct {
		name string
		err  error
	}{
		{"billing wins over a rate limit", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.RateLimit), try(gpt, fallback.Billing)}, Soonest: now.Add(time.Minute)}},
		{"billing of a subscription", &fallback.SummaryError{Attempts: attempts{try(gpt, fallback.Billing, account)}}},
		{"all limited, soonest in 41.2 s", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.RateLimit), try(gpt, fallback.Overloaded)}, Soonest: now.Add(41200 * time.Millisecond)}},
		{"all limited, soonest in 190 s", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.RateLimit), try(gpt, fallback.RateLimit)}, Soonest: now.Add(190 * time.Second)}},
		{"all limited, soonest unknown", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.RateLimit), try(gpt, fallback.RateLimit)}}},
		{"all limited, soonest past", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.RateLimit), try(gpt, fallback.RateLimit)}, Soonest: now.Add(-time.Second)}},
		{"a user's choice limited", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.RateLimit)}, Soonest: now.Add(time.Second), Plan: user}},
		{"all limited, and one vendor says until when", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.RateLimit),
			try(gpt, fallback.RateLimit, says(429, "You have hit your usage limit, try again at 3 PM."))}}},
		{"a subscription's limit with its time", &fallback.SummaryError{Attempts: attempts{try(gpt, fallback.RateLimit, says(429, "You have hit your usage limit, try again at 3 PM."))}}},
		{"mixed", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.RateLimit, skipped), try(gpt, fallback.Timeout)}}},
		{"a credential is refused", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.AuthFailed, says(401, "invalid x-api-key"))}}},
		{"the chosen credential cannot be used", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.AuthFailed, func(a *fallback.Attempt) {
			a.Skipped, a.Profile = fallback.SkipNoProfile, "anthropic:old"
		})}}},
		{"nothing could be connected to", &fallback.SummaryError{Attempts: attempts{
			try(opus, fallback.Timeout, func(a *fallback.Attempt) { a.Transport = provider.DNSFailed }),
			try(gpt, fallback.Unclassified, func(a *fallback.Attempt) { a.Transport = provider.TLSFailed })}}},
		{"a model that nobody knows", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.ModelNotFound)}}},
		{"nothing could be reached", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.Timeout), try(gpt, fallback.Timeout)}}},
		{"nothing could be reached, one was not asked", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.Timeout, skipped), try(gpt, fallback.ServerError)}}},
		{"one could not be reached", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.Timeout)}}},
		{"the conversation is too long", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.ContextOverflow)}}},
		{"a spending limit", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.Budget)}}},
		{"a user's choice fails unclassified", &fallback.SummaryError{Attempts: attempts{try(opus, fallback.Unclassified, says(418, "I am a teapot."))}, Plan: user}},
		{"a choice that cannot be asked", &fallback.SummaryError{Plan: fallback.Plan{Requested: opus, Strict: true, Why: fallback.FromUser, Invalid: "no such provider"}}},
		{"the run's time is over", fallback.ErrRunDeadline},
		{"switched too often", fallback.ErrSwitching},
		{"something of ours", os.ErrClosed},
	} {
		w := whyFailed(c.err, now)
		fmt.Fprintf(&s, "# %s\n%s\n\n", c.name, w.line)
	}
	const file = "testdata/failures.txt"
	if *update {
		if err := os.WriteFile(file, []byte(s.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), s.String()); d != "" {
		t.Errorf("failure lines differ (-want +got):\n%s", d)
	}
}

func TestSpansForPeople(t *testing.T) { // T19: waits are rounded up, ages down
	for _, c := range []struct {
		d              time.Duration
		wait, countdwn string
		age            string
	}{
		{0, "about 1 s", "1 s", "0 s"},
		{1500 * time.Millisecond, "about 2 s", "2 s", "1 s"},
		{time.Minute, "about 60 s", "60 s", "1 min"},
		{61 * time.Second, "about 2 min", "2 min", "1 min"},
		{3*time.Hour + time.Second, "about 4 h", "4 h", "3 h 0 min"},
		{72 * time.Hour, "about 72 h", "72 h", "3 days"},
	} {
		if about(c.d) != c.wait || countdown(c.d) != c.countdwn || age(c.d) != c.age {
			t.Errorf("%v: %q, %q, %q", c.d, about(c.d), countdown(c.d), age(c.d))
		}
	}
}

func TestLongListsHavePages(t *testing.T) { // C4, C14
	list := make([]int, 45)
	if shown, foot := page(list, "", "models openai"); len(shown) != 20 || foot != "Page 1 of 3; go on with /models openai 2" {
		t.Errorf("%d, %q", len(shown), foot)
	}
	if shown, foot := page(list, "3", "models"); len(shown) != 5 || foot != "" {
		t.Errorf("%d, %q", len(shown), foot)
	}
	for _, arg := range []string{"0", "4", "x"} {
		if shown, foot := page(list, arg, "models"); len(shown) != 0 || !strings.Contains(foot, "pages 1–3") {
			t.Errorf("page %s: %d, %q", arg, len(shown), foot)
		}
	}
}
