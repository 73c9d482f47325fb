package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"standin/bot/policy"
	"standin/cmd/standin/config"
)

// printChannels writes which accounts would be connected, how, and who may
// speak there; with the mend of those that cannot.
func printChannels(w io.Writer, c *config.Compiled) {
	for _, a := range c.Accounts {
		how := "a connection of its own"
		switch {
		case a.Off:
			how = "off"
		case a.Webhook() != "":
			how = "requests to " + a.Webhook() + " on " + c.Gateway
		case a.Slack.Mode != "":
			how = "mode " + a.Slack.Mode
		}
		fmt.Fprintf(w, "%s: %s\n", a.Place, how)
		if a.Off {
			continue
		}
		fmt.Fprintf(w, "    %s\n", sayAccess(a.Surface))
		for _, fault := range a.Faults {
			fmt.Fprintf(w, "    cannot be used: %s\n", fault)
		}
	}
	if len(c.Accounts) > 0 {
		fmt.Fprintln(w)
	}
}

// sayAccess says in a sentence who is let in.
func sayAccess(s policy.Surface) string {
	direct := "people must be paired (standin pairing)"
	if len(s.AllowFrom) > 0 {
		direct = "people must be paired, except " + someOf(s.AllowFrom)
	}
	everybody := false
	for _, id := range s.AllowFrom {
		everybody = everybody || strings.TrimSpace(id) == "*"
	}
	switch {
	case s.DMPolicy == policy.DMDisabled:
		direct = "off"
	case everybody:
		direct = "everybody, with commands"
	case s.DMPolicy == policy.DMAllowlist && len(s.AllowFrom) == 0:
		direct = "nobody, since allowFrom is empty"
	case s.DMPolicy == policy.DMAllowlist:
		direct = "only " + someOf(s.AllowFrom)
	}
	return "direct messages: " + direct + "; rooms: " + sayRooms(s)
}

func sayRooms(s policy.Surface) string {
	var listed []string
	for _, id := range slices.Sorted(maps.Keys(s.Rooms)) {
		if !s.Rooms[id].Disabled {
			listed = append(listed, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.Guilds)) {
		g := s.Guilds[id]
		switch {
		case g.Disabled:
		case g.Rooms == nil:
			listed = append(listed, "all of server "+id)
		default:
			for _, room := range slices.Sorted(maps.Keys(g.Rooms)) {
				if !g.Rooms[room].Disabled {
					listed = append(listed, room+" of server "+id)
				}
			}
		}
	}
	rooms := ""
	switch {
	case s.GroupPolicy == policy.GroupDisabled:
		return "off"
	case s.GroupPolicy == policy.GroupOpen:
		rooms = "all"
	case len(listed) == 0:
		return "none, since none is listed"
	default:
		rooms = "only " + someOf(listed)
	}
	if s.Mention == nil || *s.Mention {
		return rooms + ", when the agent is mentioned"
	}
	return rooms + ", every message"
}

// someOf lists a few and counts the others.
func someOf(list []string) string {
	const few = 5
	if len(list) <= few {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:few], ", "), len(list)-few)
}
