package fallback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"standin/fallback/provider"
)

func allRows(t testing.TB) []row {
	return slices.Concat(rows(t, "testdata/classify.jsonl"), rows(t, "testdata/classify_variants.jsonl"))
}

// recase changes the case of ASCII letters as bits tells.
func recase(s string, bits []bool) string {
	b := []byte(s)
	for i, c := range b {
		switch on := len(bits) > 0 && bits[i%len(bits)]; {
		case on && c >= 'a' && c <= 'z':
			b[i] = c - 'a' + 'A'
		case on && c >= 'A' && c <= 'Z':
			b[i] = c - 'A' + 'a'
		}
	}
	return string(b)
}

// The same failure has the same class, however its letters are cased and
// whatever blanks stand around its fields.
func TestClassifyIsStable(t *testing.T) {
	known := allRows(t)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(known).Draw(t, "row").signal()
		bits := rapid.SliceOfN(rapid.Bool(), 1, 64).Draw(t, "case")
		pad := rapid.StringMatching(`[ \t\r\n]{0,40}`).Draw(t, "pad")
		want := Classify(s)
		changed := s
		for _, f := range []*string{&changed.Provider, &changed.Code, &changed.Type, &changed.Message, &changed.Body} {
			if *f != "" {
				*f = pad + recase(*f, bits) + pad
			}
		}
		if diff := cmp.Diff(want, Classify(changed)); diff != "" {
			t.Fatalf("%+v and %+v differ:\n%s", s, changed, diff)
		}
	})
}

// A class never contradicts itself.
func FuzzClassify(f *testing.F) {
	for _, r := range allRows(f) {
		s := r.signal()
		f.Add(s.Provider, s.Status, s.Code, s.Type, s.Message, s.Body)
	}
	for _, v := range vendorErrors(f) {
		f.Add(v.Provider, v.Status, "", "", "", v.body())
	}
	f.Fuzz(func(t *testing.T, vendor string, status int, code, kind, message, body string) {
		s := Signal{Provider: vendor, Status: status, Code: code, Type: kind, Message: message, Body: body}
		c := Classify(s)
		switch {
		case c.Failover && (c.Reason == NoReason || c.Reason == ContextOverflow || c.Refusal):
			t.Errorf("goes on without a cause: %+v", c)
		case !c.Failover && !c.Refusal && c.Reason != NoReason && c.Reason != ContextOverflow:
			t.Errorf("stops without a cause: %+v", c)
		case c.Reason != NoReason && c.Rule == "":
			t.Errorf("no rule: %+v", c)
		case c.Label == LabelUnclassified && c.Reason != NoReason:
			t.Errorf("both classified and not: %+v", c)
		}
		s.Message, s.Body = " "+message+"\n", "\t"+body+" "
		if again := Classify(s); again != c {
			t.Errorf("blanks matter: %+v and %+v", c, again)
		}
	})
}

// What is read is bounded: vendors say what is wrong at the start.
func TestClassifyReadsTheStartOfLongTexts(t *testing.T) {
	long := "HTTP 503 from upstream " + strings.Repeat("é ", maxText)
	if c := Classify(Signal{Message: long}); c.Reason != Timeout {
		t.Errorf("got %+v", c)
	}
	if c := Classify(Signal{Message: strings.Repeat("x ", maxText) + "rate limit exceeded"}); c.Reason != NoReason {
		t.Errorf("read past the bound: %+v", c)
	}
}

// An account's trouble is one sentence; a long text with such words is prose
// (failover.md 5.D, length guard).
func TestBillingWordsOfLongTextsAreProse(t *testing.T) {
	prose := strings.Repeat("word ", 110)
	for message, want := range map[string]Reason{
		prose + "your credit balance":                 NoReason,
		prose + "HTTP 402":                            Billing,
		prose + "code InvalidSubscription was raised": Billing,
	} {
		if c := Classify(Signal{Message: message}); c.Reason != want {
			t.Errorf("…%s: got %q by %q, want %q", message[len(prose):], c.Reason, c.Rule, want)
		}
	}
}

// Fields of an error object that are no sentence of the vendor's say nothing.
func TestClassifyPassesOverEchoes(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"odd"},"request_id":"429"}`,
		`{"detail":[{"loc":["body"],"msg":"odd","input":"my credit balance is too low"}]}`,
		`{"message":"odd","user":"rate limit","headers":{"x":"overloaded"}}`,
		`{"message":"odd","request":{"messages":[{"content":"invalid api key"}]}}`,
	} {
		if c := Classify(Signal{Message: body}); c.Reason != NoReason || c.Label != LabelUnclassified {
			t.Errorf("%s: got %+v", body, c)
		}
	}
}

// JSON is read whether well formed, cut off, printed by Python, or quoted by
// the JSON of a gateway.
func TestClassifyReadsJSONOfAllKinds(t *testing.T) {
	for _, message := range []string{
		`{"error":{"type":"x","message":"Overloaded"}}`,
		`{"error":{"type":"x","message":"Overloaded`,
		`upstream said: {"error": {"message": "Overloaded", "x": [1, {"y": null}]}} (id 1)`,
		`Error - {'error': {'message': 'Overloaded', 'code': None}}`,
		`{"error":{"message":"quoted: {\"error\":{\"message\":\"Overloaded\"}}"}}`,
		`[{"error":{"message":"Overloaded"}}]`,
		`{"error":{"message":"\u004fverloaded"}}`,
		`{"errors":[{"message":"Overloaded"}]}`,
	} {
		if c := Classify(Signal{Message: message}); c.Reason != Overloaded {
			t.Errorf("%s: got %q by %q", message, c.Reason, c.Rule)
		}
	}
}

