package fallback

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"standin/fallback/provider"
)

func TestSummaryText(t *testing.T) {
	limited := Attempt{Model: ref("openai/gpt-5.5"), Position: 1, Reason: RateLimit, Status: 429, Detail: "Rate limit reached"}
	refused := Attempt{Model: ref("anthropic/claude-opus-4-6"), Position: 2, Reason: AuthFailed, Status: 401, Detail: "invalid x-api-key"}
	for _, c := range []struct {
		rule string
		err  SummaryError
		want string
	}{
		{"the count, then each candidate with text and reason, joined with bars (18.1)",
			SummaryError{Attempts: []Attempt{limited, {Model: ref("groq/b"), Position: 2, Reason: Timeout, Detail: "connection reset"}}},
			"all 2 models failed: openai/gpt-5.5: Rate limit reached (rate_limit) | groq/b: connection reset (timeout)"},
		{"a refused credential comes with the mending command (4.4)",
			SummaryError{Attempts: []Attempt{limited, refused}},
			"all 2 models failed: openai/gpt-5.5: Rate limit reached (rate_limit) | anthropic/claude-opus-4-6: invalid x-api-key (auth), mend it with: standin auth add anthropic"},
		{"a chain of one is its own error (6.9)", SummaryError{Attempts: []Attempt{limited}}, "openai/gpt-5.5: Rate limit reached (rate_limit)"},
		{"the profiles of one candidate count once (6.6)", SummaryError{Attempts: []Attempt{limited, limited}}, "openai/gpt-5.5: Rate limit reached (rate_limit)"},
		{"a skip is told from a failure [IL-283]", SummaryError{Attempts: []Attempt{{Model: ref("groq/b"), Reason: Billing, Skipped: SkipBilling, Detail: "disabled until 17:00"}}},
			"groq/b: skipped: disabled until 17:00 (billing)"},
		{"a label stands where there is no class, a status where there is no text [M26]", SummaryError{Attempts: []Attempt{{Model: ref("groq/b"), Label: LabelUnclassified, Status: 418}}},
			"groq/b: HTTP 418 (unclassified)"},
		{"without attempts the cause speaks", SummaryError{Err: errors.New("no time left")}, "no model was asked: no time left"},
		{"an invalid choice says what ends it [IL-060]", SummaryError{Plan: Plan{Invalid: "typo/x was chosen for this session, but no provider \"typo\" is configured"}},
			`typo/x was chosen for this session, but no provider "typo" is configured; /model default ends that choice`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := c.err.Error(); got != c.want {
				t.Errorf("summary %s\n   want %s", got, c.want)
			}
		})
	}
	cause := errors.New("last")
	if e := error(&SummaryError{Attempts: []Attempt{limited}, Err: cause}); !errors.Is(e, cause) {
		t.Error("the last candidate's error is the cause [D5]")
	}
}

func TestMendCommand(t *testing.T) {
	for provider, want := range map[string]string{
		"openai":      "standin auth add openai",
		"my gateway":  "standin auth add 'my gateway'",
		"it's":        `standin auth add 'it'\''s'`,
		"$(rm -rf ~)": "standin auth add '$(rm -rf ~)'",
		"a\nb":        "",
		"a\x1b[2Jb":   "",
		"":            "",
	} {
		if got := MendCommand(provider); got != want {
			t.Errorf("MendCommand(%q) = %q, want %q (4.4)", provider, got, want)
		}
	}
}

