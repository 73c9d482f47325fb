package provider_test

import (
	"encoding/json"
	"slices"
	"testing"

	"standin/fallback/provider"
	pt "standin/fallback/provider/providertest"

	"github.com/google/go-cmp/cmp"
)

var weather = provider.Tool{Name: "weather", Description: "Tells the weather.",
	Schema: json.RawMessage(`{"type":"object","properties":{"place":{"type":"string"}},"required":["place"],"additionalProperties":false}`)}

// What a model wants done arrives as it asked for it, and what came of it goes
// back under the vendor's own ids, streamed or not, in each protocol.
func TestToolsGoThereAndBack(t *testing.T) {
	each(t, func(t *testing.T, c provider.Call, pieces *[]string) {
		c.Tools = []provider.Tool{weather}
		v := pt.New(pt.Calls("I will look.",
			provider.ToolCall{ID: "call_1", Name: "weather", Input: `{"place":"Oslo"}`},
			provider.ToolCall{ID: "call_2", Name: "weather", Input: `{"place":"Rome"}`}))
		reply, err := ask(t, v, c)
		if err != nil {
			t.Fatal(err)
		}
		want := []provider.ToolCall{{ID: "call_1", Name: "weather", Input: `{"place":"Oslo"}`}, {ID: "call_2", Name: "weather", Input: `{"place":"Rome"}`}}
		if !cmp.Equal(reply.Calls, want) || reply.Text != "I will look." {
			t.Fatalf("reply %+v", reply)
		}
		if r := v.Requests()[0]; !slices.Equal(r.Tools, []string{"weather"}) {
			t.Errorf("the vendor was offered %v", r.Tools)
		}

		c.Messages = append(c.Messages,
			provider.Message{Role: provider.Assistant, Text: reply.Text, Calls: reply.Calls},
			provider.Message{Role: provider.User, Results: []provider.ToolResult{{ID: "call_1", Name: "weather", Text: "rain"}, {ID: "call_2", Name: "weather", Text: "no such place", Failed: true}}})
		if _, err := ask(t, v, c); err != nil {
			t.Fatal(err)
		}
		var calls []provider.ToolCall
		results := map[string]string{}
		for _, m := range v.Requests()[1].Messages {
			calls = append(calls, m.Calls...)
			for _, r := range m.Results {
				results[r.ID] = r.Text
			}
		}
		if !cmp.Equal(calls, want) || results["call_1"] != "rain" || results["call_2"] != "no such place" {
			t.Errorf("the vendor was told calls %+v, results %v", calls, results)
		}
	})
}

// An answer that only asks for tools is an answer, and a tool that takes
// nothing is called with an empty object.
func TestACallWithoutInputOrText(t *testing.T) {
	each(t, func(t *testing.T, c provider.Call, _ *[]string) {
		c.Tools = []provider.Tool{{Name: "now"}}
		reply, err := ask(t, pt.New(pt.Calls("", provider.ToolCall{ID: "call_1", Name: "now", Input: "{}"})), c)
		if err != nil || len(reply.Calls) != 1 || reply.Calls[0].Input != "{}" || reply.Text != "" {
			t.Errorf("%+v, %v", reply, err)
		}
	})
}

// A model's broken input is kept as it is for the tool to refuse, and goes back
// to the vendor as an empty object: vendors refuse what is no JSON.
func TestABrokenInputGoesBackAsAnObject(t *testing.T) {
	each(t, func(t *testing.T, c provider.Call, _ *[]string) {
		v := pt.New()
		c.Messages = append(c.Messages,
			provider.Message{Role: provider.Assistant, Calls: []provider.ToolCall{{ID: "call_1", Name: "now", Input: `{"a":`}}},
			provider.Message{Role: provider.User, Results: []provider.ToolResult{{ID: "call_1", Name: "now", Text: "not JSON", Failed: true}}})
		if _, err := ask(t, v, c); err != nil {
			t.Fatal(err)
		}
		for _, m := range v.Requests()[0].Messages {
			for _, call := range m.Calls {
				if call.Input != "{}" {
					t.Errorf("sent input %q", call.Input)
				}
			}
		}
	})
}

// Pictures travel beside the text.
func TestAPictureIsShown(t *testing.T) {
	each(t, func(t *testing.T, c provider.Call, _ *[]string) {
		v := pt.New()
		c.Messages[len(c.Messages)-1].Images = []provider.Image{{Type: "image/png", Data: []byte("\x89PNG")}}
		if _, err := ask(t, v, c); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, m := range v.Requests()[0].Messages {
			n += len(m.Images)
		}
		if n != 1 {
			t.Errorf("the vendor saw %d pictures", n)
		}
	})
}