func TestTransportFaults(t *testing.T) {
	for _, c := range []struct {
		name     string
		signal   Signal
		want     Reason
		label    Label
		failover bool
	}{
		{"a refused connection is a timeout", Signal{Transport: provider.Refused}, Timeout, NoLabel, true},
		{"so is a name that is not found", Signal{Transport: provider.DNSFailed}, Timeout, NoLabel, true},
		{"a broken connection", Signal{Transport: provider.Reset, Message: "rate limit in the text of a partial answer"}, Timeout, NoLabel, true},
		{"the end in the middle of a good answer", Signal{Transport: provider.EOF, Status: 200}, Timeout, NoLabel, true},
		{"no first token", Signal{Transport: provider.FirstTokenTimeout}, Timeout, NoLabel, true},
		{"silence in the middle", Signal{Transport: provider.IdleTimeout}, Timeout, NoLabel, true},
		{"the attempt's own limit", Signal{Transport: provider.AttemptTimeout}, Timeout, NoLabel, true},
		{"no connection in time", Signal{Transport: provider.ConnectTimeout}, Timeout, NoLabel, true},
		{"a fault of TLS has no reason", Signal{Transport: provider.TLSFailed}, NoReason, LabelUnclassified, false},
		{"an error status says more than the line that broke after it", Signal{Transport: provider.EOF, Status: 401}, AuthFailed, NoLabel, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Classify(c.signal)
			if got.Reason != c.want || got.Label != c.label || got.Failover != c.failover {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// What broke below HTTP is told from words where it was not seen [D13a].
func TestTransportFromWords(t *testing.T) {
	for message, want := range map[string]provider.Transport{
		"connect ECONNREFUSED 127.0.0.1:11434":       provider.Refused,
		"getaddrinfo ENOTFOUND api.example.com":      provider.DNSFailed,
		"read tcp: connection reset by peer":         provider.Reset,
		"stream ended before the completion event":   provider.NoTransport,
		"HTTP 503: connection refused by the origin": provider.NoTransport,
	} {
		if c := Classify(Signal{Message: message}); c.Reason != Timeout || c.Transport != want {
			t.Errorf("%s: got %+v", message, c)
		}
	}
}

func TestSignalOf(t *testing.T) {
	inner := &provider.Error{Provider: "openai", Model: "gpt-x", Status: 429, Code: "insufficient_quota", Type: "t", Message: "m", Body: "b"}
	whole := Signal{Provider: "openai", Model: "gpt-x", Status: 429, Code: "insufficient_quota", Type: "t", Message: "m", Body: "b"}
	for _, c := range []struct {
		name string
		err  error
		want Signal
	}{
		{"nothing", nil, Signal{}},
		{"a provider's error", inner, whole},
		{"one that is wrapped", fmt.Errorf("attempt 2: %w", inner), whole},
		{"a transport failure keeps its kind", &provider.Error{Provider: "p", Transport: provider.Refused, Err: errors.New("dial: no")},
			Signal{Provider: "p", Transport: provider.Refused, Message: "dial: no"}},
		{"a deadline inside it is a limit that ran out", &provider.Error{Provider: "p", Err: context.DeadlineExceeded},
			Signal{Provider: "p", Transport: provider.AttemptTimeout, Message: "context deadline exceeded"}},
		{"a bare deadline", fmt.Errorf("call: %w", context.DeadlineExceeded), Signal{Message: "call: context deadline exceeded", Transport: provider.AttemptTimeout}},
		{"a timeout of the network", &net.DNSError{Err: "slow", Name: "x", IsTimeout: true}, Signal{Message: "lookup x: slow", Transport: provider.AttemptTimeout}},
		{"any other error is its text", errors.New("strange"), Signal{Message: "strange"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, SignalOf(c.err)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if c := Classify(SignalOf(context.Canceled)); c.Reason != Timeout {
		t.Errorf("a cancelled attempt that is no abort of the caller counts as timeout [D6]: got %+v", c)
	}
}

func TestRefusalFinish(t *testing.T) {
	for finish, want := range map[string]bool{"refusal": true, "content_filter": true, "SAFETY": true, "stop": false, "length": false, "": false} {
		if RefusalFinish(finish) != want {
			t.Errorf("%q: got %v", finish, !want)
		}
	}
}

// Something was there, though it said nothing (M26, 5.C.2).
func TestTextsThatSayNothing(t *testing.T) {
	for _, c := range []struct {
		signal Signal
		want   Reason
		label  Label
	}{
		{Signal{Message: `{"request_id":"abc"}`}, NoReason, LabelUnclassified},
		{Signal{Message: `{}`}, NoReason, LabelEmpty},
		{Signal{Message: " ", Body: "null"}, NoReason, LabelEmpty},
		{Signal{Status: 400, Body: `{}`}, NoReason, LabelUnclassified},
		{Signal{Status: 400, Body: `{"request_id":"abc"}`}, Format, NoLabel},
	} {
		if got := Classify(c.signal); got.Reason != c.want || got.Label != c.label {
			t.Errorf("%+v: got %+v", c.signal, got)
		}
	}
}
