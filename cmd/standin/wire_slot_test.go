package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"standin/channels/slack/slacktest"
	"standin/fallback/provider/providertest"
)

const (
	body429   = `{"error":{"message":"rate limit"}}`
	notice429 = "↪️ Model Fallback: openai/gpt-5.5-mini (selected openai/gpt-5.5; rate limit)"
)

// "Answer of 4500 chars (3 chunks) after a notice: notice has message_reference,
// chunk 1 has message_reference, chunks 2 and 3 do not" [slot-08, D11]; in mode
// all each has, in mode off none.
func TestTheNoticeTakesNoReplySlotOnDiscord(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat(strings.Repeat("word ", 60)+"\n\n", 15))
	for mode, want := range map[string][]bool{"off": {false, false, false, false}, "first": {true, true, false, false}, "all": {true, true, true, true}} {
		for _, streaming := range []string{"off", "partial"} { // with drafts the same
			t.Run(mode+" "+streaming, func(t *testing.T) {
				w := newWire(t)
				alice := w.discord.Person("alice")
				w.serve(fmt.Sprintf("\nchannels: {slack: {enabled: false}, discord: {apiUrl: DISCORD, replyToMode: %s, maxLinesPerMessage: 200, streaming: '%s', allowFrom: [\"%s\"]}}\n", mode, streaming, alice.ID))
				w.ready("discord")
				w.vendor.On(providertest.When{Model: "gpt-5.5"}, providertest.Status(429, body429))
				w.vendor.On(providertest.When{Model: "gpt-5.5-mini"}, providertest.Answer(long))
				m := w.discord.Say(alice, w.discord.DM(alice), "hello")
				posts := w.onDiscord(m.Channel, notice429, "word…", "word…", "word…")
				for i, refers := range want {
					if got := posts[i].Reference; got != map[bool]string{true: m.ID}[refers] {
						t.Errorf("post %d refers to %q", i, got)
					}
				}
			})
		}
	}
}

// The chunks of one answer stand together on Slack, in the thread that the mode
// opens; the notice is before them [slack-22, N26].
func TestTheChunksOfAnAnswerStandTogetherOnSlack(t *testing.T) {
	for mode, threaded := range map[string]bool{"off": false, "first": true, "all": true} {
		t.Run(mode, func(t *testing.T) {
			w := newWire(t)
			w.serve(fmt.Sprintf("\nchannels: {discord: {enabled: false}, slack: {apiUrl: SLACK, replyToMode: %s, textChunkLimit: 500, channels: {%s: {}}}}\n", mode, slacktest.General))
			w.ready("slack")
			w.vendor.On(providertest.When{Model: "gpt-5.5"}, providertest.Status(429, body429))
			w.vendor.On(providertest.When{Model: "gpt-5.5-mini"}, providertest.Answer(strings.TrimSpace(strings.Repeat("word ", 180))))
			ts := w.slack.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Alice, Text: "<@" + slacktest.BotUser + "> hello"})
			for i, p := range w.onSlack(slacktest.General, notice429, "word…", "word…") {
				if want := map[bool]string{true: ts}[threaded]; p.Thread != want {
					t.Errorf("post %d stands in thread %q, want %q", i, p.Thread, want)
				}
			}
		})
	}
}

// "Turn comes from the follow-up queue: notice posted exactly as for a direct
// turn" [notice-27]: under the message of its own turn.
func TestTheNoticeOfAQueuedTurn(t *testing.T) {
	w := newWire(t)
	w.serve(fmt.Sprintf("\nmessages: {queue: {mode: followup}}\nchannels: {discord: {enabled: false}, slack: {apiUrl: SLACK, replyToMode: first, allowFrom: [%s]}}\n", slacktest.Alice))
	w.ready("slack")
	w.vendor.On(providertest.When{Model: "gpt-5.5"}, providertest.Answer("the first").After(300*time.Millisecond), providertest.Status(429, body429))
	say := func(text string) string {
		return w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: text})
	}
	one := say("one")
	w.await("the first runs", func() bool { return len(w.vendor.Requests()) == 1 })
	two := say("two")
	posts := w.onSlack(slacktest.DM, "the first", notice429, "answer of gpt-5.5-mini")
	for i, want := range []string{one, two, two} {
		if posts[i].Thread != want {
			t.Errorf("post %d stands in thread %q, want %q", i, posts[i].Thread, want)
		}
	}
}

