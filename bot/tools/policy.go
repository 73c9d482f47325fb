package tools

import (
	"path"
	"slices"
	"strings"
)

// Policy says which tools an agent has, by name; a * stands for any letters. A
// tool that is denied anywhere is denied.
type Policy struct {
	Allow []string // empty: all
	Deny  []string
	// Rooms are tighter rules for shared rooms, on top.
	Rooms *Policy
}

// Refuse tells why a tool is not to be had here, "" when it is. Names are
// compared in lower case.
func (p Policy) Refuse(t Tool, at Place) string {
	switch {
	case p.denies(t.Name):
		return "it is not among the tools of this agent"
	case at.Shared() && p.Rooms != nil && p.Rooms.denies(t.Name):
		return "it is not among the tools of this agent in shared rooms"
	case (t.Owner || t.RoomOwner && at.Shared()) && !at.Owner:
		return "it is for the owner only"
	case (t.Owner || t.RoomOwner) && at.Tainted && (t.Acts || t.Domain == "" || t.Domain != at.Taint):
		return "this turn has read what others wrote, and this tool acts for the owner alone: the owner can ask for it in a direct chat, in a message of its own"
	case t.Private && at.Shared():
		return "it shows private things, and others read here"
	}
	return ""
}

func (p Policy) denies(name string) bool {
	return matches(p.Deny, name) || len(p.Allow) > 0 && !matches(p.Allow, name)
}

func matches(patterns []string, name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(strings.ToLower(pattern), name)
		return ok && err == nil
	})
}
