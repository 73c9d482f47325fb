package policy

import (
	"testing"
	"time"

	"standin/channels"
	"standin/fallback"
)

func TestSession(t *testing.T) { // S1, S2, SL18, D7; session-02, slack-15, slack-17
	links := map[string][]string{"alice": {"slack:U1", "discord:42"}}
	scoped := func(s Scope) Rules { return Rules{DMScope: s, Identities: links} }
	threads := on(Surface{ReplyTo: channels.ReplyFirst})
	byType := on(Surface{ReplyTo: channels.ReplyOff, ReplyToBy: map[channels.ChatType]channels.ReplyMode{channels.Room: channels.ReplyAll}})
	root := with(in("U1", "C1"), func(m *channels.Inbound) { m.ThreadRoot = "100.1" })
	for _, c := range []struct {
		name      string
		r         Rules
		in        channels.Inbound
		addressed bool
		want      fallback.SessionID
	}{
		{"direct chats share one", Rules{}, dm("U7"), true, "agent:main:main"},
		{"a thread of a direct chat too [slack-17]", Rules{}, with(dm("U7"), func(m *channels.Inbound) { m.To.Thread = "5.1" }), true, "agent:main:main"},
		{"per peer", scoped(ScopePeer), dm("U7"), true, "agent:main:direct:u7"},
		{"per peer, one person on two platforms", scoped(ScopePeer), dm("U1"), true, "agent:main:direct:alice"},
		{"the same, from the other", scoped(ScopePeer), with(dm("42"), func(m *channels.Inbound) { m.To.Channel = "discord" }), true, "agent:main:direct:alice"},
		{"per channel and peer", scoped(ScopeChannelPeer), dm("U7"), true, "agent:main:slack:direct:u7"},
		{"per account, channel and peer", scoped(ScopeAccountPeer), dm("U7"), true, "agent:main:slack:default:direct:u7"},
		{"links are not used with main", scoped(ScopeMain), dm("U1"), true, "agent:main:main"},
		{"a room", Rules{}, in("U1", "C1"), true, "agent:main:slack:channel:c1"},
		{"rooms do not care for the scope", scoped(ScopePeer), in("U1", "C1"), true, "agent:main:slack:channel:c1"},
		{"a thread of a room [slack-15]", Rules{}, with(in("U1", "C1"), func(m *channels.Inbound) { m.To.Thread = "77.7" }), true, "agent:main:slack:channel:c1:thread:77.7"},
		{"a message whose answer opens a thread belongs to it", threads, root, true, "agent:main:slack:channel:c1:thread:100.1"},
		{"not one that is not answered", threads, root, false, "agent:main:slack:channel:c1"},
		{"not where answers go to the room", on(Surface{}), root, true, "agent:main:slack:channel:c1"},
		{"the mode of the chat type counts", byType, root, true, "agent:main:slack:channel:c1:thread:100.1"},
		{"a thread that is a conversation", Rules{}, with(in("U1", "T1"), func(m *channels.Inbound) { m.Parent = "C1" }), true, "agent:main:slack:channel:t1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.r.Session("Main", c.in, c.addressed); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestParent(t *testing.T) { // D7, T4
	thread := with(in("U1", "T1"), func(m *channels.Inbound) { m.Parent = "C1" })
	for _, c := range []struct {
		in   channels.Inbound
		s    fallback.SessionID
		want fallback.SessionID
	}{
		{thread, "agent:main:slack:channel:t1", "agent:main:slack:channel:c1"},
		{in("U1", "C1"), "agent:main:slack:channel:c1:thread:7", "agent:main:slack:channel:c1"},
		{in("U1", "C1"), "agent:main:slack:channel:c1", ""},
		{dm("U1"), "agent:main:main", ""},
	} {
		if got := Parent("main", c.in, c.s); got != c.want {
			t.Errorf("parent of %s is %q, want %q", c.s, got, c.want)
		}
	}
}

func TestKeepsRoute(t *testing.T) { // S4
	one := on(Surface{AllowFrom: []string{"U1"}})
	many := on(Surface{AllowFrom: []string{"U1", "U2"}})
	peers := one
	peers.DMScope = ScopePeer
	for _, c := range []struct {
		name string
		r    Rules
		in   channels.Inbound
		want bool
	}{
		{"the owner draws the route", one, dm("U1"), false},
		{"another who was let in does not", one, dm("U2"), true},
		{"without a single owner everybody does", many, dm("U3"), false},
		{"with sessions of their own too", peers, dm("U2"), false},
		{"a star is no owner", on(Surface{AllowFrom: []string{"*"}}), dm("U2"), false},
		{"rooms have their own", one, in("U2", "C1"), false},
	} {
		if got := c.r.KeepsRoute(c.in); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestAgentAndModel(t *testing.T) { // S3, T4
	r := Rules{Bindings: []Binding{
		{"wide", Match{Channel: "slack", Account: "*"}},
		{"account", Match{Channel: "slack"}},
		{"guild", Match{Channel: "slack", Account: "*", Guild: "G1"}},
		{"role", Match{Channel: "slack", Account: "*", Guild: "G1", Roles: []string{"R1"}}},
		{"room", Match{Channel: "slack", Account: "*", Chat: channels.Room, Peer: "C1"}},
		{"late", Match{Channel: "slack", Account: "*", Peer: "C1"}},
		{"peer", Match{Channel: "slack", Account: "*", Chat: channels.Direct, Peer: "U1"}},
	}}
	set := func(m channels.Inbound, change func(*channels.Inbound)) channels.Inbound { return with(m, change) }
	for _, c := range []struct {
		in   channels.Inbound
		want fallback.AgentID
	}{
		{dm("U1"), "peer"},
		{dm("U2"), "account"},
		{set(dm("U2"), func(m *channels.Inbound) { m.To.Account = "work" }), "wide"},
		{set(dm("U2"), func(m *channels.Inbound) { m.To.Channel = "discord" }), "main"},
		{in("U2", "C1"), "room"},
		{set(in("U2", "T1"), func(m *channels.Inbound) { m.Parent = "C1" }), "room"},
		{set(in("U2", "C2"), func(m *channels.Inbound) { m.Guild = "G1" }), "guild"},
		{set(in("U2", "C2"), func(m *channels.Inbound) { m.Guild, m.Roles = "G1", []string{"R1"} }), "role"},
	} {
		if got := r.Agent(c.in, "main"); got != c.want {
			t.Errorf("agent %s for %+v, want %s", got, c.in.To, c.want)
		}
	}
	a, b := fallback.Model{Provider: "x", Name: "a"}, fallback.Model{Provider: "x", Name: "b"}
	r.Models = map[string]map[string]fallback.Model{"slack": {"C1": a, "*": b}}
	for _, c := range []struct {
		to     channels.Address
		parent string
		want   fallback.Model
	}{
		{channels.Address{Channel: "slack", Conversation: "c1"}, "", a},
		{channels.Address{Channel: "slack", Conversation: "T1"}, "C1", a},
		{channels.Address{Channel: "slack", Conversation: "C2"}, "", b},
		{channels.Address{Channel: "discord", Conversation: "C1"}, "", fallback.Model{}},
	} {
		if got := r.Model(c.to, c.parent); got != c.want {
			t.Errorf("model of %+v is %s, want %s", c.to, got, c.want)
		}
	}
}

func TestOver(t *testing.T) { // S6–S9; session-03, session-04
	daily := Resets{Reset: Reset{Mode: ResetDaily, Hour: 4}, Zone: time.UTC}
	idle := Resets{Reset: Reset{Mode: ResetIdle, Idle: time.Hour}}
	both := Resets{Reset: Reset{Mode: ResetDaily, Hour: 4, Idle: time.Hour}, Zone: time.UTC}
	typed := Resets{Reset: daily.Reset, Zone: time.UTC, ByType: map[string]Reset{"direct": {}, "thread": idle.Reset}, ByChannel: map[string]Reset{"discord": {}}}
	at := func(s string) time.Time {
		v, err := time.Parse("2 15:04", s)
		if err != nil {
			t.Fatal(err)
		}
		return v.AddDate(2026, 0, 0)
	}
	for _, c := range []struct {
		name               string
		r                  Resets
		in                 channels.Inbound
		started, last, now string
		want               string
	}{
		{"the boundary lies between", daily, dm("U1"), "2 03:30", "2 03:59", "2 04:05", "daily reset"},
		{"started after the last boundary", daily, dm("U1"), "1 04:01", "1 10:00", "2 03:59", ""},
		{"a day later", daily, dm("U1"), "1 04:01", "1 10:00", "2 04:00", "daily reset"},
		{"silent for longer than an hour", idle, dm("U1"), "1 04:00", "1 10:00", "1 11:01", "idle reset"},
		{"silent for an hour", idle, dm("U1"), "1 04:00", "1 10:00", "1 11:00", ""},
		{"whichever comes first", both, dm("U1"), "2 05:00", "2 06:00", "2 07:30", "idle reset"},
		{"never by default", Resets{}, dm("U1"), "1 00:00", "1 00:00", "9 00:00", ""},
		{"its type's rule", typed, dm("U1"), "1 00:00", "1 00:00", "9 00:00", ""},
		{"a room's", typed, in("U1", "C1"), "1 00:00", "1 23:59", "2 04:00", "daily reset"},
		{"a thread's", typed, with(in("U1", "C1"), func(m *channels.Inbound) { m.To.Thread = "7" }), "1 00:00", "2 03:59", "2 04:00", ""},
		{"its channel's wins", typed, with(in("U1", "C1"), func(m *channels.Inbound) { m.To.Channel = "discord" }), "1 00:00", "1 00:00", "9 00:00", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.r.Over(c.in, "agent:main:main", at(c.started), at(c.last), at(c.now)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
