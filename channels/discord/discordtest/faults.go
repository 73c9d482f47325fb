package discordtest

import (
	"net/http"
	"strings"
	"time"
)

// Fault is what calls to the API meet instead of their answer.
type Fault struct {
	Method string // "" any
	Path   string // a part of the path, "" any
	Times  int    // 0 is once

	Status  int               // of the answer; 0 and no Cut: the answer is the real one, after Delay
	Body    string            // of it
	Header  map[string]string // of it
	Delay   time.Duration     // before the answer
	Applied bool              // the call is carried out first
	Cut     bool              // the line is cut instead of an answer
}

// Break makes calls fail, each fault its times, in order.
func (s *Server) Break(all ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range all {
		f.Times = max(f.Times, 1)
		s.faults = append(s.faults, &f)
	}
}

// Limited is a 429 of a route that lasts for a time.
func Limited(method, path string, d time.Duration) Fault {
	return Fault{Method: method, Path: path, Status: http.StatusTooManyRequests,
		Body:   `{"message":"You are being rate limited.","retry_after":` + floatOf(d) + `,"global":false}`,
		Header: map[string]string{"Retry-After": wholeOf(d), "X-RateLimit-Scope": "user", "X-RateLimit-Reset-After": floatOf(d), "X-RateLimit-Remaining": "0"}}
}

// LimitedForAll is a 429 of everything.
func LimitedForAll(d time.Duration) Fault {
	return Fault{Status: http.StatusTooManyRequests,
		Body:   `{"message":"You are being rate limited.","retry_after":` + floatOf(d) + `,"global":true}`,
		Header: map[string]string{"Retry-After": wholeOf(d), "X-RateLimit-Scope": "global", "X-RateLimit-Global": "true"}}
}

// Edge is a 429 of the page that stands before Discord: HTML instead of JSON.
func Edge(seconds string) Fault {
	return Fault{Status: http.StatusTooManyRequests, Body: "<html><body>error code: 1015</body></html>",
		Header: map[string]string{"Retry-After": seconds, "Content-Type": "text/html"}}
}

// faultOf takes the fault that a call meets.
func (s *Server) faultOf(method, path string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if f.Method != "" && f.Method != method || !strings.Contains(path, f.Path) {
			continue
		}
		if f.Times--; f.Times <= 0 {
			s.faults = append(s.faults[:i], s.faults[i+1:]...)
		}
		return f
	}
	return nil
}

// gatewayFaults are what the next connections meet.
type gatewayFaults struct {
	NoHello        int // connections that get no greeting
	ReconnectFirst int // connections that are asked to reconnect before READY
	NoReady        int // connections whose IDENTIFY is not answered
	resumes        []string
	noAck          bool
}

// takeLocked takes one connection's share.
func (g *gatewayFaults) takeLocked() gatewayFaults {
	now := gatewayFaults{NoHello: g.NoHello, ReconnectFirst: g.ReconnectFirst, NoReady: g.NoReady}
	for _, n := range []*int{&g.NoHello, &g.ReconnectFirst, &g.NoReady} {
		*n = max(*n-1, 0)
	}
	return now
}

func (g *gatewayFaults) takeResumeLocked() string {
	if len(g.resumes) == 0 {
		return ""
	}
	r := g.resumes[0]
	g.resumes = g.resumes[1:]
	return r
}

func (s *Server) spoil(f func(g *gatewayFaults)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.gateway)
}

// NoHello leaves the next n connections without a greeting.
func (s *Server) NoHello(n int) { s.spoil(func(g *gatewayFaults) { g.NoHello = n }) }

// NoReady leaves the IDENTIFY of the next n connections without an answer.
func (s *Server) NoReady(n int) { s.spoil(func(g *gatewayFaults) { g.NoReady = n }) }

// ReconnectFirst asks the next n connections to reconnect before they are ready.
func (s *Server) ReconnectFirst(n int) { s.spoil(func(g *gatewayFaults) { g.ReconnectFirst = n }) }

// NoAck leaves heartbeats without an answer, or answers them again.
func (s *Server) NoAck(deaf bool) { s.spoil(func(g *gatewayFaults) { g.noAck = deaf }) }

// RefuseResumes lets the next RESUMEs come to nothing: "invalid" and "retry" are
// op 9 with false and true, "cut" drops the line, "" lets one through.
func (s *Server) RefuseResumes(how ...string) {
	s.spoil(func(g *gatewayFaults) { g.resumes = append(g.resumes, how...) })
}

// each does something with every open connection.
func (s *Server) each(f func(l *link)) {
	s.mu.Lock()
	var all []*link
	for l := range s.links {
		all = append(all, l)
	}
	s.mu.Unlock()
	for _, l := range all {
		f(l)
	}
}

// Drop cuts every connection without a word.
func (s *Server) Drop() { s.each((*link).cut) }

// Shut closes every connection with a code.
func (s *Server) Shut(code int) {
	s.each(func(l *link) {
		s.endSession(l, code)
		l.close(code)
	})
}

// AskToReconnect sends op 7 to every connection.
func (s *Server) AskToReconnect() { s.each(func(l *link) { l.write(7, nil, nil, nil) }) }

// Invalidate sends op 9 to every connection.
func (s *Server) Invalidate(resumable bool) {
	s.each(func(l *link) {
		if !resumable {
			s.mu.Lock()
			if l.session != nil {
				l.session.ended = true
			}
			s.mu.Unlock()
		}
		l.write(9, nil, nil, resumable)
	})
}

// GreetAgain sends another HELLO to every connection.
func (s *Server) GreetAgain() {
	s.each(func(l *link) {
		l.write(10, nil, nil, map[string]any{"heartbeat_interval": s.opt.Interval.Milliseconds()})
	})
}

// AskForHeartbeat sends op 1 to every connection.
func (s *Server) AskForHeartbeat() { s.each(func(l *link) { l.write(1, nil, nil, nil) }) }

// Mute lets every open connection stand without another word, events and
// acknowledgements included.
func (s *Server) Mute() {
	s.each(func(l *link) {
		l.mu.Lock()
		l.silenced = true
		l.mu.Unlock()
	})
}

// Noise sends a frame that is no JSON to every connection.
func (s *Server) Noise() { s.each(func(l *link) { l.raw([]byte("\x00\x01 not json")) }) }
