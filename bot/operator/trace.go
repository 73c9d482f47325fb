package operator

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
)

// TraceSettings say where traces of runs go. The zero value: nowhere.
type TraceSettings struct {
	Endpoint string                  // base URL of an OTLP receiver; /v1/traces is added
	Headers  map[string]provider.Key // sent with each request
}

// The bounds of what is kept for a receiver that does not keep up.
const (
	tracedRuns  = 1024 // that go on
	tracedSteps = 200  // of one run
	traceQueue  = 256  // runs that wait to be sent
	traceBatch  = 64
	traceTime   = 10 * time.Second
)

// traces tells a receiver of OTLP (over HTTP, in JSON) of each run: a span for the
// run and one for each request to a model. What people and models say is in none
// of them. It is written by hand, on the standard library: the exporters of the
// OpenTelemetry project bring gRPC along, several megabytes of it, for the same
// one request. A nil *traces does nothing.
type traces struct {
	to      TraceSettings
	version string
	log     *slog.Logger
	client  *http.Client
	queue   chan span
	stop    context.CancelFunc
	done    chan struct{}

	mu   sync.Mutex
	open map[string][]fallback.Attempt
	lost int
}

// span is a run that is over.
type span struct {
	ask          fallback.Ask
	began, ended time.Time
	used         string
	err          error
	attempts     []fallback.Attempt
}

func newTraces(to TraceSettings, version string, log *slog.Logger) *traces {
	if to.Endpoint == "" {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	t := &traces{to: to, version: version, log: log, client: &http.Client{Timeout: traceTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		queue: make(chan span, traceQueue), stop: stop, done: make(chan struct{}), open: map[string][]fallback.Attempt{}}
	go t.run(ctx)
	return t
}

// step keeps an attempt until its run is over. A try of a credential is no run:
// nobody would end it.
func (t *traces) step(s fallback.Step) {
	if t == nil || s.Attempt == nil || s.Kind == fallback.ProbeRun {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	all, known := t.open[s.Run]
	if (known || len(t.open) < tracedRuns) && len(all) < tracedSteps {
		t.open[s.Run] = append(all, *s.Attempt)
	}
}

// ended queues a run that is over. A turn does not wait for a receiver: when the
// queue is full the run is left out, and that is said later.
func (t *traces) ended(ask fallback.Ask, began, ended time.Time, out *fallback.Outcome, err error) {
	if t == nil {
		return
	}
	one := span{ask: ask, began: began, ended: ended, err: err}
	if out != nil {
		one.used = out.Used.String()
	}
	one.ask.Messages, one.ask.System = nil, "" // they are not kept, and not told
	t.mu.Lock()
	one.attempts = t.open[ask.Run]
	delete(t.open, ask.Run)
	t.mu.Unlock()
	select {
	case t.queue <- one:
	default:
		t.mu.Lock()
		t.lost++
		t.mu.Unlock()
	}
}

// run sends what waits, until close.
func (t *traces) run(ctx context.Context) {
	defer close(t.done)
	failing := false
	for {
		var batch []span
		select {
		case one := <-t.queue:
			batch = append(batch, one)
		case <-ctx.Done():
			return
		}
		for len(batch) < traceBatch {
			select {
			case one := <-t.queue:
				batch = append(batch, one)
				continue
			default:
			}
			break
		}
		err := t.send(ctx, batch)
		if err != nil && !failing && ctx.Err() == nil {
			t.log.Warn("traces are not taken; the runs go on without them", "err", err)
		}
		failing = err != nil
	}
}

// close lets what waits be sent for a moment.
func (t *traces) close() {
	if t == nil {
		return
	}
	for until := time.Now().Add(time.Second); len(t.queue) > 0 && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	t.stop()
	<-t.done
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost > 0 {
		t.log.Warn("traces were left out: their receiver did not keep up", "runs", t.lost)
	}
}

func (t *traces) send(ctx context.Context, batch []span) error {
	text, err := json.Marshal(t.document(batch))
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.to.Endpoint+"/v1/traces", bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range t.to.Headers {
		r.Header.Set(name, value.Reveal())
	}
	answer, err := t.client.Do(r)
	if err != nil {
		return errors.New(provider.Redact(err.Error()))
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the receiver says %s", answer.Status)
	}
	return nil
}

// document is an ExportTraceServiceRequest in OTLP's JSON: ids are hexadecimal,
// times are nanoseconds as texts.
func (t *traces) document(batch []span) object {
	spans := []object{}
	for _, one := range batch {
		spans = append(spans, one.spans()...)
	}
	return object{"resourceSpans": []object{{
		"resource":   object{"attributes": attributes("service.name", "standin", "service.version", t.version)},
		"scopeSpans": []object{{"scope": object{"name": "standin", "version": t.version}, "spans": spans}},
	}}}
}

const (
	spanInternal, spanClient = 1, 3
	statusOK, statusError    = 1, 2
)

func (one span) spans() []object {
	trace, root := randomHex(16), randomHex(8)
	status := object{"code": statusOK}
	if one.err != nil {
		status = object{"code": statusError}
	}
	list := []object{{"traceId": trace, "spanId": root, "name": "standin.run", "kind": spanInternal, "status": status,
		"startTimeUnixNano": nanos(one.began), "endTimeUnixNano": nanos(one.ended),
		"attributes": attributes("standin.run.id", one.ask.Run, "standin.run.kind", string(one.ask.Kind), "standin.agent.id", string(one.ask.Agent), "gen_ai.response.model", one.used),
	}}
	for _, a := range one.attempts {
		name, ended := "chat "+a.Model.Name, a.At.Add(a.Took)
		if a.Skipped != "" {
			name = "skip " + a.Model.Name
		}
		status := object{"code": statusOK}
		if !a.OK {
			status = object{"code": statusError, "message": string(a.Reason)}
		}
		list = append(list, object{"traceId": trace, "spanId": randomHex(8), "parentSpanId": root, "name": name, "kind": spanClient, "status": status,
			"startTimeUnixNano": nanos(a.At), "endTimeUnixNano": nanos(ended),
			"attributes": append(attributes("gen_ai.provider.name", a.Model.Provider, "gen_ai.request.model", a.Model.Name, "standin.credential", string(a.Profile),
				"error.type", string(a.Reason), "standin.skipped", string(a.Skipped), "standin.probe", string(a.Probe)),
				whole("http.response.status_code", int64(a.Status)), whole("gen_ai.usage.input_tokens", a.Tokens.Input), whole("gen_ai.usage.output_tokens", a.Tokens.Output), whole("standin.position", int64(a.Position))),
		})
	}
	return list
}

// attributes are texts by name; empty ones are left out.
func attributes(pairs ...string) []object {
	list := []object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			list = append(list, object{"key": pairs[i], "value": object{"stringValue": pairs[i+1]}})
		}
	}
	return list
}

func whole(name string, n int64) object {
	return object{"key": name, "value": object{"intValue": fmt.Sprint(n)}}
}

func nanos(t time.Time) string { return fmt.Sprint(t.UnixNano()) }

func randomHex(n int) string {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)
}
