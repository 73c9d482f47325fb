package store

import (
	"context"
	"testing"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback/provider"

	"github.com/google/go-cmp/cmp"
)

// An exchange with tools is kept whole, and its results are no question of a
// person: a history is cut at what people wrote.
func TestAnExchangeIsKeptWhole(t *testing.T) {
	d := openIn(t, t.TempDir())
	defer d.Close()
	calls := []provider.ToolCall{{ID: "c1", Name: "look", Input: `{"at":"x"}`}}
	results := []provider.ToolResult{{ID: "c1", Name: "look", Text: "nothing", Failed: true}}
	for _, turn := range []string{"t1", "t2"} {
		_, err := d.End(context.Background(), bot.Ending{Session: "agent:main:main", Epoch: "e", Turn: turn, How: bot.Answered, At: asked, Entries: []bot.Entry{
			{Turn: turn, Role: provider.User, Text: "look", At: asked},
			{Turn: turn, Role: provider.Assistant, Calls: calls, At: asked},
			{Turn: turn, Role: provider.User, Results: results, At: asked},
			{Turn: turn, Role: provider.Assistant, Text: "done", At: asked}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	past, err := d.History(context.Background(), "agent:main:main", "e", 1)
	if err != nil || len(past) != 4 {
		t.Fatalf("%d entries, %v", len(past), err)
	}
	if past[0].Turn != "t2" || !cmp.Equal(past[1].Calls, calls) || !cmp.Equal(past[2].Results, results) {
		t.Errorf("%+v", past)
	}
}

// That something was done for a message is known after a crash [I8].
func TestAnActIsKnownAfterACrash(t *testing.T) {
	dir := t.TempDir()
	d := openIn(t, dir)
	row, _, err := d.Accept(context.Background(), channels.Inbound{ID: "m1", To: channels.Address{Channel: "c"}}, "agent:main:main", "main", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Acting(context.Background(), []int64{row.ID}); err != nil {
		t.Fatal(err)
	}
	_ = d.Close()
	d = openIn(t, dir)
	defer d.Close()
	if rows, err := d.Unended(context.Background()); err != nil || len(rows) != 1 || !rows[0].Acted {
		t.Errorf("%+v, %v", rows, err)
	}
}
