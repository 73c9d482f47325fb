package discordtest

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// client is a client of the gateway that does nothing by itself.
type client struct {
	t  *testing.T
	ws *websocket.Conn
}

func dial(t *testing.T, s *Server, query string) *client {
	t.Helper()
	ws, _, err := websocket.DefaultDialer.Dial(s.socketURL()+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	_ = ws.SetReadDeadline(time.Now().Add(5 * time.Second))
	return &client{t, ws}
}

type frame struct {
	Op int
	S  *int
	T  string
	D  json.RawMessage
}

func (c *client) read() frame {
	c.t.Helper()
	var f frame
	if err := c.ws.ReadJSON(&f); err != nil {
		c.t.Fatal(err)
	}
	return f
}

// until reads on to an event.
func (c *client) until(event string) frame {
	c.t.Helper()
	for {
		if f := c.read(); f.T == event {
			return f
		}
	}
}

// closed reads on to the close and gives its code.
func (c *client) closed() int {
	c.t.Helper()
	for {
		_, _, err := c.ws.ReadMessage()
		if ce, ok := err.(*websocket.CloseError); ok {
			return ce.Code
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *client) send(op int, d any) {
	_ = c.ws.WriteJSON(map[string]any{"op": op, "d": d})
}

func (c *client) identify(token string, intents int) {
	c.send(2, map[string]any{"token": token, "intents": intents, "properties": map[string]any{"os": "x"}})
}

const allIntents = intentGuilds | intentGuildMessages | intentDirectMessages | intentMessageContent

// What a client must not do has its close code.
func TestRulesOfTheGateway(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(s *Server, c *client)
		code int
	}{
		{"a wrong token", func(_ *Server, c *client) { c.identify("wrong", allIntents) }, 4004},
		{"intents that are none", func(s *Server, c *client) { c.identify(s.Token, 1<<30) }, 4013},
		{"IDENTIFY twice", func(s *Server, c *client) { c.identify(s.Token, allIntents); c.identify(s.Token, allIntents) }, 4005},
		{"a presence before IDENTIFY", func(_ *Server, c *client) { c.send(3, map[string]any{}) }, 4003},
		{"an unknown opcode", func(_ *Server, c *client) { c.send(42, nil) }, 4001},
		{"a frame that is no JSON", func(_ *Server, c *client) { _ = c.ws.WriteMessage(websocket.TextMessage, []byte("x")) }, 4002},
		{"121 sends in a minute", func(s *Server, c *client) {
			c.identify(s.Token, allIntents)
			for range maxSends {
				c.send(1, nil)
			}
		}, 4008},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Start(t)
			cl := dial(t, s, "")
			c.do(s, cl)
			if code := cl.closed(); code != c.code {
				t.Errorf("closed with %d, want %d", code, c.code)
			}
		})
	}
	t.Run("an intent that is switched off", func(t *testing.T) {
		s := StartWith(t, Options{Intents: -1})
		cl := dial(t, s, "")
		cl.identify(s.Token, allIntents)
		if code := cl.closed(); code != 4014 {
			t.Errorf("closed with %d", code)
		}
	})
}

// RESUME gives what was missed, numbered as before, and RESUMED behind it; a
// number that was never given out is refused, a session that was closed for good
// is gone.
func TestResume(t *testing.T) {
	s := Start(t)
	room := s.NewGuild("guild").NewChannel("general")
	alice := s.Person("alice")
	first := dial(t, s, "")
	first.identify(s.Token, allIntents)
	ready := first.until("READY")
	var session struct {
		ID string `json:"session_id"`
	}
	_ = json.Unmarshal(ready.D, &session)
	last := *first.until("GUILD_CREATE").S
	s.Drop()
	s.Say(alice, room, "one")
	s.Say(alice, room, "two")

	resume := func(seq int) *client {
		c := dial(t, s, "")
		c.send(6, map[string]any{"token": s.Token, "session_id": session.ID, "seq": seq})
		return c
	}
	second := resume(last)
	for i := range 2 {
		if f := second.until("MESSAGE_CREATE"); *f.S != last+1+i {
			t.Errorf("number %d, want %d", *f.S, last+1+i)
		}
	}
	second.until("RESUMED")
	if code := resume(9999).closed(); code != 4007 {
		t.Errorf("closed with %d", code)
	}
	third := resume(last)
	if third.read(); third.read().Op != 9 {
		t.Error("a session that ended was resumed")
	}
}

// A client that asks for zlib-stream gets one stream over all frames.
func TestZlibStream(t *testing.T) {
	s := Start(t)
	c := dial(t, s, "?v=10&encoding=json&compress=zlib-stream")
	c.identify(s.Token, allIntents)
	pipe, feed := io.Pipe()
	go func() {
		for {
			_, data, err := c.ws.ReadMessage()
			if err != nil {
				_ = feed.CloseWithError(err)
				return
			}
			if !bytes.HasSuffix(data, []byte{0, 0, 0xff, 0xff}) {
				t.Errorf("a frame without its sync marker")
			}
			_, _ = feed.Write(data)
		}
	}()
	z, err := zlib.NewReader(pipe)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(z); ; {
		var f frame
		if err := d.Decode(&f); err != nil {
			t.Fatal(err)
		}
		if f.T == "READY" {
			return
		}
	}
}

