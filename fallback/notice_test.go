package fallback

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestAnnounce(t *testing.T) {
	const p, f1, f2 = "openai/gpt-5.5", "anthropic/claude-opus-4-6", "groq/b"
	limited := []Attempt{{Model: ref(p), Reason: RateLimit}}
	told := func(selected, active, reason string) Told {
		return Told{Selected: ref(selected), Active: ref(active), Reason: reason}
	}
	for _, c := range []struct {
		rule             string
		told             Told
		selected, active string
		attempts         []Attempt
		text             string
		next             Told
		change           Change
	}{
		{"going to a fallback is said once, underscores as blanks [M13, sc-162]", Told{}, p, f1, limited,
			"↪️ Model Fallback: anthropic/claude-opus-4-6 (selected openai/gpt-5.5; rate limit)", told(p, f1, "rate limit"), Moved},
		{"a sticky turn says nothing and rewrites the reason [sc-163, notice-06]", told(p, f1, "rate limit"), p, f1, nil,
			"", told(p, f1, "selected model unavailable"), Quiet},
		{"the next sticky turn changes nothing [N5]", told(p, f1, "selected model unavailable"), p, f1, nil,
			"", told(p, f1, "selected model unavailable"), NoChange},
		{"another fallback is another notice [sc-164]", told(p, f1, "rate limit"), p, f2, limited,
			"↪️ Model Fallback: groq/b (selected openai/gpt-5.5; rate limit)", told(p, f2, "rate limit"), Moved},
		{"another selected model is another notice (19.4)", told(p, f1, "rate limit"), "moonshot/k", f1, limited,
			"↪️ Model Fallback: anthropic/claude-opus-4-6 (selected moonshot/k; rate limit)", told("moonshot/k", f1, "rate limit"), Moved},
		{"an answer of the selected model says nothing [sc-166]", Told{}, p, p, limited, "", Told{}, NoChange},
		{"coming back is said once [M13]", told(p, f1, "rate limit"), p, p, nil,
			"↪️ Model Fallback cleared: openai/gpt-5.5 (was anthropic/claude-opus-4-6)", Told{}, Cleared},
		{"after a change of primary the new one is named [D11]", told("openai/gpt-4", f1, "auth"), p, p, nil,
			"↪️ Model Fallback cleared: openai/gpt-5.5 (was anthropic/claude-opus-4-6)", Told{}, Cleared},
		{"the bracket is left out when the former model is the same [19.1]", told(p, f1, "auth"), f1, f1, nil,
			"↪️ Model Fallback cleared: anthropic/claude-opus-4-6", Told{}, Cleared},
		{"the bracket is left out when the former model is unknown [19.1]", Told{Selected: ref(p)}, p, p, nil,
			"↪️ Model Fallback cleared: openai/gpt-5.5", Told{}, Cleared},
		{"spelling is no difference (19.4)", Told{Selected: Model{"OpenAI", "gpt-5.5"}, Active: ref(f1), Reason: "rate limit"}, p, f1, limited,
			"", Told{Selected: Model{"OpenAI", "gpt-5.5"}, Active: ref(f1), Reason: "rate limit"}, NoChange},
	} {
		t.Run(c.rule, func(t *testing.T) {
			text, next, change := Announce(c.told, ref(c.selected), ref(c.active), c.attempts)
			if text != c.text {
				t.Errorf("notice %q\n  want %q", text, c.text)
			}
			if next != c.next || change != c.change {
				t.Errorf("next %+v %q, want %+v %q", next, change, c.next, c.change)
			}
		})
	}
}

