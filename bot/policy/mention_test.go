package policy

import (
	"regexp"
	"testing"

	"standin/channels"
	"standin/fallback"
)

func TestAddressed(t *testing.T) { // SL12, D6, S17
	no, yes := false, true
	room := func(r RoomRule) Rules { return on(Surface{Rooms: map[string]RoomRule{"C1": r}}) }
	patterns := room(RoomRule{})
	patterns.Patterns = []*regexp.Regexp{regexp.MustCompile(`(?i)\bhey bot\b`)}
	own := patterns
	own.AgentPatterns = map[fallback.AgentID][]*regexp.Regexp{"main": {regexp.MustCompile(`ahoy`)}}
	deaf := on(Surface{ThreadsAsk: true, Rooms: map[string]RoomRule{"C1": {}}})
	say := func(text string, change func(*channels.Inbound)) channels.Inbound {
		return with(in("U1", "C1"), func(m *channels.Inbound) { m.Text = text; change(m) })
	}
	plain := func(*channels.Inbound) {}
	implicit := func(m *channels.Inbound) { m.Implicit = true }
	others := func(m *channels.Inbound) { m.MentionsOthers = true }
	for _, c := range []struct {
		name string
		r    Rules
		in   channels.Inbound
		want bool
	}{
		{"a room asks for a mention by default", room(RoomRule{}), say("lunch?", plain), false},
		{"unless it does not", room(RoomRule{Mention: &no}), say("lunch?", plain), true},
		{"the account's setting stands for the room's", on(Surface{Mention: &no, Rooms: map[string]RoomRule{"C1": {}}}), say("lunch?", plain), true},
		{"the room's counts before it", on(Surface{Mention: &no, Rooms: map[string]RoomRule{"C1": {Mention: &yes}}}), say("lunch?", plain), false},
		{"a mention", room(RoomRule{}), say("x", func(m *channels.Inbound) { m.Mentioned = true }), true},
		{"a native command", room(RoomRule{}), say("/status", func(m *channels.Inbound) { m.Command = true }), true},
		{"an answer to the agent", room(RoomRule{}), say("and then?", implicit), true},
		{"not where threads must ask", deaf, say("and then?", implicit), false},
		{"the agent's name", room(RoomRule{}), say("what do you think, STANDIN?", plain), true},
		{"not as a part of a word", room(RoomRule{}), say("outstanding", plain), false},
		{"a pattern", patterns, say("Hey Bot, lunch?", plain), true},
		{"an agent's own patterns take the others' place", own, say("Hey Bot, lunch?", plain), false},
		{"an agent's own pattern", own, say("ahoy", plain), true},
		{"somebody else is named, which does not matter", room(RoomRule{Mention: &no}), say("<@U2> lunch?", others), true},
		{"unless it does", room(RoomRule{Mention: &no, IgnoreOthers: &yes}), say("<@U2> lunch?", others), false},
		{"an answer to the agent that names somebody else", room(RoomRule{IgnoreOthers: &yes}), say("<@U2> see", func(m *channels.Inbound) { implicit(m); others(m) }), false},
		{"a direct chat is always addressed", on(Surface{}), dm("U1"), true},
		{"without rules the adapter's word stands", Rules{}, say("standin?", implicit), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, why := c.r.Addressed(c.in, "main", "Standin")
			if got != c.want || !got && why == "" {
				t.Errorf("addressed %v (%s), want %v", got, why, c.want)
			}
		})
	}
}

func TestPatternsSayWhichIsWrong(t *testing.T) {
	if p, err := Patterns([]string{"bot"}); err != nil || !p[0].MatchString("BOT") {
		t.Error(p, err)
	}
	if _, err := Patterns([]string{"ok", "(("}); err == nil {
		t.Error("an impossible pattern passes")
	}
}
