package discordtest

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Intents by their bits.
const (
	intentGuilds         = 1 << 0
	intentMembers        = 1 << 1
	intentPresences      = 1 << 8
	intentGuildMessages  = 1 << 9
	intentDirectMessages = 1 << 12
	intentMessageContent = 1 << 15
	intentPrivileged     = intentMembers | intentPresences | intentMessageContent
	intentKnown          = 1<<26 - 1
)

// session is what a client may resume: its events have numbers, and the last
// ones are kept.
type session struct {
	id      string
	intents int
	seq     int
	sent    []numbered // replay buffer
	link    *link      // the connection that it is on, nil none
	live    bool       // READY or RESUMED was sent on link
	ended   bool
}

type numbered struct {
	seq  int
	name string
	data json.RawMessage
}

// replay bounds the buffer.
const replay = 2000

// link is one socket.
type link struct {
	s       *Server
	ws      *websocket.Conn
	session *session
	wrong   func(*packet) bool // what the server lies about packets, nil nothing
	torn    bool               // compressed frames lack their end

	mu       sync.Mutex // of writing
	stream   *zlib.Writer
	packed   bytes.Buffer
	sends    []time.Time // of the client, in the last minute
	silenced bool
}

// packet is a frame of the gateway.
type packet struct {
	Op int `json:"op"`
	S  any `json:"s"`
	T  any `json:"t"`
	D  any `json:"d"`
}

// write sends a packet; numbered ones carry their number.
func (l *link) write(op int, seq any, name any, data any) {
	p := packet{op, seq, name, data}
	if wrong := l.wrong; wrong != nil && !wrong(&p) {
		return
	}
	frame, err := json.Marshal(p)
	if err != nil {
		panic(err) // a fault of the fake
	}
	l.raw(frame)
}

func (l *link) raw(frame []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.silenced {
		return
	}
	_ = l.ws.SetWriteDeadline(time.Now().Add(2 * time.Second))
	if l.stream == nil {
		_ = l.ws.WriteMessage(websocket.TextMessage, frame)
		return
	}
	l.packed.Reset()
	_, _ = l.stream.Write(frame)
	_ = l.stream.Flush() // each message ends with a sync marker
	packed := l.packed.Bytes()
	if l.torn {
		packed = packed[:len(packed)-1]
	}
	_ = l.ws.WriteMessage(websocket.BinaryMessage, packed)
}

// cut drops the socket without a word.
func (l *link) cut() { _ = l.ws.NetConn().Close() }

// close closes with a code.
func (l *link) close(code int) {
	_ = l.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
	time.AfterFunc(50*time.Millisecond, l.cut)
}

// emit tells every session whose intents ask for it of an event, on its
// connection and in its replay buffer.
func (s *Server) emit(name string, intent int, data func(intents int) any) {
	s.mu.Lock()
	var all []*session
	for _, ss := range s.sessions {
		if !ss.ended && (intent == 0 || ss.intents&intent != 0) {
			all = append(all, ss)
		}
	}
	s.mu.Unlock()
	for _, ss := range all {
		s.emitTo(ss, name, data(ss.intents))
	}
}

func (s *Server) emitTo(ss *session, name string, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	s.emitting.Lock() // events of one session go out in the order of their numbers
	defer s.emitting.Unlock()
	s.mu.Lock()
	ss.seq++
	ev := numbered{ss.seq, name, raw}
	if ss.sent = append(ss.sent, ev); len(ss.sent) > replay {
		ss.sent = ss.sent[1:]
	}
	var l *link
	if ss.live {
		l = ss.link
	}
	s.mu.Unlock()
	if l != nil {
		l.write(0, ev.seq, ev.name, ev.data)
	}
}
