package policy

import (
	"slices"
	"testing"

	"standin/channels"

	"pgregory.net/rapid"
)

// from is a message of a person in some chat of the platform "slack".
func from(user string, chat channels.ChatType, conversation string) channels.Inbound {
	return channels.Inbound{ID: "1", From: channels.User{ID: user}, Chat: chat, To: channels.Address{Channel: "slack", Conversation: conversation}, Text: "hi"}
}

func dm(user string) channels.Inbound { return from(user, channels.Direct, "D1") }

func in(user, room string) channels.Inbound { return from(user, channels.Room, room) }

// with changes a message.
func with(m channels.Inbound, change func(*channels.Inbound)) channels.Inbound {
	change(&m)
	return m
}

func on(s Surface) Rules {
	return Rules{Surfaces: map[string]map[string]Surface{"slack": {"": s}}}
}

func TestDirectChats(t *testing.T) { // SL9, D3, P1–P3
	for _, c := range []struct {
		name string
		s    Surface
		in   channels.Inbound
		k    Known
		want What
	}{
		{"nothing set: an unknown person may ask", Surface{}, dm("U9"), Known{}, Pair},
		{"an approved person is let in", Surface{}, dm("U9"), Known{Paired: true}, Admit},
		{"a listed person needs no code", Surface{AllowFrom: []string{"slack:u9"}}, dm("U9"), Known{}, Admit},
		{"an id of another platform lists nobody here", Surface{AllowFrom: []string{"discord:U9"}}, dm("U9"), Known{}, Pair},
		{"allowlist: the unlisted are passed over in silence", Surface{DMPolicy: DMAllowlist, AllowFrom: []string{"U1"}}, dm("U9"), Known{}, Drop},
		{"allowlist: an approval of former days does not count", Surface{DMPolicy: DMAllowlist}, dm("U9"), Known{Paired: true}, Drop},
		{"open needs the star", Surface{DMPolicy: DMOpen}, dm("U9"), Known{}, Drop},
		{"open to everybody", Surface{DMPolicy: DMOpen, AllowFrom: []string{"*"}}, dm("U9"), Known{}, Admit},
		{"disabled: not even the listed", Surface{DMPolicy: DMDisabled, AllowFrom: []string{"*"}}, dm("U9"), Known{}, Drop},
		{"an unknown policy is no open door", Surface{DMPolicy: "opne"}, dm("U9"), Known{}, Pair},
		{"no pairing line for bots", Surface{AllowBots: AllBots}, with(dm("B1"), func(m *channels.Inbound) { m.Bot = true }), Known{}, Drop},
		{"a slash command shows its failure to its giver", Surface{DMPolicy: DMAllowlist}, with(dm("U9"), func(m *channels.Inbound) { m.Command = true }), Known{}, Refuse},
		{"nobody without an id is listed", Surface{AllowFrom: []string{"slack:"}}, dm(""), Known{}, Pair},
	} {
		t.Run(c.name, func(t *testing.T) {
			if v := on(c.s).Admit(c.in, c.k); v.What != c.want {
				t.Errorf("%s (%s), want %s", v.What, v.Why, c.want)
			}
		})
	}
}

