package rehearsal

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// flapping is a script of a vendor that is down for half of each hour, and of a
// person who writes every minute.
func flapping(length time.Duration) []byte {
	var b strings.Builder
	b.WriteString("config: {agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [anthropic/a]}}}}\nvendors:\n")
	for at := time.Duration(0); at < length; at += time.Hour {
		fmt.Fprintf(&b, "- {model: openai/*, from: %s, until: %s, network: refused}\n", at, at+30*time.Minute)
	}
	b.WriteString("script:\n")
	for at := time.Duration(0); at < length; at += time.Minute {
		fmt.Fprintf(&b, "- {at: %s, say: hello}\n", at)
	}
	b.WriteString("never: [{event: failure}]\n")
	return []byte(b.String())
}

// A vendor that flaps is told of once each way, however long it goes on.
func TestAFlappingVendorIsToldOfOnceEachWay(t *testing.T) {
	const length = 8 * time.Hour
	r, faults := readRehearsal("flapping.yaml", flapping(length), "", noEnv)
	if r == nil {
		t.Fatal(faults)
	}
	told, err := playIn(context.Background(), r, t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	replies, notices, on := 0, 0, false
	for _, h := range told.events() {
		switch h.event {
		case "reply":
			replies++
		case "notice":
			notices++
			text, _ := h.get("text")
			if cleared := strings.Contains(text.(string), "cleared"); cleared != on {
				t.Errorf("at %s: notice %q does not alternate", short(h.at), text)
			}
			on = !on
		}
	}
	if want := int(length / time.Minute); replies != want {
		t.Errorf("%d replies to %d messages", replies, want)
	}
	if want := 2 * int(length/time.Hour); notices != want {
		t.Errorf("%d notices in %s of flapping each hour, want %d", notices, length, want)
	}
	if misses := r.judge(told.events()); len(misses) > 0 {
		t.Error(misses)
	}
}

func noEnv(string) string { return "" }

// A month with a message each minute: 43,200 turns.
func BenchmarkAMonth(b *testing.B) {
	data := flapping(30 * 24 * time.Hour)
	for b.Loop() {
		r, faults := readRehearsal("flapping.yaml", data, "", noEnv)
		if r == nil {
			b.Fatal(faults)
		}
		if _, err := playIn(context.Background(), r, b.TempDir(), slog.New(slog.DiscardHandler)); err != nil {
			b.Fatal(err)
		}
	}
}
