package discord

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"standin/channels"
)

// link is one connection to the gateway. Nothing on it can block for longer than
// pace.write, whatever the other side does [IL-104].
type link struct {
	ws   *websocket.Conn
	pace pace

	writing sync.Mutex
	closing sync.Once
	begun   bool
	pulsing sync.WaitGroup

	acked   atomic.Bool  // the last heartbeat was answered
	up      atomic.Bool  // READY or RESUMED came
	touched atomic.Int64 // time of the last event, ns
	seq     atomic.Int64 // of the last event that was read, for heartbeats; 0 none
}

// maxFrame bounds a frame of the gateway, in bytes: READY of a bot in many servers is large.
const maxFrame = 64 << 20

// Close codes of our own: 1000 ends the session, any other keeps it.
const (
	closeForGood = websocket.CloseNormalClosure
	closeToCome  = 4900
)

// dial connects; the connection ends when ctx does: for good when life, the
// daemon's own, is over too, and the bot is to look offline at once.
func (g *gateway) dial(life, ctx context.Context, address string) (*link, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("an address that is no URL")
	}
	u.Scheme = strings.Replace(u.Scheme, "http", "ws", 1)
	u.RawQuery = url.Values{"v": {"10"}, "encoding": {"json"}}.Encode()
	if u.Path == "" {
		u.Path = "/"
	}
	d := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: g.pace.firstReady}
	ws, resp, err := d.DialContext(ctx, u.String(), nil)
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(maxFrame)
	ws.SetCloseHandler(func(int, string) error { return nil }) // we answer with our own close, in close
	l := &link{ws: ws, pace: g.pace}
	l.touched.Store(g.now().UnixNano())
	l.seq.Store(g.session.seq)
	context.AfterFunc(ctx, func() {
		if life.Err() != nil {
			l.close(closeForGood)
		}
		l.close(closeToCome)
	})
	return l, nil
}

// begin marks the greeting; false when it was there before.
func (l *link) begin() bool {
	if l.begun {
		return false
	}
	l.begun = true
	l.pulsing.Add(1)
	return true
}

// read gives the next packet. Frames that are not JSON are passed over, but not
// for ever.
func (l *link) read() (packet, error) {
	for range 100 {
		_, frame, err := l.ws.ReadMessage()
		if err != nil {
			return packet{}, err
		}
		var p packet
		if json.Unmarshal(frame, &p) != nil {
			continue
		}
		if p.Seq != nil {
			l.seq.Store(*p.Seq)
		}
		return p, nil
	}
	return packet{}, errors.New("nothing but garbage")
}

// send writes one packet.
func (l *link) send(v any) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.ws.SetWriteDeadline(time.Now().Add(l.pace.write)); err != nil {
		return err
	}
	return l.ws.WriteJSON(v)
}

// beat sends a heartbeat.
func (l *link) beat(seq int64) error {
	if seq == 0 {
		return l.send(map[string]any{"op": opHeartbeat, "d": nil})
	}
	return l.send(map[string]any{"op": opHeartbeat, "d": seq})
}

// close says goodbye, if the other side takes it in time, and cuts the line. Only
// the first call does anything; the others wait for it.
func (l *link) close(code int) {
	l.closing.Do(func() {
		_ = l.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(l.pace.write/5))
		_ = l.ws.Close()
	})
}

// closeCode reads the close code out of a read error.
func closeCode(err error) (int, bool) {
	var ce *websocket.CloseError
	if errors.As(err, &ce) && ce.Code != websocket.CloseNoStatusReceived && ce.Code != websocket.CloseAbnormalClosure {
		return ce.Code, true
	}
	return 0, false
}

// bareToken is the token without the word that REST puts in front of it.
func bareToken(t channels.Secret) string { return strings.TrimPrefix(t.Reveal(), "Bot ") }