func TestRooms(t *testing.T) { // SL10, SL11, D4, D5
	room := func(rules map[string]RoomRule) Surface { return Surface{Rooms: rules} }
	guild := func(change func(*channels.Inbound)) channels.Inbound {
		return with(in("U1", "C1"), func(m *channels.Inbound) { m.Guild = "G1"; change(m) })
	}
	plain := func(*channels.Inbound) {}
	for _, c := range []struct {
		name string
		s    Surface
		in   channels.Inbound
		want What
	}{
		{"no block at all: closed", Surface{}, in("U1", "C1"), Drop},
		{"a listed room", room(map[string]RoomRule{"C1": {}}), in("U1", "C1"), Admit},
		{"listed whatever the case", room(map[string]RoomRule{"c1": {}}), in("U1", "C1"), Admit},
		{"an unlisted room", room(map[string]RoomRule{"C1": {}}), in("U1", "C2"), Drop},
		{"the star stands for the rest", room(map[string]RoomRule{"*": {}}), in("U1", "C2"), Admit},
		{"a room that is off", room(map[string]RoomRule{"*": {}, "C1": {Disabled: true}}), in("U1", "C1"), Drop},
		{"open: any room", Surface{GroupPolicy: GroupOpen}, in("U1", "C2"), Admit},
		{"open: but not one that is off", Surface{GroupPolicy: GroupOpen, Rooms: map[string]RoomRule{"C1": {Disabled: true}}}, in("U1", "C1"), Drop},
		{"disabled: none", Surface{GroupPolicy: GroupDisabled, Rooms: map[string]RoomRule{"C1": {}}}, in("U1", "C1"), Drop},
		{"only its people", room(map[string]RoomRule{"C1": {Users: []string{"U2"}}}), in("U1", "C1"), Drop},
		{"its people", room(map[string]RoomRule{"C1": {Users: []string{"U1"}}}), in("U1", "C1"), Admit},
		{"the star's people where the room names none", room(map[string]RoomRule{"C1": {}, "*": {Users: []string{"U2"}}}), in("U1", "C1"), Drop},
		{"approval is for direct chats: rooms do not count it", Surface{}, in("U1", "C1"), Drop},
		{"a thread goes by its room", room(map[string]RoomRule{"C1": {}}), with(in("U1", "T1"), func(m *channels.Inbound) { m.Parent = "C1" }), Admit},
		{"unless it is listed itself", room(map[string]RoomRule{"C1": {}, "T1": {Disabled: true}}), with(in("U1", "T1"), func(m *channels.Inbound) { m.Parent = "C1" }), Drop},
		{"a guild without rooms: all of them [discord-02]", Surface{Guilds: map[string]GuildRule{"G1": {}}}, guild(plain), Admit},
		{"another guild", Surface{Guilds: map[string]GuildRule{"G2": {}}}, guild(plain), Drop},
		{"a guild with rooms: the others are denied", Surface{Guilds: map[string]GuildRule{"G1": {Rooms: map[string]RoomRule{"C2": {}}}}}, guild(plain), Drop},
		{"even with an open policy", Surface{GroupPolicy: GroupOpen, Guilds: map[string]GuildRule{"G1": {Rooms: map[string]RoomRule{"C2": {}}}}}, guild(plain), Drop},
		{"a guild's people, by role", Surface{Guilds: map[string]GuildRule{"G1": {RoomRule: RoomRule{Users: []string{"U7"}, Roles: []string{"R1"}}}}},
			guild(func(m *channels.Inbound) { m.Roles = []string{"R0", "R1"} }), Admit},
		{"neither user nor role", Surface{Guilds: map[string]GuildRule{"G1": {RoomRule: RoomRule{Users: []string{"U7"}, Roles: []string{"R1"}}}}}, guild(plain), Drop},
		{"group chats are off", Surface{AllowFrom: []string{"U1"}}, from("U1", channels.Group, "G9"), Drop},
		{"on, they are for those who may write alone", Surface{GroupDMs: true, AllowFrom: []string{"U1"}}, from("U1", channels.Group, "G9"), Admit},
		{"and for nobody else", Surface{GroupDMs: true, AllowFrom: []string{"U1"}}, from("U2", channels.Group, "G9"), Drop},
	} {
		t.Run(c.name, func(t *testing.T) {
			if v := on(c.s).Admit(c.in, Known{Paired: true}); v.What != c.want {
				t.Errorf("%s (%s), want %s", v.What, v.Why, c.want)
			}
		})
	}
}

func TestBots(t *testing.T) { // SL15, D8, discord-10
	bot := func(mentions bool) channels.Inbound {
		return with(in("B1", "C1"), func(m *channels.Inbound) { m.Bot, m.Mentioned = true, mentions })
	}
	open := func(b Bots, owner bool, r RoomRule) Surface {
		return Surface{AllowBots: b, OwnerWithBot: owner, Rooms: map[string]RoomRule{"C1": r}}
	}
	for _, c := range []struct {
		name string
		s    Surface
		in   channels.Inbound
		k    Known
		want What
	}{
		{"dropped by default", open("", false, RoomRule{}), bot(true), Known{}, Drop},
		{"no", open(NoBots, false, RoomRule{}), bot(true), Known{}, Drop},
		{"yes", open(AllBots, false, RoomRule{}), bot(false), Known{}, Admit},
		{"mentions, without one", open(MentionBots, false, RoomRule{}), bot(false), Known{}, Drop},
		{"mentions, with one", open(MentionBots, false, RoomRule{}), bot(true), Known{}, Admit},
		{"the room's word counts before the account's", open(AllBots, false, RoomRule{AllowBots: NoBots}), bot(true), Known{}, Drop},
		{"where an owner is needed and none is here", open(AllBots, true, RoomRule{}), bot(true), Known{}, Drop},
		{"where an owner is here", open(AllBots, true, RoomRule{}), bot(true), Known{OwnerHere: true}, Admit},
		{"where the room lists the bot", open(AllBots, true, RoomRule{Users: []string{"B1"}}), bot(true), Known{}, Admit},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := on(c.s).Admit(c.in, c.k)
			if v.What != c.want {
				t.Errorf("%s (%s), want %s", v.What, v.Why, c.want)
			}
			if v.Authorized {
				t.Error("a bot may give commands")
			}
		})
	}
}

