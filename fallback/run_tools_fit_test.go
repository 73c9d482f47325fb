package fallback_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
	pt "standin/fallback/provider/providertest"
)

// library is a set of tools whose results are long.
type library struct {
	chars int
	acts  bool
	used  int
}

func (l *library) Offer() []provider.Tool { return []provider.Tool{{Name: "look"}} }

func (l *library) Use(_ context.Context, calls []provider.ToolCall) (results []provider.ToolResult, acted bool) {
	for _, c := range calls {
		l.used++
		results = append(results, provider.ToolResult{ID: c.ID, Name: c.Name, Text: fmt.Sprintf("page %d: ", l.used) + strings.Repeat("x", l.chars)})
	}
	return results, l.acts
}

// sent is how many bytes of conversation a request held.
func sent(r pt.Request) (n int) {
	for _, m := range r.Messages {
		n += len(m.Text)
		for _, res := range m.Results {
			n += len(res.Text)
		}
	}
	return n
}

// A tool loop that grows beyond the window within one turn is kept within it:
// older results are cut first, and every call keeps its result [S19].
func TestAToolLoopStaysWithinTheWindow(t *testing.T) {
	d, v, _, a := atBench(t)
	lib := &library{chars: 12_000}
	a.Tools = lib
	a.Config.Facts = map[fallback.Model]provider.Facts{model("openai/gpt-5.5"): {Window: 20_000}}
	for range 20 {
		v.On(primary, calls("look"))
	}
	v.On(primary, pt.Answer("read all twenty"))
	out, err := d.Run(t.Context(), a)
	if err != nil || out.Reply.Text != "read all twenty" || lib.used != 20 {
		t.Fatalf("%+v, %v, used %d", out, err, lib.used)
	}
	most := 0
	for i, r := range v.Requests() {
		most = max(most, sent(r))
		if asked, answered := ids(r.Messages); !slices.Equal(asked, answered) || len(asked) != i {
			t.Errorf("request %d: calls %v, results %v", i, asked, answered)
		}
	}
	t.Logf("the longest of %d requests held %d bytes", len(v.Requests()), most)
	if most > 15_000*4 {
		t.Errorf("a request held %d bytes, more than the window", most)
	}
	last := v.Requests()[20].Messages
	if newest := last[len(last)-1].Results[0].Text; len(newest) < 12_000 || strings.Contains(newest, "cut to make room") {
		t.Errorf("the newest result was cut: %.60s… (%d)", newest, len(newest))
	}
	if oldest := last[2].Results[0].Text; !strings.HasPrefix(oldest, "page 1: ") || !strings.Contains(oldest, "cut to make room") {
		t.Errorf("the oldest result reads %.80q", oldest)
	}
	if whole := out.Said[1].Results[0].Text; len(whole) < 12_000 {
		t.Error("the transcript's own copy was cut")
	}
}

func ids(talk []provider.Message) (asked, answered []string) {
	for _, m := range talk {
		for _, c := range m.Calls {
			asked = append(asked, c.ID)
		}
		for _, r := range m.Results {
			answered = append(answered, r.ID)
		}
	}
	return asked, answered
}

