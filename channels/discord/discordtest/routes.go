package discordtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"unicode/utf8"
)

// filesHeader carries a request's stored files to its handler, as JSON.
const filesHeader = "X-Fake-Files"

func filesOf(r *http.Request) (files []Attachment) {
	_ = json.Unmarshal([]byte(r.Header.Get(filesHeader)), &files)
	return files
}

// routes are the calls that are understood. Others are 404 with code 0, as
// Discord's own.
func (s *Server) routes() {
	s.mux = http.NewServeMux()
	for pattern, handle := range map[string]http.HandlerFunc{
		"GET /gateway":                                        s.getGateway,
		"GET /gateway/bot":                                    s.getGatewayBot,
		"GET /users/@me":                                      func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, s.Bot.wire()) },
		"GET /users/@me/guilds":                               s.getGuilds,
		"POST /users/@me/channels":                            s.openDM,
		"GET /applications/@me":                               s.getApplication,
		"GET /oauth2/applications/@me":                        s.getApplication,
		"GET /channels/{c}":                                   s.getChannel,
		"PATCH /channels/{c}":                                 s.patchChannel,
		"GET /channels/{c}/messages":                          s.getMessages,
		"POST /channels/{c}/messages":                         s.createMessage,
		"POST /channels/{c}/typing":                           s.typing,
		"POST /channels/{c}/threads":                          s.createPost,
		"GET /channels/{c}/messages/{m}":                      s.getMessage,
		"PATCH /channels/{c}/messages/{m}":                    s.editMessage,
		"DELETE /channels/{c}/messages/{m}":                   s.deleteMessage,
		"POST /channels/{c}/messages/{m}/threads":             s.createThread,
		"PUT /channels/{c}/messages/{m}/reactions/{e}/@me":    s.react,
		"DELETE /channels/{c}/messages/{m}/reactions/{e}/@me": s.unreact,
		"GET /guilds/{g}/members/{u}":                         s.getMember,
		"GET /applications/{a}/commands":                      s.getCommands,
		"PUT /applications/{a}/commands":                      s.putCommands,
		"GET /applications/{a}/guilds/{g}/commands":           s.getCommands,
		"PUT /applications/{a}/guilds/{g}/commands":           s.putCommands,
		"POST /interactions/{i}/{t}/callback":                 s.callback,
		"POST /webhooks/{a}/{t}":                              s.followUp,
		"GET /webhooks/{a}/{t}/messages/{m}":                  s.hookMessage,
		"PATCH /webhooks/{a}/{t}/messages/{m}":                s.editHookMessage,
		"DELETE /webhooks/{a}/{t}/messages/{m}":               s.deleteHookMessage,
	} {
		s.mux.HandleFunc(pattern, handle)
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fail(w, 404, 0, "404: Not Found") })
}

func (s *Server) getGateway(w http.ResponseWriter, _ *http.Request) {
	reply(w, 200, map[string]any{"url": s.socketURL()})
}

func (s *Server) getGatewayBot(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	left := s.starts
	s.mu.Unlock()
	reply(w, 200, map[string]any{"url": s.socketURL(), "shards": 1, "session_start_limit": map[string]any{
		"total": s.opt.Sessions, "remaining": left, "reset_after": 3600_000, "max_concurrency": 1,
	}})
}

func (s *Server) getApplication(w http.ResponseWriter, _ *http.Request) {
	flags := 0
	for intent, flag := range map[int]int{intentPresences: 1 << 13, intentMembers: 1 << 15, intentMessageContent: 1 << 19} {
		if s.privileged()&intent != 0 {
			flags |= flag
		}
	}
	reply(w, 200, map[string]any{"id": s.Application(), "name": s.Bot.Name, "flags": flags, "bot_public": true, "verify_key": "00", "description": "", "summary": ""})
}

func (s *Server) getGuilds(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []any{}
	for _, g := range s.guilds {
		all = append(all, map[string]any{"id": g.ID, "name": g.Name, "owner": false, "permissions": "0", "features": []any{}})
	}
	reply(w, 200, all)
}

func (s *Server) openDM(w http.ResponseWriter, r *http.Request) {
	var d struct {
		RecipientID string `json:"recipient_id"`
	}
	_ = json.NewDecoder(r.Body).Decode(&d)
	s.mu.Lock()
	u := s.users[d.RecipientID]
	s.mu.Unlock()
	if u == nil {
		invalid(w, "recipient_id", "BASE_TYPE_BAD", "unknown user")
		return
	}
	reply(w, 200, s.DM(*u).wire())
}

