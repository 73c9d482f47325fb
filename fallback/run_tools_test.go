package fallback_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"standin/fallback"
	"standin/fallback/provider"
	pt "standin/fallback/provider/providertest"
)

// bench is a set of two tools: look only reads, send does something outside.
type bench struct {
	used []string
	do   func() // while a tool runs, may be nil
}

func (b *bench) Offer() []provider.Tool { return []provider.Tool{{Name: "look"}, {Name: "send"}} }

func (b *bench) Use(_ context.Context, calls []provider.ToolCall) (results []provider.ToolResult, acted bool) {
	for _, c := range calls {
		b.used = append(b.used, c.Name)
		results = append(results, provider.ToolResult{ID: c.ID, Name: c.Name, Text: "result of " + c.Name})
		acted = acted || c.Name == "send"
	}
	if b.do != nil {
		b.do()
	}
	return results, acted
}

// atBench is a run with tools over the vendors' wire.
func atBench(t *testing.T) (*desk, *pt.Vendor, *bench, fallback.Ask) {
	d, v, b := newDesk(t, nil), pt.New(), &bench{}
	d.Vendors = provider.New(provider.Options{Transport: v})
	a := ask()
	a.Messages = []provider.Message{{Role: provider.User, Text: "go"}}
	a.Tools = b
	return d, v, b, a
}

var (
	primary = pt.When{Model: "gpt-5.5"}
	standby = pt.When{Model: "claude-opus-4-6"}
)

func calls(names ...string) pt.Act {
	var list []provider.ToolCall
	for _, n := range names {
		list = append(list, provider.ToolCall{Name: n, Input: "{}"})
	}
	return pt.Calls("", list...)
}

func tooMany() pt.Act {
	return pt.Status(429, `{"error":{"message":"Rate limit reached","type":"rate_limit_error","code":"rate_limit_exceeded"}}`)
}

// A model uses tools until it answers; the answer comes with the exchange.
func TestAModelUsesToolsUntilItAnswers(t *testing.T) {
	d, v, b, a := atBench(t)
	v.On(primary, calls("look", "look"), calls("look"), pt.Answer("done"))
	var rounds int
	a.OnRound = func() { rounds++ }
	a.Steer = func() string {
		if rounds == 0 {
			return "also this"
		}
		return ""
	}
	out, err := d.Run(t.Context(), a)
	if err != nil || out.Reply.Text != "done" || out.Acted || rounds != 2 {
		t.Fatalf("%+v, %v, %d rounds", out, err, rounds)
	}
	if !slices.Equal(b.used, []string{"look", "look", "look"}) || len(out.Said) != 4 {
		t.Errorf("used %v, said %+v", b.used, out.Said)
	}
	last := v.Requests()[2].Messages
	told := fmt.Sprint(last)
	if strings.Count(told, "result of look") != 3 || strings.Count(told, "also this") != 1 {
		t.Errorf("the model was told %s", told)
	}
	if out.Reply.Tokens.Output <= out.Context-out.Reply.Tokens.Input && out.Context == 0 {
		t.Errorf("tokens %+v, context %d", out.Reply.Tokens, out.Context)
	}
}

// A failure after reading alone is repeated whole on the stand-in; one after an
// act is not, and the failure says so [I8].
func TestAnActIsNotRepeatedOnTheStandIn(t *testing.T) {
	t.Run("after reading", func(t *testing.T) {
		d, v, b, a := atBench(t)
		v.On(primary, calls("look"), tooMany())
		v.On(standby, calls("look"), pt.Answer("from the stand-in"))
		out, err := d.Run(t.Context(), a)
		if err != nil || out.Reply.Text != "from the stand-in" {
			t.Fatalf("%+v, %v", out, err)
		}
		if len(b.used) != 2 || len(v.Requests()[2].Messages) != 1 {
			t.Errorf("used %v; the stand-in began with %+v", b.used, v.Requests()[2].Messages)
		}
	})
	t.Run("after an act", func(t *testing.T) {
		d, v, b, a := atBench(t)
		v.On(primary, calls("send"), tooMany())
		_, err := d.Run(t.Context(), a)
		var failed *fallback.SummaryError
		if !errors.As(err, &failed) || !failed.Acted || len(failed.Said) != 2 {
			t.Fatalf("%v", err)
		}
		if len(b.used) != 1 || slices.Contains(v.Models(), "claude-opus-4-6") {
			t.Errorf("used %v, asked %v", b.used, v.Models())
		}
		if sel, _ := d.db.Selection(t.Context(), a.Session); !sel.Model.IsZero() {
			t.Errorf("selection %+v", sel)
		}
	})
}

