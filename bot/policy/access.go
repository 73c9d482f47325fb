package policy

import (
	"slices"
	"strings"

	"standin/channels"
)

// What becomes of a message at the door.
type What string

// The fates at the door.
const (
	Admit  What = "admit"
	Drop   What = "drop"   // in silence
	Pair   What = "pair"   // the sender is told how to ask for access [P1]
	Refuse What = "refuse" // the sender alone is told that this is not for them [C2]
)

// Verdict is what the door says. Why is for the record, in a few words.
type Verdict struct {
	What       What
	Why        string
	Authorized bool // may give commands [C1]
}

// Known is what the store and the room know of a sender.
type Known struct {
	Paired    bool // was approved for direct chats on this account [P2]
	Owner     bool // was made the owner by the first approval [P2]
	OwnerHere bool // an owner is a member of the room; asked for bots only [SL15]
}

// Admit decides whether a message gets in, by the rules of its channel account.
// Nothing that is turned away may reach a model: its sender is unknown.
func (r Rules) Admit(in channels.Inbound, k Known) Verdict {
	s, known := r.Surface(in.To)
	if !known {
		return Verdict{What: Admit, Why: "trusted channel", Authorized: in.Authorized}
	}
	v := s.admit(in, k)
	if v.What != Admit {
		if v.What == Drop && in.Command && !in.Bot {
			v.What = Refuse // a slash command shows that it failed anyway [D16]
		}
		return v
	}
	v.Authorized = !in.Bot && r.mayCommand(s, in, k)
	return v
}

func (s Surface) admit(in channels.Inbound, k Known) Verdict {
	if in.Bot {
		if why := s.againstBot(in, k); why != "" {
			return Verdict{What: Drop, Why: why}
		}
	}
	switch in.Chat {
	case channels.Direct:
		return s.admitDirect(in, k)
	case channels.Group:
		return s.admitGroup(in, k)
	}
	return s.admitRoom(in, k)
}

// againstBot says why a bot is not listened to, "" when it is [SL15, D8].
func (s Surface) againstBot(in channels.Inbound, k Known) string {
	rule := s.rule(in)
	switch {
	case rule.AllowBots != AllBots && rule.AllowBots != MentionBots:
		return "written by a bot"
	case rule.AllowBots == MentionBots && !in.Mentioned:
		return "written by a bot that does not mention the agent"
	case s.OwnerWithBot && !Lists(rule.Users, in) && !k.OwnerHere:
		return "written by a bot where no owner is"
	}
	return ""
}

// admitDirect is the policy of direct chats [SL9, D3, P1, P3].
func (s Surface) admitDirect(in channels.Inbound, k Known) Verdict {
	listed := Lists(s.AllowFrom, in)
	switch s.DMPolicy {
	case DMDisabled:
		return Verdict{What: Drop, Why: "direct chats are off"}
	case DMOpen, DMAllowlist: // open means "*" in the list [SL9]
		if !listed {
			return Verdict{What: Drop, Why: "sender not in allowFrom"}
		}
		return Verdict{What: Admit, Why: "listed"}
	}
	switch {
	case listed:
		return Verdict{What: Admit, Why: "listed"}
	case k.Paired:
		return Verdict{What: Admit, Why: "paired"}
	case in.Bot:
		return Verdict{What: Drop, Why: "bots are not paired"} // [P3]
	}
	return Verdict{What: Pair, Why: "sender not paired"}
}

// admitGroup is the policy of chats of several people without a room: they are
// off unless asked for, and then for those who may write alone, or for the
// chats that are listed [SL9, D3].
func (s Surface) admitGroup(in channels.Inbound, k Known) Verdict {
	p := s.place(in)
	switch {
	case !s.GroupDMs:
		return Verdict{What: Drop, Why: "group chats are off"}
	case s.GroupPolicy == GroupDisabled || p.room.Disabled:
		return Verdict{What: Drop, Why: "room is off"}
	case p.listed, s.GroupPolicy == GroupOpen, Lists(s.AllowFrom, in):
		return s.admitSender(in, k)
	}
	return Verdict{What: Drop, Why: "room not listed"}
}

