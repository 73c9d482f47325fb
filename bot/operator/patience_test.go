package operator

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/fallback"
)

// piped is a listener whose connections are made by hand.
type piped struct{ conns chan net.Conn }

func (p piped) Accept() (net.Conn, error) {
	c, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p piped) Close() error   { return nil }
func (p piped) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// local is a pipe that says it comes from this machine.
type local struct{ net.Conn }

func (local) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 50000} }

// slowBeat is a heartbeat whose model takes a minute.
type slowBeat struct{ Beats }

func (slowBeat) Beat(ctx context.Context, _ fallback.AgentID, _ bool) (Beaten, error) {
	select {
	case <-ctx.Done():
		return Beaten{}, ctx.Err()
	case <-time.After(time.Minute):
		return Beaten{Status: "ran", Says: "It ran."}, nil
	}
}

// The time in which a request must have arrived is not the time in which it must
// be answered: events are listened to for hours, and a model may take a minute.
func TestALongAnswerIsNotCutShort(t *testing.T) {
	for name, ask := range map[string]struct{ request, want string }{
		"events":    {"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n", "event: changed"},
		"heartbeat": {"POST /api/v1/heartbeats/main/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", `"says":"It ran."`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, func(o *Options) { o.Beats = slowBeat{} })
				l := piped{make(chan net.Conn, 1)}
				s := &http.Server{Handler: h.Handler(), ReadHeaderTimeout: 10 * time.Second}
				go func() { _ = s.Serve(l) }()
				here, there := net.Pipe()
				l.conns <- local{there}
				if _, err := here.Write([]byte(ask.request)); err != nil {
					t.Fatal(err)
				}
				var said strings.Builder
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					for in := bufio.NewScanner(here); in.Scan(); {
						said.WriteString(in.Text() + "\n")
					}
				}()
				time.Sleep(2 * time.Minute) // the bubble's: eight times as long as a request may take
				h.changed("now", "")
				synctest.Wait()
				_ = here.Close()
				<-ended
				close(l.conns)
				_ = s.Close()
				synctest.Wait()
				if !strings.Contains(said.String(), ask.want) {
					t.Errorf("after two minutes it had said:\n%s", said.String())
				}
			})
		})
	}
}
