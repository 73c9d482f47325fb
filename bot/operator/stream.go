package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"standin/fallback"
)

const (
	streamKept  = 512              // events that somebody who was away can catch up with
	streamMost  = 32               // listeners at a time
	streamRoom  = 128              // events that a listener may be behind
	streamQuiet = 15 * time.Second // between signs of life
	streamWrite = 10 * time.Second // that one write may take
)

// stream is what happens, for all who listen. Who does not keep up is let go, and
// comes back with the id of the last event that was read.
type stream struct {
	boot string // of this process: ids of another one mean nothing here
	now  func() time.Time

	mu        sync.Mutex
	last      uint64
	kept      []happened // the latest, in order
	listeners map[*listener]bool
	closed    bool
}

type happened struct {
	id    uint64
	kind  string
	event Event
	step  *keptEvent
}

// keptEvent is a step that is shown only when somebody looks.
type keptEvent struct{ fallback.Step }

type listener struct{ events chan happened }

func newStream(now func() time.Time) *stream {
	return &stream{boot: strconv.FormatInt(now().UnixMilli(), 36), now: now, listeners: map[*listener]bool{}}
}

func (s *stream) publish(kind string, e Event) { s.add(happened{kind: kind, event: e}) }

// step publishes a step of a run. It is cheap: a turn does not wait for a page.
func (s *stream) step(one fallback.Step) {
	s.add(happened{kind: "decision", event: Event{At: one.At}, step: &keptEvent{one}})
}

func (s *stream) add(h happened) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	h.id = s.last
	if len(s.kept) == streamKept {
		s.kept = append(s.kept[:0], s.kept[streamKept/4:]...)
	}
	s.kept = append(s.kept, h)
	for l := range s.listeners {
		select {
		case l.events <- h:
		default:
			delete(s.listeners, l)
			close(l.events)
		}
	}
}

// listen gives what came after an id and what comes from now on. lost says that
// events are missing in between. nil: too many listen.
func (s *stream) listen(after string) (l *listener, missed []happened, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.listeners) >= streamMost || s.closed {
		return nil, nil, false
	}
	l = &listener{make(chan happened, streamRoom)}
	s.listeners[l] = true
	if after == "" {
		return l, nil, false
	}
	boot, n, _ := strings.Cut(after, "-")
	id, err := strconv.ParseUint(n, 10, 64)
	if err != nil || boot != s.boot || id > s.last {
		return l, nil, true
	}
	lost = len(s.kept) > 0 && id+1 < s.kept[0].id
	for _, h := range s.kept {
		if h.id > id {
			missed = append(missed, h)
		}
	}
	return l, missed, lost
}

func (s *stream) leave(l *listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listeners[l] {
		delete(s.listeners, l)
		close(l.events)
	}
}

// close ends all streams: a process that leaves does not wait for its listeners.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for l := range s.listeners {
		delete(s.listeners, l)
		close(l.events)
	}
}

// Close ends the streams of events, and sends the traces that wait.
func (s *Server) Close(context.Context) error {
	s.stream.close()
	s.traces.close()
	return nil
}

// events writes the stream until its reader is gone or too slow.
func (s *Server) events(c *call) {
	after := c.r.Header.Get("Last-Event-ID")
	if after == "" {
		after = c.r.FormValue("after") // for those who cannot set headers
	}
	l, missed, lost := s.stream.listen(after)
	if l == nil {
		c.w.Header().Set("Retry-After", "10")
		fail(c.w, http.StatusServiceUnavailable, "unavailable", "too many listen to the events already; close a page")
		return
	}
	defer s.stream.leave(l)
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	c.w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(c.w)
	write := func(text []byte) bool {
		_ = out.SetWriteDeadline(time.Now().Add(streamWrite))
		_, err := c.w.Write(text)
		return err == nil && out.Flush() == nil
	}
	hello := []byte("retry: 2000\n: standin\n\n")
	if lost {
		hello = append(hello, s.stream.encode(happened{id: s.stream.latest(), kind: "reset", event: Event{At: s.Now()}})...)
	}
	if !write(hello) {
		return
	}
	for _, one := range missed {
		if !write(s.stream.encode(one)) {
			return
		}
	}
	quiet := time.NewTicker(streamQuiet)
	defer quiet.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case one, ok := <-l.events:
			if !ok || !write(s.stream.encode(one)) {
				return
			}
		case <-quiet.C:
			if !write([]byte(": still here\n\n")) {
				return
			}
		}
	}
}

func (s *stream) latest() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// encode writes one event. JSON has no line breaks of its own, so nobody's text
// can end the event and begin another.
func (s *stream) encode(h happened) []byte {
	if h.step != nil {
		d := viewStep(0, h.step.Step)
		h.event.Decision, h.event.Session = &d, d.Session
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "id: %s-%d\nevent: %s\ndata: ", s.boot, h.id, h.kind)
	text, err := json.Marshal(h.event)
	if err != nil {
		text = []byte("{}") // an Event holds nothing that JSON cannot say
	}
	b.Write(text)
	b.WriteString("\n\n")
	return b.Bytes()
}