// An answer that people saw grow gives way to the notice: the half above it goes,
// and the whole stands below [N19, N31, SL25].
func TestTheNoticeStandsAboveAnAnswerThatWasSeenToGrow(t *testing.T) {
	const grown = "It grows, word by word.\n\nIt goes on for a while, and then it ends."
	grow := providertest.Answer(grown).Pace(60 * time.Millisecond)
	for _, mode := range []string{"partial", "block"} { // block: its finished paragraphs are seen
		t.Run("slack "+mode, func(t *testing.T) {
			w := newWire(t)
			w.serve(fmt.Sprintf("\nchannels: {discord: {enabled: false}, slack: {apiUrl: SLACK, streaming: %s, allowFrom: [%s]}}\n", mode, slacktest.Alice))
			w.ready("slack")
			w.vendor.On(providertest.When{Model: "gpt-5.5"}, providertest.Status(429, body429))
			w.vendor.On(providertest.When{Model: "gpt-5.5-mini"}, grow)
			w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "hello"})
			w.await("a part is shown", func() bool { return len(w.slack.Posts(slacktest.DM)) == 1 })
			w.onSlack(slacktest.DM, notice429, grown)
		})
		t.Run("discord "+mode, func(t *testing.T) {
			w := newWire(t)
			alice := w.discord.Person("alice")
			w.serve(fmt.Sprintf("\nchannels: {slack: {enabled: false}, discord: {apiUrl: DISCORD, streaming: %s, allowFrom: [\"%s\"]}}\n", mode, alice.ID))
			w.ready("discord")
			w.vendor.On(providertest.When{Model: "gpt-5.5"}, providertest.Status(429, body429))
			w.vendor.On(providertest.When{Model: "gpt-5.5-mini"}, grow)
			m := w.discord.Say(alice, w.discord.DM(alice), "hello")
			w.await("a part is shown", func() bool { return len(w.discord.Posts(m.Channel)) == 1 })
			w.onDiscord(m.Channel, notice429, grown)
		})
	}
}

// What people see of the model picker, the status, a notice and a failure is
// complete on both platforms; -v prints it.
func TestWhatPeopleSee(t *testing.T) {
	w := newWire(t)
	alice := w.discord.Person("alice")
	chat := w.discord.DM(alice)
	w.serve(fmt.Sprintf("\nsession: {dmScope: per-channel-peer}\nchannels: {slack: {apiUrl: SLACK, allowFrom: [%s]}, discord: {apiUrl: DISCORD, allowFrom: [\"%s\"]}}\n", slacktest.Alice, alice.ID))
	w.ready("slack", "discord")
	w.vendor.Always(providertest.When{Model: "gpt-5.5"}, providertest.Status(429, body429))
	for i, say := range []string{"hello", "/status", "/model", "/models", "/why", "and now?"} {
		if i == 5 {
			w.vendor.Always(providertest.When{Model: "gpt-5.5-mini"}, providertest.Status(402, `{"error":{"message":"insufficient credits","type":"billing_error"}}`))
		}
		before, others := len(w.slack.Posts(slacktest.DM)), len(w.discord.Posts(chat.ID))
		w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: say})
		w.await("Slack answers "+say, func() bool { return len(w.slack.Posts(slacktest.DM)) > before+b2i(i == 0) })
		w.discord.Say(alice, chat, say)
		w.await("Discord answers "+say, func() bool { return len(w.discord.Posts(chat.ID)) > others+b2i(i == 0) })
		for _, p := range w.slack.Posts(slacktest.DM)[before:] {
			t.Logf("Slack, %s:\n%s%s", say, p.Read(), picks(p.Blocks))
		}
		for _, p := range w.discord.Posts(chat.ID)[others:] {
			t.Logf("Discord, %s:\n%s%s", say, p.Content, picks(p.Components))
		}
	}
	for name, seen := range map[string]string{"Slack": w.slack.Seen(slacktest.DM), "Discord": fmt.Sprint(w.discord.Posts(chat.ID))} {
		for _, want := range []string{notice429, "openai/gpt-5.5-mini", "rate limit"} {
			if !strings.Contains(seen, want) {
				t.Errorf("%s never says %q", name, want)
			}
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// picks writes the buttons and menus of a message's components as a person sees
// them.
func picks(raw json.RawMessage) string {
	var parsed any
	_ = json.Unmarshal(raw, &parsed)
	var out strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			label, _ := v["label"].(string)
			if text, ok := v["text"].(map[string]any); ok && (v["action_id"] != nil || v["value"] != nil) {
				label, _ = text["text"].(string)
			}
			if label != "" {
				fmt.Fprintf(&out, "\n  [%s]", label)
			}
			for _, key := range []string{"components", "elements", "options"} {
				walk(v[key])
			}
		}
	}
	walk(parsed)
	return out.String()
}