func TestCommandsAreForThoseWhoMay(t *testing.T) { // C1, P2
	room := Surface{AllowFrom: []string{"U1"}, Rooms: map[string]RoomRule{"C1": {}, "C2": {Users: []string{"U2"}}}}
	sole := on(room)
	sole.Commands.AllowFrom = map[string][]string{"slack": {"U5"}}
	everywhere := on(room)
	everywhere.Commands.AllowFrom = map[string][]string{"*": {"slack:U5"}}
	owned := on(room)
	owned.Commands.Owners = []string{"U6"}
	for _, c := range []struct {
		name string
		r    Rules
		in   channels.Inbound
		k    Known
		want bool
	}{
		{"listed, direct", on(room), dm("U1"), Known{}, true},
		{"approved, direct", on(room), dm("U9"), Known{Paired: true}, true},
		{"approved, but in a room", on(room), in("U9", "C1"), Known{Paired: true}, false},
		{"approved first, and so the owner, in a room", on(room), in("U9", "C1"), Known{Paired: true, Owner: true}, true},
		{"listed for the account, in a room", on(room), in("U1", "C1"), Known{}, true},
		{"somebody of the room", on(room), in("U3", "C1"), Known{}, false},
		{"listed for the room", on(room), in("U2", "C2"), Known{}, true},
		{"an owner of the config, in a room", owned, in("U6", "C1"), Known{}, true},
		{"a sole list has them alone", sole, in("U5", "C1"), Known{}, true},
		{"a sole list leaves out the listed", sole, dm("U1"), Known{}, false},
		{"a sole list of all channels", everywhere, in("U5", "C1"), Known{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if v := c.r.Admit(c.in, c.k); v.What != Admit || v.Authorized != c.want {
				t.Errorf("%+v, want authorized %v", v, c.want)
			}
		})
	}
}

// A channel without any rules is its adapter's business; an account that is
// missing among others is closed.
func TestWhatHasNoRules(t *testing.T) {
	trusted := with(dm("me"), func(m *channels.Inbound) { m.To.Channel, m.Authorized = "console", true })
	if v := on(Surface{}).Admit(trusted, Known{}); v.What != Admit || !v.Authorized {
		t.Errorf("the console's own person: %+v", v)
	}
	other := with(in("U1", "C1"), func(m *channels.Inbound) { m.To.Account, m.Authorized = "work", true })
	if v := on(Surface{GroupPolicy: GroupOpen}).Admit(other, Known{}); v.What != Drop {
		t.Errorf("an account without rules: %+v", v)
	}
}

// The owners that vouch for a bot are looked up by their ids, however the lists
// write them [SL15].
func TestOwnersOfAChannelAreIds(t *testing.T) {
	r := on(Surface{AllowFrom: []string{"U1", "slack:U2", "user:U3", "slack:user:U4", "<@U5>", "<@!U6>", "discord:7", "*", "slack:*", " "}})
	r.Commands.Owners = []string{"U1", "slack:U8"}
	want := []string{"U1", "U2", "U3", "U4", "U5", "U6", "U8"}
	if got := r.OwnersOf(in("U1", "C1").To); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, id := range want[:6] {
		if !Lists(r.Surfaces["slack"][""].AllowFrom[:7], from(id, channels.Direct, "D")) {
			t.Errorf("%s is not listed", id)
		}
	}
	if Lists([]string{"slack:*"}, from("U9", channels.Direct, "D")) {
		t.Error("only a bare * is everybody")
	}
}

// Whatever is set, somebody who is in no list and was never approved gets into
// no direct chat that is not open to all, and may never give commands.
func TestStrangersStayStrangers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lists := rapid.SliceOf(rapid.SampledFrom([]string{"U1", "slack:U2", "user:U3", "<@U4>", "discord:X", " ", "slack:"}))
		s := Surface{
			DMPolicy:    rapid.SampledFrom([]DMPolicy{"", DMPairing, DMAllowlist, DMOpen, DMDisabled}).Draw(t, "dmPolicy"),
			GroupPolicy: rapid.SampledFrom([]GroupPolicy{"", GroupAllowlist, GroupOpen}).Draw(t, "groupPolicy"),
			AllowFrom:   lists.Draw(t, "allowFrom"), GroupDMs: rapid.Bool().Draw(t, "groups"),
			Rooms: map[string]RoomRule{"*": {Users: lists.Draw(t, "users")}},
		}
		m := from("stranger", rapid.SampledFrom([]channels.ChatType{channels.Direct, channels.Group, channels.Room}).Draw(t, "chat"), "C1")
		m.Command = rapid.Bool().Draw(t, "command")
		v := on(s).Admit(m, Known{})
		if v.Authorized || m.Chat == channels.Direct && v.What == Admit {
			t.Fatalf("a stranger: %+v", v)
		}
	})
}
