// Package discordtest is a small stand-in of Discord on this machine: enough of
// the REST API and of the gateway to run a bot against it over real sockets, with
// people who write, click and use commands, and with the faults that Discord has.
// It knows nothing of standin; official clients of other languages work against
// it too, which keeps it honest (cmd/discordfake).
//
// people.go has what people do, gateway.go and session.go the socket, rest*.go
// the API, faults.go what can go wrong, journal.go what was seen. Rules of
// Discord's are kept as far as a bot can notice: who gets which event, which text
// is blanked, what a nonce is good for, how long an interaction can be answered.
package discordtest

import (
	"encoding/base64"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Options are what a Server is made with. The zero value is a good server.
type Options struct {
	Listen   string                                            // address, "" 127.0.0.1:0
	Token    string                                            // the bot's, "" one is made up
	Interval time.Duration                                     // of heartbeats, 0: 41.25 s
	Now      func() time.Time                                  // nil: time.Now
	Intents  int                                               // privileged intents that are switched on, 0: all; -1: none
	Sessions int                                               // how many IDENTIFYs are allowed, 0: 1000
	Limits   func(route string) (calls int, per time.Duration) // rate limit of a route, nil: none
}

// Server is one fake Discord with one bot. Its methods may be called from many
// goroutines.
type Server struct {
	URL   string // base of the API, with its version
	Token string // the bot's
	Bot   User

	opt  Options
	http *http.Server
	mux  *http.ServeMux

	mu        sync.Mutex
	lastID    uint64
	users     map[string]*User
	guilds    map[string]*Guild
	channels  map[string]*Channel
	messages  map[string][]*Message // by channel, oldest first
	nonces    map[string]*Message
	reactions map[string]map[string]bool // "channel/message/emoji" of the bot
	commands  map[string][]map[string]any
	actions   map[string]*Interaction // by token
	files     map[string][]byte
	sessions  map[string]*session
	links     map[*link]bool
	starts    int // IDENTIFYs that are left
	faults    []*Fault
	gateway   gatewayFaults
	lie       lie
	buckets   map[string]*bucket
	journal   []Entry
	changed   chan struct{}
	emitting  sync.Mutex // of events, in order
	closed    bool
	done      sync.WaitGroup
}

// User is a person or a bot.
type User struct {
	ID, Name string
	IsBot    bool
	Roles    []string
}

// Start runs a server for a test.
func Start(t testing.TB) *Server { return StartWith(t, Options{}) }

// StartWith runs a server of another make for a test.
func StartWith(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// New runs a server until Close.
func New(o Options) (*Server, error) {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Interval == 0 {
		o.Interval = 41250 * time.Millisecond
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sessions == 0 {
		o.Sessions = 1000
	}
	s := &Server{
		opt: o, users: map[string]*User{}, guilds: map[string]*Guild{}, channels: map[string]*Channel{},
		messages: map[string][]*Message{}, nonces: map[string]*Message{}, reactions: map[string]map[string]bool{},
		commands: map[string][]map[string]any{}, actions: map[string]*Interaction{}, files: map[string][]byte{},
		sessions: map[string]*session{}, links: map[*link]bool{}, buckets: map[string]*bucket{},
		starts: o.Sessions, changed: make(chan struct{}),
	}
	s.Bot = User{ID: s.newID(), Name: "standin", IsBot: true}
	s.users[s.Bot.ID] = &s.Bot
	if s.Token = o.Token; s.Token == "" {
		s.Token = base64.RawStdEncoding.EncodeToString([]byte(s.Bot.ID)) + ".fakest.0123456789abcdefghijklmnopqrstuvwxyz"
	}
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, err
	}
	s.URL = "http://" + l.Addr().String() + "/api/v10"
	s.routes()
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second}
	s.done.Go(func() { _ = s.http.Serve(l) })
	return s, nil
}

// Close ends the server and all connections.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	links := s.links
	s.links = map[*link]bool{}
	s.mu.Unlock()
	for l := range links {
		l.cut()
	}
	_ = s.http.Close()
	s.done.Wait()
}

// Application is the bot's application id; it is the bot's own id, as it is for
// bots of today.
func (s *Server) Application() string { return s.Bot.ID }

// discordEpoch is the first millisecond of Discord's ids.
const discordEpoch = 1420070400000

// newID gives an id of now that is larger than all before it.
func (s *Server) newID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newIDLocked()
}

func (s *Server) newIDLocked() string {
	id := uint64(s.opt.Now().UnixMilli()-discordEpoch) << 22
	s.lastID = max(s.lastID+1, id)
	return strconv.FormatUint(s.lastID, 10)
}

// idTime reads the time out of an id.
func idTime(id string) time.Time {
	n, _ := strconv.ParseUint(id, 10, 64)
	return time.UnixMilli(int64(n>>22) + discordEpoch).UTC()
}
