package fallback

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite golden files")

// story is a run of three candidates: the first is asked and refused for a
// limit, the second passed over, the third answers.
func story() []Decision {
	b := Book{Run: "run-1", Session: "agent:main:main", Agent: "main", Requested: ref("openai/gpt-5.5"), Total: 3}
	limited := Attempt{Model: ref("openai/gpt-5.5"), Position: 1, Total: 3, Reason: RateLimit, Status: 429, Code: "rate_limit_exceeded",
		Detail: "Rate limit reached for sk-proj-AAAABBBBCCCCDDDDEEEEFFFFGGGG", Profiles: 2, Probe: CooldownProbe}
	passed := Attempt{Model: ref("anthropic/claude-opus-4-6"), Position: 2, Total: 3, Reason: AuthFailed, Skipped: SkipPersistentAuth, Detail: "credentials of anthropic are refused"}
	answered := Attempt{Model: ref("groq/b"), Position: 3, Total: 3, OK: true}
	list := []Decision{b.Probing(limited), b.Failed(limited, passed.Model), b.Skip(passed, answered.Model)}
	good, _ := b.Succeeded(answered, []Attempt{limited, passed})
	lost := answered
	lost.OK, lost.Label, lost.Detail = false, LabelUnclassified, "teapot"
	return append(list, good, b.Failed(lost, Model{}))
}

func TestDecisionRecords(t *testing.T) {
	var got strings.Builder
	for _, d := range story() {
		line, err := json.MarshalIndent(d, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got.Write(line)
		got.WriteByte('\n')
	}
	const file = "testdata/decisions.golden"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the records differ from %s (-update rewrites it):\n%s", file, got.String())
	}
	if strings.Contains(got.String(), "sk-proj") {
		t.Error("a record holds a key [I12]")
	}
}

func TestSuccessIsRecordedOnlyWhenItTellsSomething(t *testing.T) {
	b := Book{Requested: ref("a/a"), Total: 2}
	first := Attempt{Model: ref("a/a"), Position: 1, OK: true}
	probed, second := first, Attempt{Model: ref("b/b"), Position: 2, OK: true}
	probed.Probe = CooldownProbe
	for _, c := range []struct {
		rule     string
		a        Attempt
		previous []Attempt
		recorded bool
		step     bool
	}{
		{"the first candidate at once: no record (20.2)", first, nil, false, false},
		{"the first candidate through a window: a record without step (20.2, 20.4)", probed, nil, true, false},
		{"the first candidate with its second profile: a record (20.2)", first, []Attempt{first}, true, true},
		{"another candidate without attempts: a record without step (20.4)", second, nil, true, false},
		{"another candidate after a failure: a record with its step", second, []Attempt{first}, true, true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			d, ok := b.Succeeded(c.a, c.previous)
			if ok != c.recorded || (d.StepType != "") != c.step || c.step && d.StepOutcome != outcomeSucceeded {
				t.Errorf("recorded %v: %+v", ok, d)
			}
		})
	}
}

func TestTheChainCanBeReadBack(t *testing.T) {
	// M32: even when the last candidate fails too, the steps name each model
	// that was left, why, and where the run went.
	var way []string
	for _, d := range story() {
		if d.Decision != DecidedSucceeded && d.StepType != "" {
			way = append(way, fmt.Sprintf("%d %s -%s-> %s %s", d.StepPosition, d.StepFromModel, d.StepFailureReason, d.StepToModel, d.StepOutcome))
		}
	}
	want := []string{
		"1 openai/gpt-5.5 -rate_limit-> anthropic/claude-opus-4-6 next_fallback",
		"2 anthropic/claude-opus-4-6 -auth-> groq/b next_fallback",
		"3 groq/b -unclassified->  chain_exhausted",
	}
	if strings.Join(way, "\n") != strings.Join(want, "\n") {
		t.Errorf("way back:\n%s\nwant\n%s", strings.Join(way, "\n"), strings.Join(want, "\n"))
	}
}

func TestCoalescer(t *testing.T) {
	refused := Decision{Decision: DecidedFailed, CandidateProvider: "a", CandidateModel: "m", Reason: string(AuthFailed), RunID: "1"}
	other := refused
	other.CandidateModel = "n"
	limited := refused
	limited.Reason = string(RateLimit)
	type call struct {
		after      time.Duration
		d          Decision
		suppressed int
		log        bool
	}
	for _, c := range []struct {
		rule  string
		calls []call
	}{
		{"the same refusal is logged once in 30 s (20.5)", []call{{0, refused, 0, true}, {time.Second, refused, 0, false}, {29 * time.Second, refused, 0, false}}},
		{"the next one after the window carries the count", []call{{0, refused, 0, true}, {1 * time.Second, refused, 0, false}, {2 * time.Second, refused, 0, false}, {30 * time.Second, refused, 2, true}, {31 * time.Second, refused, 0, false}}},
		{"a count older than 60 s is dropped", []call{{0, refused, 0, true}, {time.Second, refused, 0, false}, {61 * time.Second, refused, 0, true}}},
		{"another run's is the same piece of news", []call{{0, refused, 0, true}, {time.Second, func() Decision { d := refused; d.RunID = "2"; return d }(), 0, false}}},
		{"another model's is not", []call{{0, refused, 0, true}, {0, other, 0, true}}},
		{"only refused credentials are held back", []call{{0, limited, 0, true}, {0, limited, 0, true}}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var co Coalescer
			for i, call := range c.calls {
				if n, log := co.Pass(call.d, at(call.after)); n != call.suppressed || log != call.log {
					t.Errorf("call %d: suppressed %d, log %v; want %d, %v", i, n, log, call.suppressed, call.log)
				}
			}
		})
	}
	t.Run("a hundred keys at most, the oldest goes", func(t *testing.T) {
		var co Coalescer
		for i := range coalesceKeys + 1 {
			d := refused
			d.CandidateModel = fmt.Sprint(i)
			co.Pass(d, at(time.Duration(i)*time.Millisecond))
		}
		if len(co.seen) != coalesceKeys {
			t.Errorf("%d keys", len(co.seen))
		}
		d := refused
		d.CandidateModel = "0"
		if _, log := co.Pass(d, at(time.Second)); !log {
			t.Error("the oldest key was kept")
		}
	})
}
