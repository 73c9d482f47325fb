package discord

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"standin/channels"
)

// What is done to messages and rooms is told as what it is, and never as a
// message [D4, D8].
func TestHappenings(t *testing.T) {
	w := newWorld(t, setup{})
	thread := w.room.NewThread(w.bob, "a thread", false)
	alice := channels.User{ID: w.alice.ID, Name: w.alice.Name}
	bob := channels.User{ID: w.bob.ID, Name: w.bob.Name}
	author := func(id, name string) map[string]any { return map[string]any{"id": id, "username": name} }
	message := func(id, channel string, more map[string]any) map[string]any {
		m := map[string]any{"id": id, "channel_id": channel, "guild_id": w.guild.ID, "type": 0, "author": author(w.bob.ID, w.bob.Name), "content": "", "timestamp": "2026-01-01T00:00:00Z"}
		for k, v := range more {
			m[k] = v
		}
		return m
	}
	edited := map[string]any{"content": "now at noon", "edited_timestamp": "2026-01-01T00:01:00Z"}
	reaction := func(user, of string) map[string]any {
		return map[string]any{"user_id": user, "channel_id": w.room.ID, "message_id": "1001", "guild_id": w.guild.ID, "message_author_id": of,
			"member": map[string]any{"user": author(user, w.alice.Name), "roles": []string{"9"}}, "emoji": map[string]any{"name": "🔥"}}
	}
	at := func(conversation string) channels.Address { return w.c.address(conversation) }
	for _, c := range []struct {
		name, event string
		data        map[string]any
		want        channels.Inbound // the zero Inbound: nothing is told
	}{
		{"an edit brings the new text", "MESSAGE_UPDATE", message("1001", w.room.ID, edited),
			channels.Inbound{From: bob, To: at(w.room.ID), Text: "now at noon", Happening: &channels.Happening{Kind: channels.Edited, Message: "1001"}}},
		{"an edit in a thread", "MESSAGE_UPDATE", message("1002", thread.ID, edited),
			channels.Inbound{From: bob, To: at(thread.ID), Parent: w.room.ID, Text: "now at noon", Happening: &channels.Happening{Kind: channels.Edited, Message: "1002"}}},
		{"a preview is no edit", "MESSAGE_UPDATE", message("1001", w.room.ID, map[string]any{"content": "see https://x.y"}), channels.Inbound{}},
		{"the bot's own answer grows", "MESSAGE_UPDATE", message("1001", w.room.ID, map[string]any{"content": "more", "edited_timestamp": "2026-01-01T00:01:00Z",
			"author": author(w.s.Bot.ID, "bot")}), channels.Inbound{}},
		{"a deletion tells no author", "MESSAGE_DELETE", map[string]any{"id": "1001", "channel_id": w.room.ID, "guild_id": w.guild.ID},
			channels.Inbound{To: at(w.room.ID), Happening: &channels.Happening{Kind: channels.Deleted, Message: "1001"}}},
		{"a reaction to the bot", "MESSAGE_REACTION_ADD", reaction(w.alice.ID, w.s.Bot.ID),
			channels.Inbound{From: alice, Roles: []string{"9"}, To: at(w.room.ID), Happening: &channels.Happening{Kind: channels.Reacted, Message: "1001", Own: true, Detail: "🔥"}}},
		{"one that is taken back", "MESSAGE_REACTION_REMOVE", map[string]any{"user_id": w.alice.ID, "channel_id": w.room.ID, "message_id": "1001", "guild_id": w.guild.ID, "emoji": map[string]any{"name": "🔥"}},
			channels.Inbound{From: channels.User{ID: w.alice.ID}, To: at(w.room.ID), Happening: &channels.Happening{Kind: channels.Unreacted, Message: "1001", Detail: "🔥"}}},
		{"the bot's own reaction", "MESSAGE_REACTION_ADD", reaction(w.s.Bot.ID, w.alice.ID), channels.Inbound{}},
		{"a pin", "MESSAGE_CREATE", message("1003", w.room.ID, map[string]any{"type": 6, "message_reference": map[string]any{"message_id": "1001", "channel_id": w.room.ID}}),
			channels.Inbound{From: bob, To: at(w.room.ID), Happening: &channels.Happening{Kind: channels.Pinned, Message: "1001"}}},
		{"a member comes", "MESSAGE_CREATE", message("1004", w.room.ID, map[string]any{"type": 7}),
			channels.Inbound{From: bob, To: at(w.room.ID), Happening: &channels.Happening{Kind: channels.Joined}}},
		{"a member is taken out of a thread", "MESSAGE_CREATE", message("1005", thread.ID, map[string]any{"type": 2, "mentions": []any{author(w.alice.ID, w.alice.Name)}}),
			channels.Inbound{From: alice, To: at(thread.ID), Parent: w.room.ID, Happening: &channels.Happening{Kind: channels.Left}}},
		{"a boost is none of ours", "MESSAGE_CREATE", message("1006", w.room.ID, map[string]any{"type": 8}), channels.Inbound{}},
		{"a channel gets a new name", "CHANNEL_UPDATE", map[string]any{"id": w.room.ID, "guild_id": w.guild.ID, "type": 0, "name": "harbour"},
			channels.Inbound{To: at(w.room.ID), Happening: &channels.Happening{Kind: channels.Renamed, Detail: "harbour"}}},
		{"a channel gets a new topic", "CHANNEL_UPDATE", map[string]any{"id": w.room.ID, "guild_id": w.guild.ID, "type": 0, "name": "harbour", "topic": "x"}, channels.Inbound{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.s.Garbage(c.event, c.data)
			if c.want.Happening == nil {
				w.wantNothing(w.alice)
				return
			}
			got := w.next()
			c.want.ID, c.want.At, c.want.Chat, c.want.Guild = got.ID, got.At, channels.Room, w.guild.ID
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			w.wantNothing(w.alice)
		})
	}
}
