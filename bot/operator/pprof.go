package operator

import (
	"net/http"
	"net/http/pprof"
)

// pprofRoutes serve the profiles of the running process to those who may come in.
func (s *Server) pprofRoutes(mux *http.ServeMux, admit admission) {
	serve := func(h http.HandlerFunc) func(*Server, *call) {
		return func(_ *Server, c *call) {
			// The page of profiles has markup of its own, and no scripts.
			c.w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
			h(c.w, c.r)
		}
	}
	for path, h := range map[string]http.HandlerFunc{"/debug/pprof/": pprof.Index, "/debug/pprof/cmdline": pprof.Cmdline, "/debug/pprof/profile": pprof.Profile, "/debug/pprof/symbol": pprof.Symbol, "/debug/pprof/trace": pprof.Trace} {
		mux.Handle("GET "+path, s.guard(route{rooted: true, slow: true, serve: serve(h)}, admit))
	}
}
