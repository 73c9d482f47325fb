package discordtest

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Entry is one thing that the server saw or did.
type Entry struct {
	At   time.Time
	What string // see the constants
	Text string // of REST: method and path with its status; of the gateway: opcode or code and details
	Body string // of REST: the request's JSON
}

// What an Entry tells.
const (
	REST      = "rest"      // a call to the API
	Identify  = "identify"  // a session was made
	Resume    = "resume"    // a session was asked for again
	Resumed   = "resumed"   // and given
	Heartbeat = "heartbeat" // of the client
	Presence  = "presence"  // of the bot, as the client wants it
	Connected = "connected" // a socket was opened
	Closed    = "closed"    // a socket was closed, by whom and with which code
	Broken    = "broken"    // the client broke a rule
)

func (s *Server) note(what, text, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteLocked(what, text, body)
}

func (s *Server) noteLocked(what, text, body string) {
	s.journal = append(s.journal, Entry{At: s.opt.Now(), What: what, Text: text, Body: body})
	s.stirLocked()
}

// stirLocked wakes those who wait for something to change.
func (s *Server) stirLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Journal gives all entries so far.
func (s *Server) Journal() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Entry(nil), s.journal...)
}

// Count counts the entries of a kind whose text begins with prefix.
func (s *Server) Count(what, prefix string) int {
	n := 0
	for _, e := range s.Journal() {
		if e.What == what && strings.HasPrefix(e.Text, prefix) {
			n++
		}
	}
	return n
}

// Await waits until ok holds; it is looked at whenever something happens.
func (s *Server) Await(ctx context.Context, ok func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if ok() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("it did not come: %w", ctx.Err())
		}
	}
}

// AwaitReady waits until a client is connected and ready.
func (s *Server) AwaitReady(ctx context.Context) error {
	return s.Await(ctx, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for l := range s.links {
			if l.session != nil && l.session.live {
				return true
			}
		}
		return false
	})
}
