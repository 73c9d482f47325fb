package discordtest

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Acts is the HTTP door through which another program acts.
type Acts struct {
	Addr string // where the door is

	s      *Server
	http   *http.Server
	guild  *Guild
	people map[string]User
	rooms  map[string]*Channel
	used   map[string]*Interaction
}

// order is the body of every act; each reads what it needs. People and rooms are
// meant by name and made when they are first named; the room dm is the chat of
// the bot with the person.
type order struct {
	User, Room, Text string
	Message          string // id of a message of the room: what is answered, clicked on
	Command          string
	CustomID, Value  string
	Interaction      string
	Code, N          int
	On               bool
	How              []string
	Fault            Fault
}

// Control opens a door at an address of this machine: POST /fake/say, reply,
// slash, click, choose, fail, drop, close, reconnect, invalidate,
// refuse-resumes, beat, limit-route, limit-all, and what came of them at /fake/state. Bodies and
// answers are JSON. A text may name the bot as @bot.
func Control(s *Server, addr string) (*Acts, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	a := &Acts{
		Addr: l.Addr().String(), s: s, guild: s.NewGuild("server"),
		people: map[string]User{}, rooms: map[string]*Channel{}, used: map[string]*Interaction{},
	}
	a.rooms["general"] = a.guild.NewChannel("general")
	acts := a.acts()
	var turn sync.Mutex // one act at a time
	mux := http.NewServeMux()
	mux.HandleFunc("POST /fake/{act}", func(w http.ResponseWriter, r *http.Request) {
		var o order
		act := acts[r.PathValue("act")]
		if err := json.NewDecoder(r.Body).Decode(&o); act == nil || err != nil {
			http.Error(w, "no such act, or its body is no JSON", http.StatusBadRequest)
			return
		}
		turn.Lock()
		defer turn.Unlock()
		reply(w, http.StatusOK, map[string]any{"result": act(o)})
	})
	a.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = a.http.Serve(l) }()
	return a, nil
}

// Close shuts the door.
func (a *Acts) Close() error { return a.http.Close() }

// Guild gives the id of the server that the rooms are in, Room the id of one.
func (a *Acts) Guild() string { return a.guild.ID }

// Room gives the id of a room of the server.
func (a *Acts) Room(name string) string { return a.room(User{}, name).ID }

func (a *Acts) person(name string) User {
	if _, ok := a.people[name]; !ok {
		a.people[name] = a.s.Person(name)
	}
	return a.people[name]
}

func (a *Acts) room(u User, name string) *Channel {
	if name == "dm" {
		return a.s.DM(u)
	}
	if a.rooms[name] == nil {
		a.rooms[name] = a.guild.NewChannel(name)
	}
	return a.rooms[name]
}

// place gives who acts where.
func (a *Acts) place(o order) (User, *Channel) {
	u := a.person(o.User)
	return u, a.room(u, o.Room)
}

// on gives the message that is acted on, nil if there is none.
func (a *Acts) on(o order) *Message {
	_, c := a.place(o)
	if m, ok := a.s.Find(c.ID, o.Message); ok {
		return &m
	}
	return nil
}

// keep remembers an interaction so that its state can be asked for.
func (a *Acts) keep(it *Interaction) string {
	a.used[it.ID] = it
	return it.ID
}

func (a *Acts) acts() map[string]func(order) any {
	s := a.s
	plain := func(f func()) func(order) any { return func(order) any { f(); return nil } }
	return map[string]func(order) any{
		"say": func(o order) any {
			u, c := a.place(o)
			return s.Say(u, c, strings.ReplaceAll(o.Text, "@bot", s.Bot.Mention())).ID
		},
		"reply": func(o order) any {
			if m := a.on(o); m != nil {
				return s.Reply(a.person(o.User), m, o.Text).ID
			}
			return nil
		},
		"slash": func(o order) any {
			u, c := a.place(o)
			return a.keep(s.Slash(u, c, o.Command, o.Text))
		},
		"click": func(o order) any {
			if m := a.on(o); m != nil {
				return a.keep(s.Click(a.person(o.User), m, o.CustomID))
			}
			return nil
		},
		"choose": func(o order) any {
			if m := a.on(o); m != nil {
				return a.keep(s.Choose(a.person(o.User), m, o.CustomID, o.Value))
			}
			return nil
		},
		"fail":           func(o order) any { s.Break(o.Fault); return nil },
		"limit-route":    func(o order) any { s.Break(Limited("", o.Text, time.Duration(o.N)*time.Millisecond)); return nil },
		"limit-all":      func(o order) any { s.Break(LimitedForAll(time.Duration(o.N) * time.Millisecond)); return nil },
		"drop":           plain(s.Drop),
		"reconnect":      plain(s.AskToReconnect),
		"beat":           plain(s.AskForHeartbeat),
		"invalidate":     func(o order) any { s.Invalidate(o.On); return nil },
		"close":          func(o order) any { s.Shut(o.Code); return nil },
		"refuse-resumes": func(o order) any { s.RefuseResumes(o.How...); return nil },
		"state": func(o order) any {
			out := map[string]any{"journal": s.Journal()}
			if o.Room != "" {
				u, c := a.place(o)
				out["posts"], out["private"] = s.Posts(c.ID), s.SeenOnlyBy(u)
			}
			if it := a.used[o.Interaction]; it != nil {
				text, private, seen := s.Answer(it)
				out["answer"] = map[string]any{"text": text, "private": private, "seen": seen, "kind": s.State(it).Kind}
			}
			return out
		},
	}
}
