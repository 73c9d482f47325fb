package main

import (
	"fmt"
	"strings"
	"testing"

	"standin/channels/slack/slacktest"
	"standin/fallback/provider/providertest"
)

// "When two threads talk at the same time, one on auto fallback; then the other
// is on the primary and histories are separate" [IL-136].
func TestThreadsOfSlackAreConversationsOfTheirOwn(t *testing.T) {
	w := newWire(t)
	w.serve(fmt.Sprintf("\nchannels: {discord: {enabled: false}, slack: {apiUrl: SLACK, channels: {%s: {}}}}\n", slacktest.General))
	w.ready("slack")
	one := w.slack.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "a topic"})
	two := w.slack.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "another"})
	say := func(thread, text string) {
		w.slack.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Alice, Thread: thread, Text: "<@" + slacktest.BotUser + "> " + text})
	}
	// Refused for its form, which rests no credential: only this thread falls back.
	w.vendor.On(providertest.When{Model: "gpt-5.5"}, providertest.Status(400, `{"error":{"message":"bad request","type":"invalid_request_error"}}`))
	say(one, "the secret of the first")
	w.onSlack(slacktest.General, "↪️ Model Fallback: openai/gpt-5.5-mini…", "answer of gpt-5.5-mini")
	say(two, "hello")
	posts := w.onSlack(slacktest.General, "↪️ Model Fallback: openai/gpt-5.5-mini…", "answer of gpt-5.5-mini", "answer of gpt-5.5")
	for i, want := range []string{one, one, two} {
		if posts[i].Thread != want {
			t.Errorf("post %d stands in thread %q, want %q", i, posts[i].Thread, want)
		}
	}
	all := w.vendor.Requests()
	if heard := fmt.Sprint(all[len(all)-1].Messages); strings.Contains(heard, "the secret") {
		t.Errorf("the second thread's model heard %s", heard)
	}
}

// "Messages in channel C and its thread T: two sessions exist, /model in T does
// not affect C, replies go to T and C respectively" [IL-259].
func TestAThreadOfDiscordChoosesForItself(t *testing.T) {
	w := newWire(t)
	alice := w.discord.Person("alice")
	guild := w.discord.NewGuild("workshop")
	hall := guild.NewChannel("hall")
	corner := hall.NewThread(alice, "corner", false)
	w.serve(fmt.Sprintf("\nchannels: {slack: {enabled: false}, discord: {apiUrl: DISCORD, allowFrom: [\"%s\"], guilds: {\"%s\": {channels: {\"%s\": {}}}}}}\n", alice.ID, guild.ID, hall.ID))
	w.ready("discord")
	me := w.discord.Bot.Mention() + " "
	w.discord.Say(alice, corner, me+"/model openai/gpt-5.5-mini")
	w.await("the choice is confirmed", func() bool { return len(w.discord.Posts(corner.ID)) == 1 })
	w.discord.Say(alice, corner, me+"hello")
	w.discord.Say(alice, hall, me+"hello")
	w.onDiscord(hall.ID, "answer of gpt-5.5")
	w.await("the thread is answered in it", func() bool {
		posts := w.discord.Posts(corner.ID)
		return posts[len(posts)-1].Content == "answer of gpt-5.5-mini"
	})
}

// "Given allow=[parent]; when /status is used in a thread of it; then it works;
// in a thread of another channel it is refused with a short ephemeral text"
// [IL-284].
func TestACommandInAThreadIsAllowedByItsRoom(t *testing.T) {
	w := newWire(t)
	alice := w.discord.Person("alice")
	guild := w.discord.NewGuild("workshop")
	hall, other := guild.NewChannel("hall"), guild.NewChannel("other")
	w.serve(fmt.Sprintf("\nchannels: {slack: {enabled: false}, discord: {apiUrl: DISCORD, allowFrom: [\"%s\"], guilds: {\"%s\": {channels: {\"%s\": {}}}}}}\n", alice.ID, guild.ID, hall.ID))
	w.ready("discord")
	ours := w.discord.Slash(alice, hall.NewThread(alice, "corner", false), "status", "")
	w.await("the status is told", func() bool {
		text, _, seen := w.discord.Answer(ours)
		return seen && strings.Contains(text, "Model: openai/gpt-5.5")
	})
	theirs := w.discord.Slash(alice, other.NewThread(alice, "nook", false), "status", "")
	w.await("it is refused in a word", func() bool {
		text, private, seen := w.discord.Answer(theirs)
		return seen && private && text != "" && len(text) < 100 && !strings.Contains(text, "gpt")
	})
}

// "Given a notice prefix plus an answer of exactly 2000 chars; then two posts,
// both within the limit" [IL-191].
func TestAnAnswerOfExactlyTheLimitIsOnePostBehindTheNotice(t *testing.T) {
	w := newWire(t)
	alice := w.discord.Person("alice")
	w.serve(fmt.Sprintf("\nchannels: {slack: {enabled: false}, discord: {apiUrl: DISCORD, allowFrom: [\"%s\"]}}\n", alice.ID))
	w.ready("discord")
	answer := strings.Repeat("_word_ ", 285) + "_end_"
	w.vendor.On(providertest.When{Model: "gpt-5.5"}, providertest.Status(429, body429))
	w.vendor.On(providertest.When{Model: "gpt-5.5-mini"}, providertest.Answer(answer))
	if len(answer) != 2000 {
		t.Fatalf("%d characters", len(answer))
	}
	m := w.discord.Say(alice, w.discord.DM(alice), "hello")
	w.onDiscord(m.Channel, notice429, answer)
}
