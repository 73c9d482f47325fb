package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack/socketmode"

	"standin/channels"
)

const (
	// writeBuffer holds any acknowledgement in one frame: Slack does not put
	// continuation frames together.
	writeBuffer = 32 << 10
	// maxFrame bounds what one frame from Slack may hold, in bytes.
	maxFrame = 16 << 20
	// freeReconnects may follow each other without a wait; then it backs off,
	// so that a network that cuts connections does not make a storm.
	freeReconnects = 3
)

// ended tells how a connection came to its end.
type ended struct {
	ready bool          // Slack had said hello
	lived time.Duration // since the hello
	err   error
}

// goodbye is a disconnect message of Slack's.
type goodbye struct{ reason string }

func (g goodbye) Error() string { return "slack asked to reconnect: " + g.reason }

// errQuiet replaces a socket that has brought nothing for long.
var errQuiet = errors.New("no event for long")

// runSocket keeps one socket open until ctx ends or Slack refuses the app
// token. There is never more than one: each is closed before the next is
// opened, and only this loop opens any.
func (c *Channel) runSocket(ctx context.Context) error {
	s := &socket{c: c}
	for failures := 0; ; {
		e := c.connection(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if fatal := asFatal(e.err); fatal != nil {
			return fatal
		}
		if e.ready && e.lived >= c.pace.stable || errors.Is(e.err, errQuiet) {
			failures = 0
		}
		wait := time.Duration(0)
		if !e.ready || failures >= freeReconnects {
			wait = max(backoff(c.pace, max(failures-freeReconnects*btoi(e.ready), 0)), retryAfter(e.err))
		}
		failures++
		reason := reasonOf(e.err)
		c.vitals.enter(channels.Reconnecting, reason, mendOf(reason))
		if e.ready || failures == 1 { // the rest of an outage is only told by Health
			c.log.Warn("slack socket ended, connecting again", "reason", reason, "lived", e.lived.Round(time.Millisecond), "wait", wait)
		}
		if channels.Sleep(ctx, wait) != nil {
			return ctx.Err()
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// mendOf says what helps against an end that is not fatal.
func mendOf(reason string) string {
	if reason == (goodbye{"link_disabled"}).Error() {
		return "switch Socket Mode on in the app's settings"
	}
	return ""
}

// backoff is the wait after the n-th failure in a row, from 0: longer by 1.8
// each time, with a quarter of jitter [SL3].
func backoff(p pace, n int) time.Duration {
	d := float64(p.first)
	for ; n > 0 && d < float64(p.longest); n-- {
		d *= 1.8
	}
	return time.Duration(min(d, float64(p.longest)) * (1 + 0.25*(2*rand.Float64()-1)))
}

// socket is the sending side: it outlives connections, so that an
// acknowledgement that finds none waits for the next.
type socket struct {
	c *Channel

	mu      sync.Mutex
	conn    *websocket.Conn // nil: none is ready
	waiting []lateAck
}

type lateAck struct {
	envelope string
	at       time.Time
}

// ack tells Slack that the envelope is safe with us. It never carries a
// payload: answers go over the Web API, where their fate is known.
func (s *socket) ack(envelope string) {
	if envelope == "" {
		return // nothing that Slack waits for
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ackLocked(lateAck{envelope, s.c.now()})
}

func (s *socket) ackLocked(a lateAck) {
	if s.conn != nil {
		frame, err := json.Marshal(socketmode.Response{EnvelopeID: a.envelope})
		if err == nil {
			_ = s.conn.SetWriteDeadline(time.Now().Add(s.c.pace.pong))
			err = s.conn.WriteMessage(websocket.TextMessage, frame)
		}
		if err == nil {
			return
		}
		_ = s.conn.Close() // its reader ends the connection
		s.conn = nil
	}
	s.waiting = append(s.waiting, a)
}

// use makes conn the one to write to and sends what waited, if Slack still
// expects it.
func (s *socket) use(conn *websocket.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = conn
	waiting := s.waiting
	s.waiting = nil
	for _, a := range waiting {
		if s.c.now().Sub(a.at) < s.c.pace.late {
			s.ackLocked(a)
		}
	}
}

func (s *socket) leave(conn *websocket.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == conn {
		s.conn = nil
	}
}

// connection opens one socket and reads it to its end. The socket is closed
// when it returns.
func (c *Channel) connection(ctx context.Context, s *socket) (e ended) {
	c.vitals.trying()
	conn, err := c.dial(ctx)
	if err != nil {
		return ended{err: err}
	}
	defer conn.Close()
	defer s.leave(conn)
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	c.vitals.frame()

	// Every frame, ours to answer or the answer to ours, is a sign of life.
	alive := func() {
		c.vitals.frame()
		_ = conn.SetReadDeadline(time.Now().Add(c.pace.pong))
	}
	_ = conn.SetReadDeadline(time.Now().Add(c.pace.hello))
	conn.SetReadLimit(maxFrame)
	conn.SetPongHandler(func(string) error { alive(); return nil })
	answer := conn.PingHandler()
	conn.SetPingHandler(func(data string) error { alive(); return answer(data) })

	var readyAt time.Time
	stop := make(chan struct{})
	defer close(stop)
	quiet := time.AfterFunc(c.pace.quiet, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer quiet.Stop()
	defer func() {
		if e.ready = !readyAt.IsZero(); e.ready {
			e.lived = c.now().Sub(readyAt)
		}
	}()
	lastEvent := time.Now()
	for {
		kind, frame, err := conn.ReadMessage()
		if err != nil {
			return ended{err: c.whyEnded(err, lastEvent)}
		}
		if kind != websocket.TextMessage {
			continue
		}
		var req socketmode.Request
		if err := json.Unmarshal(frame, &req); err != nil {
			// Unreadable is not broken: the next frame may be whole.
			alive()
			c.log.Warn("slack sent an unreadable frame", "bytes", len(frame))
			continue
		}
		alive()
		switch req.Type {
		case socketmode.RequestTypeHello:
			readyAt = c.now()
			if app := req.ConnectionInfo.AppID; app != "" {
				id := *c.self.Load()
				id.App = app
				c.self.Store(&id)
			}
			c.vitals.enter(channels.Ready, "", "")
			c.log.Info("slack socket is ready", "connections", req.NumConnections)
			s.use(conn)
			go pinger(conn, c.pace.ping, stop)
		case socketmode.RequestTypeDisconnect:
			return ended{err: goodbye{req.Reason}}
		default:
			lastEvent = time.Now()
			quiet.Reset(c.pace.quiet)
			c.vitals.event()
			c.take(delivery{kind: req.Type, payload: req.Payload, ack: func() { s.ack(req.EnvelopeID) }})
		}
	}
}

// pinger asks for signs of life, also where a proxy cuts idle connections.
func pinger(conn *websocket.Conn, every time.Duration, stop <-chan struct{}) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			// A ping that cannot be written shows as a read error soon enough.
			_ = conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(every))
		case <-stop:
			return
		}
	}
}

// whyEnded reads the reading error of a connection; a socket that fell silent
// is stale until the next one stands.
func (c *Channel) whyEnded(err error, lastEvent time.Time) error {
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		return err
	}
	if time.Since(lastEvent) >= c.pace.quiet {
		return errQuiet
	}
	silent := c.vitals.silence().Round(time.Millisecond)
	c.vitals.enter(channels.Stale, "no frame for "+silent.String(), "")
	c.log.Warn("slack socket is silent, replacing it", "silent", silent)
	return fmt.Errorf("no frame for %s", silent)
}

// dial asks Slack for a ticket and opens the socket that it names.
func (c *Channel) dial(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.pace.call)
	defer cancel()
	address, err := c.ticket(ctx)
	if err != nil {
		return nil, err
	}
	d := &websocket.Dialer{
		Proxy:            onlySafe,
		HandshakeTimeout: c.pace.call,
		WriteBufferSize:  writeBuffer,
	}
	conn, resp, err := d.DialContext(ctx, address, http.Header{"Origin": {"https://api.slack.com"}})
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		if resp != nil {
			return nil, fmt.Errorf("open the socket: HTTP %d: %w", resp.StatusCode, err)
		}
		return nil, fmt.Errorf("open the socket: %w", err)
	}
	return conn, nil
}

// ticket asks for the address of a socket; it opens one, once.
func (c *Channel) ticket(ctx context.Context) (address string, err error) {
	_, address, err = c.api.StartSocketModeContext(ctx)
	if err != nil {
		return "", fmt.Errorf("apps.connections.open: %w", err)
	}
	return address, nil
}

// onlySafe finds the proxy of a dial and refuses a socket in the clear to
// another machine [D24].
func onlySafe(r *http.Request) (*url.URL, error) {
	if r.URL.Scheme != "https" && !channels.IsLoopback(r.URL.Hostname()) {
		return nil, errors.New("slack named a socket without TLS")
	}
	return http.ProxyFromEnvironment(r)
}
