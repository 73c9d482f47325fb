package operator

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"time"

	"standin/bot"
	"standin/fallback"
	"standin/fallback/provider"
)

// Settings are what the config says of the API. The zero value lets this
// machine look without a token.
type Settings struct {
	Token provider.Key // the way in; zero: none is needed on this machine
	// Exposed says that others reach the port: it listens beyond this machine, or
	// a platform sends its requests to it through a proxy. Without a token nobody
	// comes in then.
	Exposed bool
	Metrics bool // /metrics is served
	Pprof   bool // /debug/pprof is served
	Traces  TraceSettings
}

// Same tells whether two settings mean the same.
func (s Settings) Same(o Settings) bool {
	return s.Token.Reveal() == o.Token.Reveal() && s.Exposed == o.Exposed && s.Metrics == o.Metrics && s.Pprof == o.Pprof && s.Traces.Endpoint == o.Traces.Endpoint &&
		maps.EqualFunc(s.Traces.Headers, o.Traces.Headers, func(a, b provider.Key) bool { return a.Reveal() == b.Reveal() })
}

// Options are what a Server works with. All must be set but those that say what
// nil means.
type Options struct {
	Settings Settings
	Config   func() *bot.Config
	Bot      Bot
	Rows     Rows
	Keyring  bot.Keyring
	Prober   Prober
	Daemon   Daemon
	Alive    func(context.Context) error // whether the store works
	Schedule Schedule                    // nil: no jobs run here
	Beats    Beats                       // nil: no heartbeats run here
	Costs    Costs                       // nil: costs are not kept
	Oracle   Oracle                      // nil: nothing is played here
	// Incidents gives what is wrong and not over, the latest first; nil: that is not
	// kept.
	Incidents func(ctx context.Context, limit int) ([]Incident, error)
	Page      http.Handler // nil: there is no page
	Log       *slog.Logger
	Now       func() time.Time
}

// Server answers the operator. It is made by New; its methods may be called from
// many goroutines.
type Server struct {
	Options
	started time.Time
	door    *door
	stream  *stream
	metrics *metrics
	traces  *traces // nil: none are sent
	all     []route

	playing      sync.Mutex // held while an outage is rehearsed
	contractOnce sync.Once
	contractJSON []byte
}

// New makes a server. What happens is seen from then on: it is a witness of the
// journal (see Record).
func New(o Options) *Server {
	s := &Server{Options: o, started: o.Now(), all: routes()}
	s.door = newDoor(o.Settings, o.Now)
	s.stream = newStream(o.Now)
	s.metrics = newMetrics(s)
	s.traces = newTraces(o.Settings.Traces, o.Config().Version, o.Log)
	return s
}

// Handler serves the API, metrics and, at all other paths, the page, to those
// whom the door lets in.
func (s *Server) Handler() http.Handler { return s.handler(s.door.admit) }

// Local serves the same to everybody who reaches it: it is for a socket that only
// one user can open.
func (s *Server) Local() http.Handler {
	return s.handler(func(*http.Request, time.Time) (visitor, *refusal) { return visitor{via: "command line", in: true}, nil })
}

// admission tells who asks, or why they are turned away.
type admission func(r *http.Request, now time.Time) (visitor, *refusal)

func (s *Server) handler(admit admission) http.Handler {
	mux := http.NewServeMux()
	methods := map[string]string{}
	for _, r := range s.all {
		if r.do == nil && r.serve == nil {
			continue // the gateway's own: /healthz and /readyz
		}
		mux.Handle(r.method+" "+r.fullPath(), s.guard(r, admit))
		if methods[r.fullPath()] != "" {
			methods[r.fullPath()] += ", "
		}
		methods[r.fullPath()] += r.method
	}
	for path, known := range methods {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", known)
			fail(w, http.StatusMethodNotAllowed, "bad_request", "this address takes "+known)
		})
	}
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, "not_found", "there is no such address; "+base+"/openapi.json lists them")
	})
	if s.Settings.Pprof {
		s.pprofRoutes(mux, admit)
	}
	if s.Page != nil {
		mux.Handle("/", s.Page)
	}
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		forbidden("a change must come from the page itself, not from another site's").answer(w)
	}))
	return guard.Handler(mux)
}

// call is one request on its way through.
type call struct {
	ctx context.Context
	r   *http.Request
	w   http.ResponseWriter
	now time.Time
	who visitor
}

// maxBody bounds what is sent, in bytes.
const maxBody = 256 << 10

