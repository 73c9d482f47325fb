// Package slacktest is a stand-in for Slack on loopback: the Web API, Socket
// Mode and the Events API over HTTP, as far as an app like ours meets them. It
// speaks the wire, so it drives our adapter and Slack's official clients alike,
// and it imports no library of Slack's.
//
// People act through typed methods (Say, Press, Slash…), faults are queued
// (Fail) or happen to the sockets (Disconnect, Drop, Freeze, Garbage), and
// everything that reaches the stand-in is in its journal.
package slacktest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The workspace and the app of every Server.
const (
	Team     = "T0TEAM"
	App      = "A0APP"
	BotUser  = "U0BOT"
	BotID    = "B0BOT"
	BotToken = "xoxb-1-test-bot-token-do-not-print"
	AppToken = "xapp-1-A0APP-1-test-app-token-do-not-print"
	Signing  = "test-signing-secret-do-not-print"

	Alice   = "U0ALICE"
	Bob     = "U0BOB"
	DM      = "D0ALICE" // of the bot with Alice
	General = "C0GENERAL"
	Trio    = "G0TRIO" // Alice, Bob and the bot
)

// Server is one workspace. Its methods may be called from many goroutines.
type Server struct {
	URL string // http://127.0.0.1:port; the API is below /api/

	http     *http.Server
	listener net.Listener

	mu       sync.Mutex
	changed  chan struct{} // closed and renewed when anything happens
	ended    chan struct{}
	now      func() time.Time
	lastTS   int64 // microseconds
	serial   int
	revoked  string // error of every call with the bot token, "" none
	scopes   []string
	people   map[string]*Person
	groups   map[string][]string
	rooms    map[string]*Room
	files    map[string]*File
	triggers map[string]time.Time
	hooks    map[string]hook // response URLs
	faults   map[string][]Fault
	calls    []Call
	status   map[string]string  // assistant status by conversation/thread
	uploads  map[string]*upload // by file id, until they are complete
	lie      lie                // what the workspace is wrong about

	tickets map[string]bool
	links   []*link
	opened  int // sockets ever
	most    int // at one time
	bad     int // frames from the client that are none of the protocol
	events  []*Event
	acks    []Ack
	refuse  bool // apps.connections.open answers, the socket is refused

	webhook string // http mode: where events are posted; "" socket mode
	// ResendAfter is how long an envelope waits for its acknowledgement before
	// it is sent again under a new id; Skew is added to the time that requests
	// of http mode are signed with; Ping is the pause between pings of a socket.
	// All are set before use.
	ResendAfter, Skew, Ping time.Duration
	// Patience is how often an event is sent before it is given up; 4 as Slack
	// does, more for a test whose weather is worse than Slack's.
	Patience int
}

// Person is a user of the workspace.
type Person struct{ ID, Name string }

// TB is what Start needs of *testing.T.
type TB interface {
	Helper()
	Fatal(args ...any)
	Cleanup(func())
}

// Start serves a workspace until the test ends.
func Start(t TB) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Listen serves a workspace at an address of this machine.
func Listen(addr string) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &Server{
		URL: "http://" + l.Addr().String(), listener: l,
		changed: make(chan struct{}), ended: make(chan struct{}), now: time.Now,
		scopes: slices.Clone(AllScopes),
		people: map[string]*Person{
			Alice: {Alice, "Alice"}, Bob: {Bob, "Bob"}, BotUser: {BotUser, "Standin"},
		},
		groups: map[string][]string{"S0BOTS": {BotUser}, "S0PEOPLE": {Alice, Bob}},
		rooms: map[string]*Room{
			DM:        {ID: DM, Kind: "im", Members: []string{Alice, BotUser}},
			General:   {ID: General, Kind: "channel", Members: []string{Alice, Bob, BotUser}},
			Trio:      {ID: Trio, Kind: "mpim", Members: []string{Alice, Bob, BotUser}},
			"C0OTHER": {ID: "C0OTHER", Kind: "channel", Members: []string{Alice}},
		},
		files: map[string]*File{}, uploads: map[string]*upload{}, triggers: map[string]time.Time{}, hooks: map[string]hook{},
		faults: map[string][]Fault{}, status: map[string]string{}, tickets: map[string]bool{},
		ResendAfter: 3 * time.Second, Ping: 2 * time.Second, Patience: maxAttempts,
	}
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

// Close ends the workspace and cuts every connection.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.ended:
	default:
		close(s.ended)
	}
	links := slices.Clone(s.links)
	s.mu.Unlock()
	for _, l := range links {
		_ = l.conn.Close()
	}
	_ = s.http.Close()
}

// API gives the base URL of the Web API.
func (s *Server) API() string { return s.URL + "/api/" }

// Await waits until ok holds; it is asked again after everything that happens.
// It reports false when ctx ends first.
func (s *Server) Await(ctx context.Context, ok func() bool) bool {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if ok() {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ok()
		}
	}
}

// stirLocked tells those who Await that something happened.
func (s *Server) stirLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// tsLocked makes the next message id: the time in microseconds, never the same
// twice.
func (s *Server) tsLocked() string {
	us := max(s.now().UnixMicro(), s.lastTS+1)
	s.lastTS = us
	return fmt.Sprintf("%d.%06d", us/1e6, us%1e6)
}

func (s *Server) serialLocked(prefix string) string {
	s.serial++
	return fmt.Sprintf("%s%06d", prefix, s.serial)
}

// SetNow makes the workspace's clock; times of messages and signatures follow it.
func (s *Server) SetNow(now func() time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// Revoke makes every call with the bot or app token fail with a code, such as
// invalid_auth; "" lets them through again.
func (s *Server) Revoke(code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = code
}

// Grant sets the scopes of the bot token.
func (s *Server) Grant(scopes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scopes = scopes
}

// Fault is what one call of a method meets.
type Fault struct {
	Code       string        // answer with ok false and this error
	Status     int           // or with this HTTP status
	RetryAfter string        // header of a 429
	Body       string        // with Status, or with 200 when Status is 0: the body as it is
	Applied    bool          // the call has its effect all the same
	Cut        bool          // the connection is cut instead of an answer
	Delay      time.Duration // before anything else
}

// instead tells whether the fault takes the place of the call's own answer.
func (f Fault) instead() bool { return f.Code != "" || f.Status != 0 || f.Body != "" || f.Cut }

// Fail makes the next calls of a method, such as chat.postMessage, meet faults.
func (s *Server) Fail(method string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

// Call is one request to the Web API.
type Call struct {
	Method string
	Form   map[string]string // its arguments, without the token
	Error  string            // what it was answered with, "" ok
	At     time.Time
}

// Calls gives the requests of a method so far, "" all.
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Call
	for _, c := range s.calls {
		if method == "" || c.Method == method {
			all = append(all, c)
		}
	}
	return all
}