// Without the intent for contents a text is blank, unless it is for the bot.
func TestContentIsBlanked(t *testing.T) {
	s := Start(t)
	room := s.NewGuild("guild").NewChannel("general")
	alice := s.Person("alice")
	c := dial(t, s, "")
	c.identify(s.Token, allIntents&^intentMessageContent)
	c.until("GUILD_CREATE")
	s.Say(alice, room, "hidden")
	s.Say(alice, room, s.Bot.Mention()+" seen")
	s.Say(alice, s.DM(alice), "private")
	for _, want := range []string{"", s.Bot.Mention() + " seen", "private"} {
		var m struct{ Content string }
		_ = json.Unmarshal(c.until("MESSAGE_CREATE").D, &m)
		if m.Content != want {
			t.Errorf("content %q, want %q", m.Content, want)
		}
	}
}

// Calls are held to Discord's rules, with its codes.
func TestRulesOfTheAPI(t *testing.T) {
	s := Start(t)
	room := s.NewGuild("guild").NewChannel("general")
	alice := s.Person("alice")
	asked := s.Say(alice, room, "question")
	do := func(method, path, body string) (int, string) {
		req, _ := http.NewRequest(method, s.URL+path, strings.NewReader(body))
		req.Header.Set("Authorization", "Bot "+s.Token)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		data, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(data)
	}
	messages := "/channels/" + room.ID + "/messages"
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		says                     string
	}{
		{"2001 characters", "POST", messages, `{"content":"` + strings.Repeat("x", 2001) + `"}`, 400, `"content":{"_errors":`},
		{"nothing", "POST", messages, `{"content":"  "}`, 400, `50006`},
		{"a nonce of 26", "POST", messages, `{"content":"x","nonce":"` + strings.Repeat("n", 26) + `"}`, 400, `50035`},
		{"an unknown reference", "POST", messages, `{"content":"x","message_reference":{"message_id":"1"}}`, 400, `message_reference`},
		{"an unknown channel", "POST", "/channels/1/messages", `{"content":"x"}`, 404, `10003`},
		{"an unknown message", "PATCH", messages + "/1", `{"content":"x"}`, 404, `10008`},
		{"somebody else's message", "PATCH", messages + "/" + asked.ID, `{"content":"x"}`, 403, `50005`},
		{"a thread", "POST", messages + "/" + asked.ID + "/threads", `{"name":"n"}`, 201, `"id":"` + asked.ID + `"`},
		{"a second thread", "POST", messages + "/" + asked.ID + "/threads", `{"name":"n"}`, 400, `160004`},
		{"an unknown interaction", "POST", "/interactions/1/x/callback", `{"type":5}`, 404, `10062`},
		{"an unknown call", "GET", "/nothing", ``, 404, `404: Not Found`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if status, text := do(c.method, c.path, c.body); status != c.status || !strings.Contains(text, c.says) {
				t.Errorf("gave %d %s", status, text)
			}
		})
	}
	it := s.Slash(alice, room, "status", "")
	callback := "/interactions/" + it.ID + "/" + it.Token + "/callback"
	if status, _ := do("POST", callback, `{"type":5,"data":{"flags":64}}`); status != 204 {
		t.Errorf("the first answer gave %d", status)
	}
	if _, text := do("POST", callback, `{"type":5}`); !strings.Contains(text, "40060") {
		t.Errorf("the second answer gave %s", text)
	}
}

// An interaction waits three seconds for its first answer and a quarter of an
// hour for the others; a nonce is good for a few minutes.
func TestClocks(t *testing.T) {
	now := make(chan time.Time, 1)
	now <- time.Now()
	s := StartWith(t, Options{Now: func() time.Time { n := <-now; now <- n; return n }})
	pass := func(d time.Duration) { n := <-now; now <- n.Add(d) }
	room := s.NewGuild("guild").NewChannel("general")
	alice := s.Person("alice")
	post := func(path, body string) string {
		req, _ := http.NewRequest("POST", s.URL+path, strings.NewReader(body))
		req.Header.Set("Authorization", "Bot "+s.Token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		data, _ := io.ReadAll(resp.Body)
		return string(data)
	}
	late := s.Slash(alice, room, "a", "")
	pass(4 * time.Second)
	if text := post("/interactions/"+late.ID+"/"+late.Token+"/callback", `{"type":5}`); !strings.Contains(text, "10062") {
		t.Errorf("after 4 s: %s", text)
	}
	it := s.Slash(alice, room, "a", "")
	post("/interactions/"+it.ID+"/"+it.Token+"/callback", `{"type":5}`)
	pass(16 * time.Minute)
	if text := post("/webhooks/"+s.Application()+"/"+it.Token, `{"content":"x"}`); !strings.Contains(text, "50027") {
		t.Errorf("after 16 min: %s", text)
	}
	body := `{"content":"x","nonce":"n","enforce_nonce":true}`
	messages := "/channels/" + room.ID + "/messages"
	post(messages, body)
	post(messages, body)
	if n := len(s.Posts(room.ID)); n != 1 {
		t.Errorf("%d messages with one nonce", n)
	}
	pass(nonceLife + time.Second)
	post(messages, body)
	if n := len(s.Posts(room.ID)); n != 2 {
		t.Errorf("%d messages, the nonce long forgotten", n)
	}
}