func TestReasonOfANotice(t *testing.T) {
	long := "429 " + strings.Repeat("too   many\nrequests ", 30)
	for _, c := range []struct {
		rule     string
		attempts []Attempt
		want     string
	}{
		{"a concrete vendor text stands for the bare reason [sc-167]", []Attempt{{Reason: RateLimit, Detail: "429 Too Many Requests: try again in 20 seconds"}}, "HTTP 429: Too Many Requests: try again in 20 seconds"},
		{"the status is put in front of a sentence that lacks it", []Attempt{{Reason: RateLimit, Status: 429, Detail: "Too Many Requests: try again in 20 seconds"}}, "HTTP 429: Too Many Requests: try again in 20 seconds"},
		{"a text without anything concrete gives way to the reason [N10]", []Attempt{{Reason: RateLimit, Status: 429, Detail: "Rate limit reached for gpt-5.5"}}, "rate limit"},
		{"a number in another unit is nothing concrete", []Attempt{{Reason: Timeout, Detail: "no answer after 20 tries"}}, "timeout"},
		{"minutes and hours are", []Attempt{{Reason: Overloaded, Detail: "back in 5 minutes"}}, "back in 5 minutes"},
		{"JSON with a status becomes HTTP, type and message [19.7]", []Attempt{{Reason: Overloaded, Status: 529, Detail: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}}, "HTTP 529 overloaded_error: Overloaded"},
		{"JSON without a status becomes an LLM error [19.7]", []Attempt{{Reason: Overloaded, Detail: `{"error":{"type":"overloaded_error","message":"Overloaded"}}`}}, "LLM error overloaded_error: Overloaded"},
		{"a leading number is the status of the JSON behind it", []Attempt{{Reason: RateLimit, Detail: `429 {"error":{"message":"slow down"}}`}}, "HTTP 429: slow down"},
		{"an error that is a string, in a list", []Attempt{{Reason: RateLimit, Detail: `[{"error":"quota used up"}]`}}, "LLM error: quota used up"},
		{"JSON that was cut is not shown to people", []Attempt{{Reason: RateLimit, Status: 429, Detail: `{"error":{"message":"quota…`}}, "rate limit"},
		{"nor is a page of HTML", []Attempt{{Reason: Timeout, Status: 503, Detail: "<html><body>503 Service Unavailable</body></html>"}}, "timeout"},
		{"a status alone says less than the reason", []Attempt{{Reason: RateLimit, Status: 429, Detail: "HTTP 429"}}, "rate limit"},
		{"an unknown error is not shown [N11]", []Attempt{{Reason: Timeout, Detail: "500 An unknown error occurred"}}, "timeout"},
		{"a lasting reason is named, whatever the text says [N10]", []Attempt{{Reason: Billing, Status: 402, Detail: "try again in 5 hours"}}, "billing"},
		{"a label stands in for a class [M26]", []Attempt{{Label: LabelUnclassified, Status: 418, Detail: "teapot"}}, "unclassified"},
		{"no reason but a code [sc-170]", []Attempt{{Code: "E_X", Status: 418, Detail: "t"}}, "E_X"},
		{"no code but a status [sc-170, notice-09]", []Attempt{{Status: 529, Detail: "t"}}, "HTTP 529"},
		{"neither [sc-170]", []Attempt{{Detail: strings.Repeat("word ", 40)}}, "word word word word word word word word word word word word word word word word…"},
		{"nothing at all [N10]", []Attempt{{}}, "error"},
		{"no attempts [notice-10]", nil, "selected model unavailable"},
		{"the first attempt's reason, and how many more, plural always [notice-07]", []Attempt{{Model: ref("a/a"), Reason: AuthFailed}, {Model: ref("b/b"), Reason: Billing}}, "auth (+1 more attempts)"},
		{"two more", []Attempt{{Model: ref("a/a"), Reason: Overloaded}, {Model: ref("b/b")}, {Model: ref("c/c")}}, "overloaded (+2 more attempts)"},
		{"profiles of one candidate are one attempt, its last (6.6)", []Attempt{{Model: ref("a/a"), Position: 1, Reason: RateLimit}, {Model: ref("a/a"), Position: 1, Reason: AuthFailed}}, "auth"},
		{"a skip keeps the reason it was skipped for [D13c]", []Attempt{{Reason: AuthPermanent, Skipped: SkipPersistentAuth, Detail: "no credential of openai can be used"}}, "auth permanent"},
		{"blanks collapse; 80 characters and an ellipsis at most [notice-08]", []Attempt{{Reason: RateLimit, Detail: long}}, "HTTP 429: " + strings.Repeat("too many requests ", 4)[:69] + "…"},
		{"the count stands behind the cut [N11]", []Attempt{{Model: ref("a/a"), Reason: RateLimit, Detail: long}, {Model: ref("b/b")}}, "HTTP 429: " + strings.Repeat("too many requests ", 4)[:69] + "… (+1 more attempts)"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := whyMoved(c.attempts); got != c.want {
				t.Errorf("reason %q\n  want %q", got, c.want)
			}
		})
	}
}

func TestNoticesLeakNoSecrets(t *testing.T) {
	// N12, notice-28.
	const key, token = "sk-ant-api03-AAAABBBBCCCCDDDDEEEEFFFF", "s3cretpassword"
	a := []Attempt{{Reason: RateLimit, Detail: "429 quota of " + key + " at https://bob:" + token + "@proxy.example/v1"}}
	text, next, _ := Announce(Told{}, ref("a/a"), ref("b/b"), a)
	for _, s := range []string{text, next.Reason} {
		if strings.Contains(s, key[:20]) || strings.Contains(s, token) {
			t.Errorf("a secret left the house in %q", s)
		}
	}
}

func TestNoticesAlternatePerPair(t *testing.T) {
	// M11, N5 for any history: each notice tells something that the one before
	// did not, and "cleared" follows only on "fallback".
	rapid.Check(t, func(t *rapid.T) {
		var told Told
		said := Told{} // what a reader of the room knows
		for range rapid.IntRange(1, 40).Draw(t, "turns") {
			selected := rapid.SampledFrom(refs("p/p", "q/q")).Draw(t, "selected")
			active := rapid.SampledFrom(append(refs("b/b", "c/c"), selected)).Draw(t, "active")
			attempts := rapid.SampledFrom([][]Attempt{nil, {{Reason: Timeout}}, {{Reason: RateLimit, Detail: "quota"}}}).Draw(t, "attempts")
			text, next, change := Announce(told, selected, active, attempts)
			now := Told{}
			if active != selected {
				now = Told{Selected: selected, Active: active}
			}
			if news := now != said; news != (text != "") || news != (change == Moved || change == Cleared) {
				t.Fatalf("room knows %v, answer %v: said %q (%s)", said, now, text, change)
			}
			if strings.Contains(text, "\n") || change == Cleared && said == (Told{}) {
				t.Fatalf("notice %q after %v", text, said)
			}
			if n := utf8.RuneCountInString(next.Reason); n > reasonLimit+len(" (+9 more attempts)") {
				t.Fatalf("reason of %d characters", n)
			}
			if change == NoChange && next != told {
				t.Fatalf("%+v became %+v without a change", told, next)
			}
			told, said = next, now
		}
	})
}
