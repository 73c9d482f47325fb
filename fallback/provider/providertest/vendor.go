package providertest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync"
	"time"
)

// When selects requests; an empty field matches all.
type When struct{ Model, Key, Host string }

func (w When) matches(r Request) bool {
	return (w.Model == "" || w.Model == r.Model) && (w.Key == "" || w.Key == r.Key) && (w.Host == "" || w.Host == r.Host)
}

// Vendor answers from a script. The zero value answers every request with the
// name of its model. It is safe for use by many requests at once.
type Vendor struct {
	mu      sync.Mutex
	rules   []*rule
	journal []Request
	count   int
}

type rule struct {
	when   When
	acts   []Act
	always bool
}

// New gives a vendor that does the acts in order, whatever is asked, and then
// answers plainly.
func New(acts ...Act) *Vendor {
	v := &Vendor{}
	v.On(When{}, acts...)
	return v
}

// On adds acts for the requests that match, each used once, in order. Of the
// rules that match and have acts left, the one added first is taken.
func (v *Vendor) On(w When, acts ...Act) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rules = append(v.rules, &rule{when: w, acts: acts})
}

// Always adds an act that is never used up.
func (v *Vendor) Always(w When, act Act) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rules = append(v.rules, &rule{when: w, acts: []Act{act}, always: true})
}

// Heal drops all acts: from here on every request is answered plainly.
func (v *Vendor) Heal() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rules = nil
}

// Requests gives the journal: every request so far, in order.
func (v *Vendor) Requests() []Request {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.journal)
}

// Models gives the models that were asked, in order.
func (v *Vendor) Models() []string {
	var names []string
	for _, r := range v.Requests() {
		names = append(names, r.Model)
	}
	return names
}

// take notes a request and finds what to do with it.
func (v *Vendor) take(r *http.Request) (dialect, Act) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	req, ok := readRequest(r, body)
	req.At = time.Now()

	v.mu.Lock()
	defer v.mu.Unlock()
	v.count++
	v.journal = append(v.journal, req)
	d := dialect{req: req, id: v.count, created: req.At.Unix()}
	if !ok {
		return d, Status(404, `{"error":{"message":"Invalid URL (`+r.Method+` `+req.Path+`)","type":"invalid_request_error","param":null,"code":null}}`)
	}
	for _, rule := range v.rules {
		if len(rule.acts) == 0 || !rule.when.matches(req) {
			continue
		}
		act := rule.acts[0]
		if !rule.always {
			rule.acts = rule.acts[1:]
		}
		return d, act
	}
	return d, Answer("answer of " + req.Model)
}

// RoundTrip answers without a socket.
func (v *Vendor) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	d, act := v.take(r)
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.GetConn != nil {
		trace.GetConn(r.URL.Host)
	}
	if act.ending == unconnected {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if trace != nil && trace.GotConn != nil && act.network == "" {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	if err := pause(ctx, act.latency); err != nil {
		return nil, err
	}
	if act.ending == silent {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if act.network != "" {
		return nil, networkError(act.network, r.URL.Hostname())
	}
	header, frames := act.frames(d)
	return &http.Response{
		Status: fmt.Sprintf("%d %s", act.status, http.StatusText(act.status)), StatusCode: act.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: &body{ctx: ctx, frames: frames}, ContentLength: -1, Request: r,
	}, nil
}

// ServeHTTP answers over a real connection.
func (v *Vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d, act := v.take(r)
	if pause(r.Context(), act.latency) != nil {
		return
	}
	if act.ending == silent || act.ending == unconnected {
		<-r.Context().Done()
		return
	}
	if act.network != "" {
		reset(w)
		return
	}
	header, frames := act.frames(d)
	for name, values := range header {
		w.Header()[name] = values
	}
	w.WriteHeader(act.status)
	play(r.Context(), w, frames)
}

// play writes the frames of a body at their pace.
func play(ctx context.Context, w http.ResponseWriter, frames []frame) {
	flush := http.NewResponseController(w).Flush
	for _, f := range frames {
		if pause(ctx, f.wait) != nil {
			return
		}
		switch {
		case f.hang:
			<-ctx.Done()
			return
		case f.err != nil:
			panic(http.ErrAbortHandler) // closes the connection in the middle of the body
		}
		if _, err := io.WriteString(w, f.data); err != nil {
			return
		}
		_ = flush()
	}
}

// reset breaks a connection the hard way, so that the client sees a reset.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// body plays frames to a reader, waiting as long as its context lasts.
type body struct {
	ctx    context.Context
	frames []frame
	rest   string
}

func (b *body) Read(p []byte) (int, error) {
	for b.rest == "" {
		if err := b.ctx.Err(); err != nil {
			return 0, context.Cause(b.ctx)
		}
		if len(b.frames) == 0 {
			return 0, io.EOF
		}
		f := b.frames[0]
		if err := pause(b.ctx, f.wait); err != nil {
			return 0, err
		}
		if f.hang {
			<-b.ctx.Done()
			return 0, context.Cause(b.ctx)
		}
		if f.err != nil {
			return 0, f.err
		}
		b.frames, b.rest = b.frames[1:], f.data
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *body) Close() error { return nil }

// pause waits, or gives the cause that ended ctx.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func pad(n int) string { return fmt.Sprintf("%08d", n) }