// The next key of the same model goes on where the first one failed, with what
// has been done: that repeats nothing.
func TestTheNextKeyGoesOnAfterAnAct(t *testing.T) {
	d, v, b, a := atBench(t)
	d.Credentials = d.db.Credentials([]fallback.Profile{
		{ID: "openai:a", Provider: "openai", Type: fallback.APIKey, Key: provider.NewKey("ka")},
		{ID: "openai:b", Provider: "openai", Type: fallback.APIKey, Key: provider.NewKey("kb")}})
	a.Config.Cooldowns.RateLimitedRotation = 1
	v.On(primary, calls("send"), tooMany(), pt.Answer("sent"))
	out, err := d.Run(t.Context(), a)
	if err != nil || out.Reply.Text != "sent" || !out.Acted || len(b.used) != 1 {
		t.Fatalf("%+v, %v, used %v", out, err, b.used)
	}
	if r := v.Requests(); r[1].Key == r[2].Key || len(r[2].Messages) < 3 {
		t.Errorf("keys %s %s, messages %+v", r[1].Key, r[2].Key, r[2].Messages)
	}
}

// Silence after an act is an answer; silence after reading is none [N16, M26].
func TestSilenceAfterAnActIsAnAnswer(t *testing.T) {
	d, v, _, a := atBench(t)
	v.On(primary, calls("send"), pt.Empty())
	if out, err := d.Run(t.Context(), a); err != nil || !out.Acted || out.Reply.Text != "" {
		t.Errorf("%+v, %v", out, err)
	}
	d, v, _, a = atBench(t)
	v.On(primary, calls("look"), pt.Empty())
	if out, err := d.Run(t.Context(), a); err != nil || out.Used != model("anthropic/claude-opus-4-6") || out.Attempts[0].Label != fallback.LabelEmpty {
		t.Errorf("%+v, %v", out, err)
	}
}

// A model that does nothing but ask is told so, and then left.
func TestToolRoundsAreBounded(t *testing.T) {
	d, v, b, a := atBench(t)
	a.Config.MaxToolRounds = 3
	h := &hears{}
	d.Journal = h
	v.Always(primary, calls("look"))
	out, err := d.Run(t.Context(), a)
	if err != nil || out.Used != model("anthropic/claude-opus-4-6") || len(b.used) != 3 {
		t.Fatalf("%+v, %v, used %v", out, err, b.used)
	}
	if told := fmt.Sprint(v.Requests()[4].Messages); !strings.Contains(told, "3 rounds") {
		t.Errorf("told %s", told)
	}
	var story []string // that the chain was left without a failed request is told too
	for _, s := range h.steps {
		switch {
		case s.Attempt != nil:
			story = append(story, fmt.Sprint(s.Attempt.Model.Provider, " asks:", s.Attempt.Asks))
		case s.Record != nil:
			story = append(story, s.Record.Decision+" "+s.Record.StepOutcome+" "+s.Record.NextProvider)
		}
	}
	if want := strings.Repeat("openai asks:true, ", 5) + "candidate_failed next_fallback anthropic, anthropic asks:false"; !strings.HasPrefix(strings.Join(story, ", "), want) {
		t.Errorf("the story is %q\nwant %q", strings.Join(story, ", "), want)
	}
}

// "Not acted on now; the flag stays for the next clean retry" [sc-052]: a live
// switch waits while a tool's result is worked on.
func TestALiveSwitchWaitsForACleanPlace(t *testing.T) {
	d, v, b, a := atBench(t)
	d.Credentials = d.db.Credentials([]fallback.Profile{
		{ID: "openai:a", Provider: "openai", Type: fallback.APIKey, Key: provider.NewKey("ka")},
		{ID: "openai:b", Provider: "openai", Type: fallback.APIKey, Key: provider.NewKey("kb")}})
	a.Config.Cooldowns.RateLimitedRotation = 1
	b.do = func() {
		if _, err := d.db.Swap(t.Context(), a.Session, fallback.Selection{}, fallback.Selection{Model: model("groq/b"), Source: fallback.ByUser, Pending: true}); err != nil {
			t.Error(err)
		}
	}
	v.On(primary, calls("send"), tooMany(), pt.Answer("sent"))
	out, err := d.Run(t.Context(), a)
	if err != nil || out.Used != model("openai/gpt-5.5") {
		t.Fatalf("%+v, %v", out, err)
	}
	if sel, _ := d.db.Selection(t.Context(), a.Session); !sel.Pending || sel.Model != model("groq/b") {
		t.Errorf("selection %+v: the flag is gone", sel)
	}
}
