package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"standin/cronjobs"
	"standin/heartbeat"
)

// gateway answers probes, takes Slack's requests of mode http, and tells
// `standin channels status` the rest.
type gateway struct {
	fleet    *fleet
	alive    func(context.Context) error // whether the store still works
	draining func() bool
	// olderWait tells whether older files of credentials wait to be taken over;
	// nil: none do.
	olderWait func() bool
	// up says that start-up is over: what reconnects later is no reason to be
	// taken out of service.
	up func() bool
	// nudge has the outbox look for what a command beside the daemon has written;
	// nil: there is none.
	nudge func()
	beats *heartbeat.Runner   // nil: none run here
	jobs  *cronjobs.Scheduler // nil: none run here
	// operator serves the page and the API; desk the same on the socket, to all
	// who reach it. nil: neither is served.
	operator, desk http.Handler
	// sessions adds what is done to sessions; nil: nothing is.
	sessions func(*http.ServeMux)
}

// public serves everybody who reaches the port: no detail [G23].
func (g *gateway) public() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"GET /healthz", "GET /health"} {
		mux.HandleFunc(path, g.health)
	}
	for _, path := range []string{"GET /readyz", "GET /ready"} {
		mux.HandleFunc(path, g.ready)
	}
	mux.HandleFunc("/", g.webhook)
	return mux
}

// private serves the socket in the state folder.
func (g *gateway) private() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", g.public())
	if g.desk != nil {
		mux.Handle("/api/", g.desk)
		mux.Handle("/metrics", g.desk)
	}
	mux.HandleFunc("GET /channels", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(reportOf(g.fleet.standings()))
	})
	mux.HandleFunc("POST /outbox/nudge", func(w http.ResponseWriter, _ *http.Request) {
		if g.nudge != nil {
			g.nudge()
		}
		answerJSON(w, http.StatusOK, struct{}{})
	})
	g.jobRoutes(mux)
	if g.sessions != nil {
		g.sessions(mux)
	}
	beatRoutes(mux, g.beats)
	return mux
}

// storePatience is how long a probe waits for the store, which may be busy for
// as long as a write may wait.
const storePatience = 5 * time.Second

func (g *gateway) health(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), storePatience)
	defer cancel()
	if g.alive(ctx) != nil {
		say(w, http.StatusServiceUnavailable, "the store does not work")
		return
	}
	if g.olderWait != nil && g.olderWait() {
		say(w, http.StatusOK, "degraded") // it serves, without credentials that somebody believes are there [IL-011]
		return
	}
	say(w, http.StatusOK, "ok")
}

func (g *gateway) ready(w http.ResponseWriter, _ *http.Request) {
	switch {
	case g.draining():
		say(w, http.StatusServiceUnavailable, "leaving")
	case !g.up():
		say(w, http.StatusServiceUnavailable, "starting")
	default:
		say(w, http.StatusOK, "ready")
	}
}

func say(w http.ResponseWriter, status int, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, line+"\n")
}

// webhook hands a request to the account whose path it came in on, as the
// config has it just now.
func (g *gateway) webhook(w http.ResponseWriter, r *http.Request) {
	if h := g.fleet.webhook(r.URL.Path); h != nil {
		h.ServeHTTP(w, r)
		return
	}
	if g.operator != nil {
		g.operator.ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}

// listener is a server that has its place; it serves until stop.
type listener struct{ *http.Server }

func serveOn(l net.Listener, h http.Handler, log *slog.Logger) *listener {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	go func() { _ = s.Serve(l) }() // ends with stop
	return &listener{s}
}

// stop lets requests that run have their answer, for a moment.
func (l *listener) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if l.Shutdown(ctx) != nil {
		return l.Close()
	}
	return nil
}

// Listen listens on addr, unless it is "", and on the socket in the state folder
// dir. The port must be had; without the socket only `standin channels status` is
// missing.
func (a *App) Listen(dir, addr string) error {
	g := &gateway{fleet: a.fleet, nudge: a.Bot.Nudge, alive: a.DB.Ping, draining: a.draining.Load, up: a.isUp, olderWait: a.olderWait, beats: a.beats, jobs: a.jobs}
	a.serveDesk(g)
	g.sessions = func(mux *http.ServeMux) { sessionRoutes(mux, a.Bot, a.DB, a.parts.Now) }
	if addr != "" {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return fmt.Errorf("gateway: %w; give gateway.port another number, or stop what listens there", err)
		}
		a.onStop("gateway", serveOn(l, g.public(), a.parts.Log).stop)
		a.parts.Log.Info("gateway listens", "addr", l.Addr().String())
	}
	path := filepath.Join(dir, SocketFile)
	// The state folder is ours alone: a socket that lies there is a dead daemon's.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.parts.Log.Warn("standin channels status will not be answered", "err", err)
		return nil
	}
	l, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		a.parts.Log.Warn("standin channels status will not be answered", "err", err)
		return nil
	}
	a.onStop("status socket", serveOn(l, g.private(), a.parts.Log).stop)
	return nil
}