// admitRoom is the policy of rooms [SL10, SL11, D4, D5].
func (s Surface) admitRoom(in channels.Inbound, k Known) Verdict {
	p := s.place(in)
	switch {
	case s.GroupPolicy == GroupDisabled:
		return Verdict{What: Drop, Why: "rooms are off"}
	case p.room.Disabled, p.guild.Disabled:
		return Verdict{What: Drop, Why: "room is off"}
	case p.shut, !p.listed && s.GroupPolicy != GroupOpen:
		return Verdict{What: Drop, Why: "room not listed"}
	}
	return s.admitSender(in, k)
}

// admitSender looks whether the room is for this person: users OR roles [D4].
func (s Surface) admitSender(in channels.Inbound, k Known) Verdict {
	rule := s.rule(in)
	if in.Happening != nil && in.From.ID == "" {
		return Verdict{What: Admit, Why: "nobody is known to have done it"} // the place decides
	}
	if len(rule.Users) == 0 && len(rule.Roles) == 0 || rule.names(in) {
		return Verdict{What: Admit, Why: "room listed"}
	}
	if in.Bot && s.OwnerWithBot && k.OwnerHere {
		return Verdict{What: Admit, Why: "an owner is here"} // [SL15]
	}
	return Verdict{What: Drop, Why: "sender not listed for the room"}
}

// names tells whether the rule names the sender.
func (r RoomRule) names(in channels.Inbound) bool {
	return Lists(r.Users, in) || slices.ContainsFunc(in.Roles, func(role string) bool { return slices.Contains(r.Roles, role) })
}

// mayCommand tells whether an admitted person may give commands [C1]. Rooms do
// not count an approval: it is for direct chats [P2].
func (r Rules) mayCommand(s Surface, in channels.Inbound, k Known) bool {
	if sole, ok := r.Commands.AllowFrom[in.To.Channel]; ok {
		return Lists(sole, in)
	}
	if sole, ok := r.Commands.AllowFrom["*"]; ok {
		return Lists(sole, in)
	}
	switch {
	case r.Commands.Anybody, k.Owner, Lists(r.Commands.Owners, in), Lists(s.AllowFrom, in):
		return true
	case in.Chat == channels.Direct:
		return k.Paired
	}
	return s.rule(in).names(in)
}

// Lists tells whether a list of ids names the sender; see idIn for its entries.
// Case does not count; names of people do not either, since anybody may take one.
func Lists(list []string, in channels.Inbound) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		if strings.TrimSpace(entry) == everybody {
			return true
		}
		id := idIn(entry, in.To.Channel)
		return id != "" && strings.EqualFold(id, in.From.ID)
	})
}

// everybody stands in a list for all people, by itself: "slack:*" names nobody.
const everybody = "*"

// idIn reads an entry of a list of people: the id that it names on the channel,
// "" when it is about another channel. An entry may carry the channel
// ("slack:U1"), "user:", both, or the platform's own brackets ("<@U1>").
func idIn(entry, channel string) string {
	entry = strings.TrimSpace(entry)
	if of, id, ok := strings.Cut(entry, ":"); ok {
		if !strings.EqualFold(of, channel) && !strings.EqualFold(of, "user") {
			return ""
		}
		entry = strings.TrimPrefix(id, "user:")
	}
	return strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(entry, "<@"), ">"), "!")
}

// OwnersOf are the owners that are named one by one on a channel: the people
// whose presence vouches for a bot [SL15]. They are ids without the channel.
func (r Rules) OwnersOf(to channels.Address) (ids []string) {
	s, _ := r.Surface(to)
	for _, entry := range slices.Concat(s.AllowFrom, r.Commands.Owners) {
		if id := idIn(entry, to.Channel); id != "" && id != everybody && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
