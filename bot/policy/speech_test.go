package policy

import (
	"testing"

	"standin/channels"
	"standin/fallback"
)

// Which turns may post: a session's own word first, then a rule that denies,
// then one that allows, then the default [G15].
func TestSendPolicy(t *testing.T) {
	deny := SendRule{Deny: true, Channel: "slack", Chat: channels.Room}
	allow := SendRule{Prefix: "agent:main:slack:channel:C1"}
	const room, thread, dm = "agent:main:slack:channel:c2", "agent:main:slack:channel:c1:thread:5.1", "agent:main:main"
	for _, c := range []struct {
		name    string
		p       SendPolicy
		own     string
		session fallback.SessionID
		want    bool
	}{
		{"by default everything", SendPolicy{}, "", room, true},
		{"a rule denies", SendPolicy{Rules: []SendRule{deny}}, "", room, false},
		{"what it does not match", SendPolicy{Rules: []SendRule{deny}}, "", dm, true},
		{"denying wins over allowing", SendPolicy{Rules: []SendRule{allow, deny}}, "", thread, false},
		{"default deny", SendPolicy{Deny: true}, "", dm, false},
		{"default deny, a rule allows by the key", SendPolicy{Deny: true, Rules: []SendRule{allow}}, "", thread, true},
		{"default deny, the rule is about another", SendPolicy{Deny: true, Rules: []SendRule{allow}}, "", room, false},
		{"the session's own off", SendPolicy{}, "off", dm, false},
		{"the session's own on", SendPolicy{Deny: true, Rules: []SendRule{deny}}, "on", room, true},
	} {
		if got := c.p.Allows(c.own, "slack", c.session); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Whose session a question by slash command is [S1, SL28].
func TestSlash(t *testing.T) {
	m := in("U1", "C1")
	if got := on(Surface{}).Slash("main", m); got != "agent:main:slack:slash:u1" {
		t.Error(got)
	}
	if got := on(Surface{Slash: "ask"}).Slash("main", m); got != "agent:main:ask:u1" {
		t.Error(got)
	}
}

// commands.useAccessGroups: false lets everybody who was let in give commands,
// and commands.allowFrom stays the sole source where it is set [C1].
func TestAnybodyMayGiveCommands(t *testing.T) {
	r := on(Surface{Rooms: map[string]RoomRule{"C1": {}}})
	r.Commands.Anybody = true
	if v := r.Admit(in("U1", "C1"), Known{}); !v.Authorized {
		t.Error("somebody who was let in may not")
	}
	r.Commands.AllowFrom = map[string][]string{"*": {"U2"}}
	if v := r.Admit(in("U1", "C1"), Known{}); v.Authorized {
		t.Error("commands.allowFrom is passed over")
	}
}
