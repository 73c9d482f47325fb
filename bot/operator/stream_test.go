package operator

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"standin/channels"
	"standin/fallback"
)

// listen opens the stream of events over a real connection.
func (h *house) listen(t *testing.T, last string) (next func() string) {
	t.Helper()
	server := httptest.NewServer(h.Handler())
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+base+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); answer.Body.Close(); server.Close() })
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", answer.StatusCode, answer.Header)
	}
	lines := bufio.NewReader(answer.Body)
	return func() string { // the next event, its comments left out
		var event []string
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return "over: " + err.Error()
			}
			switch line = strings.TrimSuffix(line, "\n"); {
			case line == "" && len(event) > 0:
				return strings.Join(event, "\n")
			case line == "", strings.HasPrefix(line, ":"), strings.HasPrefix(line, "retry:"):
			default:
				event = append(event, line)
			}
		}
	}
}

func stepOf(run string) fallback.Step {
	return fallback.Step{At: noon, Run: run, Session: room, Agent: "main", Kind: fallback.Chat, What: fallback.StepAttempt,
		Attempt: &fallback.Attempt{Model: modelA, Reason: fallback.RateLimit, Status: 429, Position: 1, Total: 2, At: noon}}
}

// Events come as they happen, each with an id; who was away for a moment goes on
// behind the last one that was read.
func TestEventsGoOnBehindTheLast(t *testing.T) {
	h := open(t)
	h.Record(t.Context(), stepOf("before")) // nobody listens
	next := h.listen(t, "")
	for i := range 3 {
		h.Record(t.Context(), stepOf(fmt.Sprintf("r%d", i)))
	}
	first := next()
	id, rest, _ := strings.Cut(strings.TrimPrefix(first, "id: "), "\n")
	if !strings.HasPrefix(rest, "event: decision\ndata: {") || !strings.Contains(rest, `"run":"r0"`) {
		t.Fatalf("first: %s", first)
	}
	next() // r1
	again := h.listen(t, id)
	if e := again(); !strings.Contains(e, `"run":"r1"`) {
		t.Errorf("behind %s: %s", id, e)
	}
	if e := again(); !strings.Contains(e, `"run":"r2"`) {
		t.Errorf("then: %s", e)
	}
}

// Who was away for too long, or knows another process, is told to read all again.
func TestLostEventsAreTold(t *testing.T) {
	h := open(t)
	for range streamKept + 1 {
		h.Record(t.Context(), stepOf("r"))
	}
	for name, last := range map[string]string{"too long": h.stream.boot + "-1", "another process": "zzz-5", "the future": h.stream.boot + "-99999", "nonsense": "x"} {
		if e := h.listen(t, last)(); !strings.Contains(e, "event: reset") {
			t.Errorf("%s: %s", name, e)
		}
	}
	if e := h.listen(t, fmt.Sprintf("%s-%d", h.stream.boot, streamKept))(); !strings.Contains(e, "event: decision") {
		t.Error("one that is still kept was lost")
	}
}

// What is posted on the page is an event, and a text with line breaks is still one
// event: nobody's words can make another.
func TestPostsOnThePageAreEvents(t *testing.T) {
	h := open(t)
	next := h.listen(t, "")
	out := channels.Outbound{ID: "t-n", To: channels.Address{Channel: ChannelName, Conversation: "main.main"}, Kind: channels.Notice, Text: "a\n\nid: 1\nevent: reset\ndata: {}\n\n"}
	if _, err := (Surface{h.Server}).Send(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	e := next()
	if strings.Count(e, "\n") != 2 || !strings.Contains(e, "event: chat\n") || !strings.Contains(e, `"kind":"notice"`) || !strings.Contains(e, `"session":"agent:main:page:direct:main"`) {
		t.Errorf("%s", e)
	}
}

// A page that does not keep up is let go, and turns do not wait for it; of too many
// pages the last is turned away.
func TestListenersAreBounded(t *testing.T) {
	h := open(t)
	slow, _, _ := h.stream.listen("")
	for range streamRoom + 1 {
		h.Record(t.Context(), stepOf("r")) // returns
	}
	n := 0
	for range slow.events {
		n++
	}
	if n != streamRoom || h.stream.count() != 0 {
		t.Errorf("the slow one read %d and %d listen", n, h.stream.count())
	}
	for range streamMost {
		if l, _, _ := h.stream.listen(""); l == nil {
			t.Fatal("turned away")
		}
	}
	if w := h.ask("GET", base+"/events", ""); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("one too many: %d", w.Code)
	}
	_ = h.Close(t.Context())
	if h.stream.count() != 0 {
		t.Error("a process that leaves keeps its listeners")
	}
}