// The times that a request may take. An operation that waits for a model, and
// the stream of events, have their own.
const (
	readTime  = 20 * time.Second
	writeTime = 30 * time.Second
	slowTime  = 15 * time.Minute
)

// guard is the way of a request to its route: limits, door, handler, answer.
func (s *Server) guard(r route, admit admission) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		plainHeaders(w.Header())
		// A client that sends or reads slowly is let go, not waited for.
		limits := http.NewResponseController(w)
		wait := writeTime
		if r.slow {
			wait = slowTime
		}
		if req.Body != http.NoBody {
			// For the body alone, see read: a deadline that passes while the answer is
			// made would end the request.
			_ = limits.SetReadDeadline(time.Now().Add(readTime))
		}
		_ = limits.SetWriteDeadline(time.Now().Add(wait))
		req.Body = http.MaxBytesReader(w, req.Body, maxBody)

		c := &call{ctx: req.Context(), r: req, w: w, now: s.Now()}
		var refused *refusal
		if c.who, refused = admit(req, c.now); refused != nil && !(r.free && refused.code == "unauthorized") {
			refused.answer(w)
			return
		}
		if r.serve != nil {
			r.serve(s, c)
			return
		}
		v, err := r.do(s, c)
		if err != nil {
			s.fail(w, req, err)
			return
		}
		answer(w, r.success(), v)
	})
}

// plainHeaders say that an answer is data and nothing that a browser should run,
// keep, guess the type of, or show in another page.
func plainHeaders(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// answer writes v. The encoder escapes what a page could take for markup.
func answer(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		fail(w, http.StatusInternalServerError, "internal", "the answer could not be written")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

func fail(w http.ResponseWriter, status int, code, says string) {
	plainHeaders(w.Header())
	answer(w, status, Failure{Fault{code, provider.Redact(says)}})
}

// fail answers an error: in words if it is the request's, else in the log alone.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var wrong *Wrong
	var no *refusal
	var large *http.MaxBytesError
	says, refused := bot.RefusalOf(err)
	switch {
	case errors.As(err, &no):
		no.answer(w)
	case errors.As(err, &large):
		fail(w, http.StatusRequestEntityTooLarge, "too_large", "the request is larger than 256 KiB")
	case errors.As(err, &wrong):
		fail(w, http.StatusBadRequest, "bad_request", wrong.Says)
	case refused:
		fail(w, http.StatusBadRequest, "bad_request", says)
	case errors.Is(err, ErrNotFound):
		fail(w, http.StatusNotFound, "not_found", err.Error())
	case errors.Is(err, bot.ErrShutdown):
		fail(w, http.StatusServiceUnavailable, "unavailable", "standin is stopping; try again in a moment")
	case r.Context().Err() != nil:
		// Nobody waits for the answer any more.
	default:
		s.Log.Error("an operator's request failed", "method", r.Method, "path", r.URL.Path, "err", err)
		fail(w, http.StatusInternalServerError, "internal", "it did not work; the log of standin says why")
	}
}

// refusal is a request that is turned away.
type refusal struct {
	status     int
	code, says string
	retryAfter time.Duration
}

func (r *refusal) Error() string { return r.says }

func (r *refusal) answer(w http.ResponseWriter) {
	if r.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="standin"`)
	}
	if r.retryAfter > 0 {
		w.Header().Set("Retry-After", seconds(r.retryAfter))
	}
	fail(w, r.status, r.code, r.says)
}

func conflict(says string) error {
	return &refusal{status: http.StatusConflict, code: "conflict", says: says}
}

func unavailable(says string) error {
	return &refusal{status: http.StatusServiceUnavailable, code: "unavailable", says: says}
}

// read decodes the request's body, strictly. An empty one is the zero value.
func read[T any](c *call) (v T, err error) {
	dec := json.NewDecoder(c.r.Body)
	dec.DisallowUnknownFields()
	err = dec.Decode(&v)
	if errors.Is(err, io.EOF) {
		return v, nil
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return v, err
	}
	if err != nil {
		return v, &Wrong{"the request's body cannot be read: " + err.Error()}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return v, &Wrong{"the request's body holds more than one JSON value"}
	}
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{}) // all is here
	return v, nil
}

// agent is the agent that a request names, or the default one.
func (s *Server) agent(id string) (fallback.AgentID, error) {
	cfg := s.Config()
	if id == "" {
		return cfg.DefaultAgent, nil
	}
	if _, known := cfg.Agents[fallback.AgentID(id)]; !known {
		return "", notFound("there is no agent %q; the config has: %s", id, agentIDs(cfg))
	}
	return fallback.AgentID(id), nil
}