// A vendor that finds the exchange too long is asked again with less of it, the
// same model and after an act too; nobody sees the overflow [D10, M28].
func TestAnOverflowWithinATurnIsMended(t *testing.T) {
	d, v, _, a := atBench(t)
	lib := &library{chars: 30_000, acts: true}
	a.Tools = lib
	tooLong := pt.Status(400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 15021 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`)
	v.On(primary, calls("look"), calls("look"), tooLong, tooLong, pt.Answer("done"))
	out, err := d.Run(t.Context(), a)
	if err != nil || out.Reply.Text != "done" || out.Used != model("openai/gpt-5.5") || len(out.Attempts) != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	r := v.Requests()
	if sent(r[3]) >= sent(r[2]) || sent(r[4]) >= sent(r[3]) || lib.used != 2 {
		t.Errorf("sizes %d %d %d, used %d", sent(r[2]), sent(r[3]), sent(r[4]), lib.used)
	}
	// One that stays too long is told, and no other model is asked.
	d, v, _, a = atBench(t)
	a.Tools = &library{chars: 30_000, acts: true}
	v.On(primary, calls("look"))
	v.Always(primary, tooLong)
	var failed *fallback.SummaryError
	if _, err := d.Run(t.Context(), a); !errors.As(err, &failed) || failed.Attempts[len(failed.Attempts)-1].Reason != fallback.ContextOverflow {
		t.Errorf("%v", err)
	}
	if n := len(v.Requests()); n != 5 {
		t.Errorf("asked %d times", n)
	}
}

// "does not support tools": the call is repeated once without them, and the model
// is asked without them from then on, for a while.
func TestAModelWithoutToolsIsAskedWithoutThem(t *testing.T) {
	for _, refusal := range []struct {
		status int
		body   string
	}{
		{400, `{"error":{"message":"registry.ollama.ai/library/gemma3:latest does not support tools","type":"api_error","param":null,"code":null}}`},
		{404, `{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit: https://example.com","code":404}}`},
		{400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","code":400}`},
		{400, "{\"error\":{\"message\":\"`tool calling` is not supported with this model\",\"type\":\"invalid_request_error\"}}"},
		{400, `{"error":{"message":"deepseek-reasoner does not support Function Calling","type":"invalid_request_error"}}`},
		{400, `{"error":{"message":"Unsupported parameter: 'tools' is not supported with this model.","type":"invalid_request_error","param":"tools"}}`},
		{400, `{"error":{"message":"This model doesn't support tool use.","type":"validation_error"}}`},
		{500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`},
	} {
		t.Run(refusal.body, func(t *testing.T) {
			d, v, b, a := atBench(t)
			a.Messages = append([]provider.Message{{Role: provider.User, Text: "before"},
				{Role: provider.Assistant, Calls: []provider.ToolCall{{ID: "c1", Name: "look", Input: "{}"}}},
				{Role: provider.User, Results: []provider.ToolResult{{ID: "c1", Name: "look", Text: "seen"}}},
				{Role: provider.Assistant, Text: "I looked."}}, a.Messages...)
			v.On(primary, pt.Status(refusal.status, refusal.body), pt.Answer("in words"), pt.Answer("again"))
			out, err := d.Run(t.Context(), a)
			if err != nil || out.Reply.Text != "in words" || out.Used != model("openai/gpt-5.5") || len(out.Attempts) != 0 {
				t.Fatalf("%+v, %v", out, err)
			}
			if _, err := d.Run(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			r := v.Requests()
			if len(r) != 3 || len(r[0].Tools) != 2 || len(r[1].Tools)+len(r[2].Tools) != 0 || len(b.used) != 0 {
				t.Fatalf("%d requests, tools %v %v", len(r), r[0].Tools, r[1].Tools)
			}
			if asked, answered := ids(r[1].Messages); len(asked)+len(answered) > 0 || len(r[1].Messages) != 3 {
				t.Errorf("without tools it was sent %+v", r[1].Messages)
			}
		})
	}
}

// What is no refusal of tools is not taken for one: the chain goes on with them.
func TestOtherRefusalsKeepTheTools(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"The tool_use id toolu_1 is not known"}}`,
		`{"error":{"message":"This model does not support images"}}`,
		`{"error":{"message":"invalid request format"}}`,
	} {
		d, v, _, a := atBench(t)
		v.On(primary, pt.Status(400, body))
		out, err := d.Run(t.Context(), a)
		if err != nil || out.Used != model("anthropic/claude-opus-4-6") || len(v.Requests()) != 2 || len(v.Requests()[1].Tools) != 2 {
			t.Errorf("%s: %+v, %v", body, out, err)
		}
	}
}

// models.providers.<id>.models[].tools: false.
func TestAModelIsNotOfferedToolsWhereConfigSaysSo(t *testing.T) {
	d, v, _, a := atBench(t)
	a.Config.Facts = map[fallback.Model]provider.Facts{model("openai/gpt-5.5"): {NoTools: true}}
	if _, err := d.Run(t.Context(), a); err != nil || len(v.Requests()[0].Tools) != 0 {
		t.Errorf("%v, tools %v", err, v.Requests()[0].Tools)
	}
}

func TestAModelThatTookNoToolsIsOfferedThemAgainLater(t *testing.T) {
	var known fallback.Toolless
	now, m := time.Now(), model("ollama/gemma3")
	known.Mark(m, now)
	if !known.Is(m, now.Add(5*time.Hour)) || known.Is(m, now.Add(7*time.Hour)) || known.Is(model("ollama/qwen3"), now) {
		t.Error("remembered for the wrong time, or of the wrong model")
	}
}