// channel finds the path's channel.
func (s *Server) channel(w http.ResponseWriter, r *http.Request) *Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[r.PathValue("c")]
	if c == nil {
		fail(w, 404, 10003, "Unknown Channel")
	}
	return c
}

// message finds the path's message.
func (s *Server) message(w http.ResponseWriter, r *http.Request) *Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.findLocked(r.PathValue("c"), r.PathValue("m"))
	if m == nil || m.OnlyFor != "" {
		fail(w, 404, 10008, "Unknown Message")
		return nil
	}
	return m
}

func (s *Server) getChannel(w http.ResponseWriter, r *http.Request) {
	if c := s.channel(w, r); c != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		reply(w, 200, c.wire())
	}
}

func (s *Server) patchChannel(w http.ResponseWriter, r *http.Request) {
	c := s.channel(w, r)
	if c == nil {
		return
	}
	var d struct{ Archived *bool }
	_ = json.NewDecoder(r.Body).Decode(&d)
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.Archived != nil {
		c.Archived = *d.Archived
	}
	reply(w, 200, c.wire())
}

func (s *Server) typing(w http.ResponseWriter, r *http.Request) {
	if s.channel(w, r) != nil {
		reply(w, 204, nil)
	}
}

// createThread opens a thread under a message; its id is the message's.
func (s *Server) createThread(w http.ResponseWriter, r *http.Request) {
	m := s.message(w, r)
	if m == nil {
		return
	}
	var d struct{ Name string }
	if json.NewDecoder(r.Body).Decode(&d) != nil || d.Name == "" || utf8.RuneCountInString(d.Name) > 100 {
		invalid(w, "name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
		return
	}
	s.mu.Lock()
	_, there := s.channels[m.ID]
	s.mu.Unlock()
	if there {
		fail(w, 400, 160004, "A thread has already been created for this message")
		return
	}
	c := s.addChannel(&Channel{ID: m.ID, Name: d.Name, Type: TypeThread, Guild: m.Guild, Parent: m.Channel, Owner: s.Bot.ID}, "THREAD_CREATE")
	s.mu.Lock()
	defer s.mu.Unlock()
	reply(w, 201, c.wire())
}

// createPost opens a post in a forum.
func (s *Server) createPost(w http.ResponseWriter, r *http.Request) {
	c := s.channel(w, r)
	if c == nil {
		return
	}
	var d struct {
		Name    string
		Message *draft
	}
	if json.NewDecoder(r.Body).Decode(&d) != nil || d.Name == "" || utf8.RuneCountInString(d.Name) > 100 || c.Type != TypeForum || d.Message == nil {
		invalid(w, "name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
		return
	}
	if !d.Message.check(w, 0) {
		return
	}
	post := s.addChannel(&Channel{Name: d.Name, Type: TypeThread, Guild: c.Guild, Parent: c.ID, Owner: s.Bot.ID}, "THREAD_CREATE")
	m := s.Post(Message{ID: post.ID, Channel: post.ID, Author: s.Bot, Content: d.Message.Content})
	s.mu.Lock()
	defer s.mu.Unlock()
	wire := post.wire()
	wire["message"] = s.messageLocked(m, s.privileged(), false)
	reply(w, 201, wire)
}

func (s *Server) react(w http.ResponseWriter, r *http.Request)   { s.setReaction(w, r, true) }
func (s *Server) unreact(w http.ResponseWriter, r *http.Request) { s.setReaction(w, r, false) }

func (s *Server) setReaction(w http.ResponseWriter, r *http.Request, on bool) {
	m := s.message(w, r)
	if m == nil {
		return
	}
	emoji, err := url.PathUnescape(r.PathValue("e"))
	if err != nil || len(emoji) < 3 {
		fail(w, 400, 10014, "Unknown Emoji")
		return
	}
	s.mu.Lock()
	key := m.Channel + "/" + m.ID
	if s.reactions[key] == nil {
		s.reactions[key] = map[string]bool{}
	}
	s.reactions[key][emoji] = on
	s.stirLocked()
	s.mu.Unlock()
	reply(w, 204, nil)
}

func (s *Server) getMember(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[r.PathValue("u")]
	if u == nil {
		fail(w, 404, 10007, "Unknown Member")
		return
	}
	member := s.memberLocked(u.ID)
	member["user"] = u.wire()
	reply(w, 200, member)
}