func TestSoonest(t *testing.T) {
	gpt, mini, opus := ref("openai/gpt"), ref("openai/mini"), ref("anthropic/opus")
	scope := func(model string, d time.Duration, r Reason) Usage {
		return Usage{Scopes: map[string]Cooldown{model: {Window: Window{at(d), r}}}}
	}
	whole := func(d time.Duration, r Reason) Usage { return Usage{Whole: Cooldown{Window: Window{at(d), r}}} }
	both := scope("gpt", 40*time.Second, RateLimit)
	both.Disabled = Window{at(time.Hour), Billing}
	for _, c := range []struct {
		rule       string
		candidates []Model
		usage      map[ProfileID]Usage
		want       time.Duration // 0: unknown
	}{
		{"of rate limits scoped to this model the last end counts [M33, sc-182]", []Model{gpt},
			map[ProfileID]Usage{"openai:a": scope("gpt", 40*time.Second, RateLimit), "openai:b": scope("gpt", 100*time.Second, RateLimit)}, 100 * time.Second},
		{"a window of another model does not count [M33]", []Model{gpt},
			map[ProfileID]Usage{"openai:a": scope("mini", 10*time.Minute, RateLimit), "openai:b": scope("gpt", 100*time.Second, RateLimit)}, 100 * time.Second},
		{"of all other windows the first end counts (18.2)", []Model{gpt},
			map[ProfileID]Usage{"openai:a": whole(5*time.Minute, AuthFailed), "openai:b": whole(2*time.Minute, RateLimit)}, 2 * time.Minute},
		{"a scoped timeout is one of those others (18.2)", []Model{gpt},
			map[ProfileID]Usage{"openai:a": scope("gpt", 40*time.Second, Timeout), "openai:b": scope("gpt", 100*time.Second, Timeout)}, 40 * time.Second},
		{"the candidate's value is the lesser of both (18.2)", []Model{gpt},
			map[ProfileID]Usage{"openai:a": scope("gpt", 100*time.Second, RateLimit), "openai:b": whole(time.Minute, Overloaded)}, time.Minute},
		{"a profile's value is the last of its own windows (18.2)", []Model{gpt}, map[ProfileID]Usage{"openai:a": both}, time.Hour},
		{"the result is the least of the candidates' (18.2)", []Model{gpt, opus},
			map[ProfileID]Usage{"openai:a": whole(20*time.Minute, RateLimit), "anthropic:a": whole(130*time.Second, RateLimit)}, 130 * time.Second},
		{"siblings on one key have their own ends [M22]", []Model{gpt, mini},
			map[ProfileID]Usage{"openai:a": {Scopes: map[string]Cooldown{"gpt": {Window: Window{at(time.Minute), RateLimit}}, "mini": {Window: Window{at(30 * time.Second), RateLimit}}}}}, 30 * time.Second},
		{"a window that is over is unknown, from its very end on (7.9)", []Model{gpt}, map[ProfileID]Usage{"openai:a": whole(0, RateLimit)}, 0},
		{"no window, nothing known", []Model{gpt, opus}, nil, 0},
	} {
		t.Run(c.rule, func(t *testing.T) {
			order := func(m Model) []Profile {
				return []Profile{{ID: ProfileID(m.Provider + ":a")}, {ID: ProfileID(m.Provider + ":b")}}
			}
			got := Soonest(c.candidates, order, func(Model) map[ProfileID]Usage { return c.usage }, at(0))
			want := time.Time{}
			if c.want > 0 {
				want = at(c.want)
			}
			if !got.Equal(want) {
				t.Errorf("soonest %v, want %v", got, want)
			}
		})
	}
}

