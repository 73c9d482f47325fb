package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"standin/channels/slack/slacktest"
	"standin/fallback/provider/providertest"
)

// lastHeard is what the vendor was asked last.
func (w *wire) lastHeard() string {
	all := w.vendor.Requests()
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprint(all[len(all)-1].Messages)
}

// In a thread the agent is called into it hears what was said there before, and
// with its next turn what was changed since; neither is answered by itself
// [SL16, SL19].
func TestAThreadOfSlackIsCaughtUpWith(t *testing.T) {
	w := newWire(t)
	w.serve(fmt.Sprintf("\nchannels: {discord: {enabled: false}, slack: {apiUrl: SLACK, channels: {%s: {}}}}\n", slacktest.General))
	w.ready("slack")
	root := w.slack.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "the pump is loud"})
	reply := w.slack.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Thread: root, Text: "since monday"})
	ask := func(text string) {
		w.slack.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Alice, Thread: root, Text: "<@" + slacktest.BotUser + "> " + text})
	}
	ask("what now?")
	w.onSlack(slacktest.General, "answer of gpt-5.5")
	if heard := w.lastHeard(); !strings.Contains(heard, "Said in this thread before") || !strings.Contains(heard, "Bob: the pump is loud\nBob: since monday\n") {
		t.Errorf("the model heard %s", heard)
	}
	w.slack.Edit(slacktest.General, reply, "since tuesday")
	w.await("the edit is taken", func() bool { return w.slack.Unacked() == 0 })
	ask("and now?")
	w.onSlack(slacktest.General, "answer of gpt-5.5", "answer of gpt-5.5")
	if heard := w.lastHeard(); !strings.Contains(heard, `Bob (`+slacktest.Bob+`) edited message `+reply) || !strings.Contains(heard, "since tuesday") ||
		strings.Count(heard, "Said in this thread before") != 1 {
		t.Errorf("the model heard %s", heard)
	}
}

// The same on Discord, with a reaction to the agent's own words [D4].
func TestAThreadOfDiscordIsCaughtUpWith(t *testing.T) {
	w := newWire(t)
	alice, bob := w.discord.Person("alice"), w.discord.Person("bob")
	guild := w.discord.NewGuild("workshop")
	hall := guild.NewChannel("hall")
	corner := hall.NewThread(bob, "corner", false)
	w.serve(fmt.Sprintf("\nchannels: {slack: {enabled: false}, discord: {apiUrl: DISCORD, guilds: {\"%s\": {}}}}\n", guild.ID))
	w.ready("discord")
	w.discord.Say(bob, corner, "the pump is loud")
	me := w.discord.Bot.Mention() + " "
	w.discord.Say(alice, corner, me+"what now?")
	answer := w.onDiscord(corner.ID, "answer of gpt-5.5")[0]
	if heard := w.lastHeard(); !strings.Contains(heard, "bob: the pump is loud\n") {
		t.Errorf("the model heard %s", heard)
	}
	w.discord.Garbage("MESSAGE_REACTION_ADD", map[string]any{"user_id": bob.ID, "channel_id": corner.ID, "message_id": answer.ID, "message_author_id": w.discord.Bot.ID, "guild_id": guild.ID,
		"member": map[string]any{"user": map[string]any{"id": bob.ID, "username": "bob"}, "roles": []string{}}, "emoji": map[string]any{"name": "🔥"}})
	w.discord.Say(alice, corner, me+"and now?")
	w.onDiscord(corner.ID, "answer of gpt-5.5", "answer of gpt-5.5")
	if heard := w.lastHeard(); !strings.Contains(heard, "bob ("+bob.ID+") reacted with :🔥: to your message "+answer.ID) {
		t.Errorf("the model heard %s", heard)
	}
}

// The picker of Discord: asked for by a slash command, seen and used by its asker
// alone; a choice while an answer is being made is confirmed by name, stored as
// the person's own, and counts from the next message on at the latest [D17,
// discord-11, discord-14].
func TestTheModelIsPickedOnDiscord(t *testing.T) {
	w := newWire(t)
	alice, mallory := w.discord.Person("alice"), w.discord.Person("mallory")
	guild := w.discord.NewGuild("workshop")
	hall := guild.NewChannel("hall")
	w.serve(fmt.Sprintf("\nchannels: {slack: {enabled: false}, discord: {apiUrl: DISCORD, allowFrom: [\"%s\"], guilds: {\"%s\": {}}}}\n", alice.ID, guild.ID))
	w.ready("discord")
	w.vendor.On(providertest.When{Model: "gpt-5.5"}, providertest.Hang())
	w.discord.Say(alice, hall, w.discord.Bot.Mention()+" think hard")
	w.await("the vendor is asked", func() bool { return len(w.vendor.Requests()) == 1 })
	w.discord.Slash(alice, hall, "model", "")
	w.await("the picker is shown", func() bool { return len(w.discord.SeenOnlyBy(alice)) == 1 })
	picker := w.discord.SeenOnlyBy(alice)[0]
	var rows []struct {
		Components []struct {
			CustomID string `json:"custom_id"`
			Label    string
			Options  []struct{ Value string }
		}
	}
	if err := json.Unmarshal(picker.Components, &rows); err != nil || len(rows) == 0 {
		t.Fatalf("the picker offers %s, %v", picker.Components, err)
	}
	id := ""
	for _, c := range rows[0].Components {
		if strings.HasSuffix(c.CustomID, "openai/gpt-5.5-mini") {
			id = c.CustomID
		}
	}
	if id == "" || len(id) > 100 {
		t.Fatalf("no choice of the other model: %s", picker.Components)
	}
	w.discord.Click(mallory, &picker, id)
	w.await("another person is refused", func() bool { return len(w.discord.SeenOnlyBy(mallory)) == 1 })
	w.discord.Click(alice, &picker, id)
	w.await("the choice is confirmed", func() bool {
		for _, m := range w.discord.SeenOnlyBy(alice) {
			if strings.Contains(m.Content, "From now on openai/gpt-5.5-mini answers") {
				return true
			}
		}
		return false
	})
	w.discord.Say(alice, hall, w.discord.Bot.Mention()+" /stop")
	w.await("the old answer is stopped", func() bool {
		posts := w.discord.Posts(hall.ID)
		return len(posts) > 0 && strings.HasPrefix(posts[len(posts)-1].Content, "Stopped")
	})
	w.discord.Say(alice, hall, w.discord.Bot.Mention()+" hello")
	w.await("the chosen model answers", func() bool {
		posts := w.discord.Posts(hall.ID)
		return posts[len(posts)-1].Content == "answer of gpt-5.5-mini"
	})
}
