package slack

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/channels"
	"standin/channels/slack/slacktest"
)

// What is done to messages and rooms is told as what it is, and never as a
// message [SL16].
func TestHappenings(t *testing.T) {
	alice := channels.User{ID: slacktest.Alice, Name: "Alice"}
	bob := channels.User{ID: slacktest.Bob, Name: "Bob"}
	message := func(ts, thread, user, text string) map[string]any {
		m := map[string]any{"type": "message", "ts": ts, "user": user, "text": text}
		if thread != "" {
			m["thread_ts"] = thread
		}
		return m
	}
	for _, c := range []struct {
		name  string
		event map[string]any
		want  channels.Inbound // the zero Inbound: nothing is told
	}{
		{"an edit brings the new text and its thread",
			map[string]any{"type": "message", "subtype": "message_changed", "channel": slacktest.General, "channel_type": "channel",
				"message": message("5.1", "4.1", slacktest.Bob, "at <https://x.y|noon>"), "previous_message": message("5.1", "4.1", slacktest.Bob, "at ten")},
			channels.Inbound{From: bob, Chat: channels.Room, Text: "at noon (https://x.y)", To: channels.Address{Conversation: slacktest.General, Thread: "4.1"},
				Happening: &channels.Happening{Kind: channels.Edited, Message: "5.1"}}},
		{"an edit in a direct chat",
			map[string]any{"type": "message", "subtype": "message_changed", "channel": slacktest.DM, "channel_type": "im", "message": message("5.1", "", slacktest.Alice, "new")},
			channels.Inbound{From: alice, Chat: channels.Direct, Text: "new", To: channels.Address{Conversation: slacktest.DM},
				Happening: &channels.Happening{Kind: channels.Edited, Message: "5.1"}}},
		{"a preview of a link is no edit",
			map[string]any{"type": "message", "subtype": "message_changed", "channel": slacktest.General, "channel_type": "channel",
				"message": message("5.1", "", slacktest.Bob, "same"), "previous_message": message("5.1", "", slacktest.Bob, "same")}, channels.Inbound{}},
		{"the bot's own answer grows",
			map[string]any{"type": "message", "subtype": "message_changed", "channel": slacktest.General, "channel_type": "channel",
				"message": message("5.1", "", slacktest.BotUser, "more")}, channels.Inbound{}},
		{"a deletion is told of the author",
			map[string]any{"type": "message", "subtype": "message_deleted", "channel": slacktest.General, "channel_type": "channel", "deleted_ts": "5.1",
				"previous_message": message("5.1", "", slacktest.Bob, "oops")},
			channels.Inbound{From: bob, Chat: channels.Room, To: channels.Address{Conversation: slacktest.General},
				Happening: &channels.Happening{Kind: channels.Deleted, Message: "5.1"}}},
		{"the bot's own draft goes",
			map[string]any{"type": "message", "subtype": "message_deleted", "channel": slacktest.General, "channel_type": "channel", "deleted_ts": "5.1",
				"previous_message": message("5.1", "", slacktest.BotUser, "draft")}, channels.Inbound{}},
		{"a reaction to the bot",
			map[string]any{"type": "reaction_added", "user": slacktest.Alice, "reaction": "+1", "item_user": slacktest.BotUser,
				"item": map[string]any{"type": "message", "channel": slacktest.General, "ts": "5.1"}},
			channels.Inbound{From: alice, Chat: channels.Room, To: channels.Address{Conversation: slacktest.General},
				Happening: &channels.Happening{Kind: channels.Reacted, Message: "5.1", Own: true, Detail: "+1"}}},
		{"a reaction to somebody else is taken back",
			map[string]any{"type": "reaction_removed", "user": slacktest.Alice, "reaction": "eyes", "item_user": slacktest.Bob,
				"item": map[string]any{"type": "message", "channel": slacktest.General, "ts": "5.1"}},
			channels.Inbound{From: alice, Chat: channels.Room, To: channels.Address{Conversation: slacktest.General},
				Happening: &channels.Happening{Kind: channels.Unreacted, Message: "5.1", Detail: "eyes"}}},
		{"the bot's own reaction",
			map[string]any{"type": "reaction_added", "user": slacktest.BotUser, "reaction": "eyes", "item_user": slacktest.Bob,
				"item": map[string]any{"type": "message", "channel": slacktest.General, "ts": "5.1"}}, channels.Inbound{}},
		{"a reaction to a file is about no message",
			map[string]any{"type": "reaction_added", "user": slacktest.Alice, "reaction": "eyes", "item": map[string]any{"type": "file", "file": "F1"}}, channels.Inbound{}},
		{"a pin",
			map[string]any{"type": "pin_added", "user": slacktest.Bob, "channel_id": slacktest.General,
				"item": map[string]any{"type": "message", "channel": slacktest.General, "message": message("5.1", "4.1", slacktest.BotUser, "the plan")}},
			channels.Inbound{From: bob, Chat: channels.Room, To: channels.Address{Conversation: slacktest.General, Thread: "4.1"},
				Happening: &channels.Happening{Kind: channels.Pinned, Message: "5.1", Own: true}}},
		{"a member comes",
			map[string]any{"type": "member_joined_channel", "user": slacktest.Bob, "channel": slacktest.General, "channel_type": "C"},
			channels.Inbound{From: bob, Chat: channels.Room, To: channels.Address{Conversation: slacktest.General}, Happening: &channels.Happening{Kind: channels.Joined}}},
		{"the bot itself comes",
			map[string]any{"type": "member_joined_channel", "user": slacktest.BotUser, "channel": slacktest.General, "channel_type": "C"}, channels.Inbound{}},
		{"a member goes",
			map[string]any{"type": "member_left_channel", "user": slacktest.Bob, "channel": slacktest.General, "channel_type": "C"},
			channels.Inbound{From: bob, Chat: channels.Room, To: channels.Address{Conversation: slacktest.General}, Happening: &channels.Happening{Kind: channels.Left}}},
		{"a channel gets a new name",
			map[string]any{"type": "channel_rename", "channel": map[string]any{"id": slacktest.General, "name": "general-2", "created": 1}},
			channels.Inbound{Chat: channels.Room, To: channels.Address{Conversation: slacktest.General}, Happening: &channels.Happening{Kind: channels.Renamed, Detail: "general-2"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{})
			r.s.Tell(c.event)
			r.s.Repeat() // Slack delivers it again
			got := r.handed()
			if c.want.Happening == nil {
				if len(got) != 0 {
					t.Fatalf("told %+v", got[0])
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("told %d times", len(got))
			}
			c.want.ID, c.want.At, c.want.Guild = got[0].ID, got[0].At, slacktest.Team
			c.want.To.Channel = Name
			if d := cmp.Diff(c.want, got[0]); d != "" {
				t.Error(d)
			}
			if got[0].ID == "" || time.Since(got[0].At) > time.Minute {
				t.Errorf("id %q at %s", got[0].ID, got[0].At)
			}
		})
	}
}

// A happening that the store did not take is delivered again [I1].
func TestAHappeningIsNotLost(t *testing.T) {
	r := newRig(t, setup{})
	tries := 0
	r.fail = func(channels.Inbound) error {
		if tries++; tries == 1 {
			return errors.New("the disk is full")
		}
		return nil
	}
	r.s.Tell(map[string]any{"type": "member_left_channel", "user": slacktest.Bob, "channel": slacktest.General})
	if in := r.next(); in.Happening == nil || in.Happening.Kind != channels.Left {
		t.Errorf("handed over %+v", in)
	}
}