func TestCauseOf(t *testing.T) {
	fail := func(m string, r Reason) Attempt { return Attempt{Model: ref(m), Reason: r} }
	paid := fail("openai/gpt", Billing)
	paid.Auth = OAuth
	sentence := fail("openai/gpt", RateLimit)
	sentence.Detail = "You have hit your usage limit. Try again at 5:00 PM."
	for _, c := range []struct {
		rule     string
		attempts []Attempt
		err      error
		kind     CauseKind
		about    string
		command  string
	}{
		{"one billing failure wins over everything (18.3.1, sc-179)", []Attempt{fail("a/a", RateLimit), paid, fail("b/b", AuthFailed)}, nil, CauseBilling, "openai/gpt", "standin auth add b"},
		{"limited or overloaded throughout is a matter of waiting (18.3.3)", []Attempt{fail("a/a", RateLimit), fail("b/b", Overloaded)}, nil, CauseRateLimited, "a/a", ""},
		{"a mixed summary is not a rate-limit one (18.3)", []Attempt{fail("a/a", RateLimit), fail("b/b", Timeout)}, nil, CauseMixed, "a/a", ""},
		{"a refused requested model is named whatever befell the others [D13c]", []Attempt{fail("a/a", AuthPermanent), fail("b/b", RateLimit)}, nil, CauseAuth, "a/a", "standin auth add a"},
		{"a refused stand-in is one trouble among others, with its command", []Attempt{fail("a/a", RateLimit), fail("b/b", AuthFailed)}, nil, CauseMixed, "a/a", "standin auth add b"},
		{"an overflow stopped the chain [D10]", []Attempt{fail("a/a", RateLimit), fail("b/b", ContextOverflow)}, nil, CauseOverflow, "b/b", ""},
		{"a refusal stopped the chain [M28]", []Attempt{fail("a/a", Unknown)}, errRefused, CauseRefusal, "a/a", ""},
		{"so did a vendor's filter [M28]", []Attempt{fail("a/a", Format)}, &provider.Error{Status: 400, Code: "content_filter", Message: "The prompt was flagged"}, CauseRefusal, "a/a", ""},
		{"the run's time was over [I13]", []Attempt{fail("a/a", Timeout)}, ErrRunDeadline, CauseDeadline, "a/a", ""},
		{"a model that the vendor does not know", []Attempt{fail("a/a", ModelNotFound)}, nil, CauseMissingModel, "a/a", ""},
		{"our own cap [D20]", []Attempt{fail("a/a", Budget)}, nil, CauseBudget, "a/a", ""},
		{"timeouts and broken connections alone", []Attempt{fail("a/a", Timeout), fail("b/b", ServerError)}, nil, CauseUnreachable, "a/a", ""},
		{"one failure without a sentence of its own", []Attempt{fail("a/a", Format)}, nil, CauseOther, "a/a", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got := CauseOf(fmt.Errorf("turn: %w", &SummaryError{Attempts: c.attempts, Err: c.err, Soonest: at(time.Minute)}), at(0))
			if got.Kind != c.kind || got.Model != ref(c.about) || got.Command != c.command {
				t.Errorf("cause %q about %s, command %q; want %q about %s, %q", got.Kind, got.Model, got.Command, c.kind, c.about, c.command)
			}
			if got.Wait != time.Minute {
				t.Errorf("wait %v", got.Wait)
			}
		})
	}
	t.Run("billing tells a subscription from a key (sc-179)", func(t *testing.T) {
		if c := CauseOf(&SummaryError{Attempts: []Attempt{paid}}, at(0)); c.Auth != OAuth {
			t.Errorf("auth %q", c.Auth)
		}
	})
	t.Run("a chosen credential that is no use is named (9.7, IL-199)", func(t *testing.T) {
		a := fail("openai/gpt", AuthFailed)
		a.Skipped, a.Profile = SkipNoProfile, "openai:old"
		if c := CauseOf(&SummaryError{Attempts: []Attempt{a}}, at(0)); c.Kind != CauseAuth || c.Profile != "openai:old" {
			t.Errorf("%s of %q", c.Kind, c.Profile)
		}
	})
	t.Run("connections that do not come up, at several vendors, are our own network [IL-286]", func(t *testing.T) {
		dial := func(m string, tr provider.Transport) Attempt {
			a := fail(m, Timeout)
			a.Transport = tr
			return a
		}
		for name, c := range map[string]struct {
			attempts []Attempt
			want     CauseKind
		}{
			"each in its way":           {[]Attempt{dial("a/a", provider.DNSFailed), dial("b/b", provider.Refused), dial("c/c", provider.ConnectTimeout)}, CauseNetwork},
			"one broke in its answer":   {[]Attempt{dial("a/a", provider.DNSFailed), dial("b/b", provider.EOF)}, CauseUnreachable},
			"one alone may be its host": {[]Attempt{dial("a/a", provider.Refused)}, CauseUnreachable},
		} {
			if got := CauseOf(&SummaryError{Attempts: c.attempts}, at(0)).Kind; got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	})
	t.Run("the vendor's usage-limit sentence is kept (sc-180)", func(t *testing.T) {
		if c := CauseOf(&SummaryError{Attempts: []Attempt{sentence}}, at(0)); c.Said != sentence.Detail {
			t.Errorf("said %q", c.Said)
		}
		sentence.Detail += strings.Repeat(" more", 200)
		if c := CauseOf(&SummaryError{Attempts: []Attempt{sentence}}, at(0)); len([]rune(c.Said)) > 500 {
			t.Errorf("said %d characters", len(c.Said))
		}
	})
	t.Run("a soonest end that is past is unknown (18.2, sc-178)", func(t *testing.T) {
		c := CauseOf(&SummaryError{Attempts: []Attempt{fail("a/a", RateLimit)}, Soonest: at(0)}, at(0))
		if c.Wait != 0 || !c.Until.IsZero() {
			t.Errorf("until %v wait %v", c.Until, c.Wait)
		}
	})
	t.Run("an invalid choice is named before anything else [IL-060]", func(t *testing.T) {
		e := &SummaryError{Plan: Plan{Requested: ref("typo/x"), Invalid: "x"}, Attempts: []Attempt{fail("typo/x", AuthFailed)}}
		if c := CauseOf(e, at(0)); c.Kind != CauseInvalid || c.Model != ref("typo/x") {
			t.Errorf("cause %+v", c)
		}
	})
	t.Run("a vendor's error alone is read like a chain of one", func(t *testing.T) {
		c := CauseOf(&provider.Error{Provider: "openai", Model: "gpt", Status: 429, Message: "Rate limit reached"}, at(0))
		if c.Kind != CauseRateLimited || c.Model != ref("openai/gpt") {
			t.Errorf("cause %+v", c)
		}
	})
	t.Run("the sentinels and the rest", func(t *testing.T) {
		for err, want := range map[error]CauseKind{ErrSwitching: CauseSwitching, ErrRunDeadline: CauseDeadline, errors.New("disk full"): CauseOther} {
			if c := CauseOf(err, at(0)); c.Kind != want {
				t.Errorf("%v is %q, want %q", err, c.Kind, want)
			}
		}
	})
}
