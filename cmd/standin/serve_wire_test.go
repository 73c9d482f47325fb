package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"standin/channels/discord/discordtest"
	"standin/channels/slack/slacktest"
	"standin/fallback/provider/providertest"
)

// "channels.slack.apiUrl and channels.discord.apiUrl pointing at a plain http
// address on loopback and nothing else changed" [D24]: direct messages and rooms
// are answered on both.
func TestApiUrlIsAllThatIsNeeded(t *testing.T) {
	w := newWire(t)
	alice := w.discord.Person("alice")
	guild := w.discord.NewGuild("workshop")
	hall := guild.NewChannel("hall")
	w.serve(fmt.Sprintf(`
channels:
  slack: {apiUrl: SLACK, allowFrom: [%s], channels: {%s: {}}}
  discord: {apiUrl: DISCORD, allowFrom: ["%s"], guilds: {"%s": {}}}
`, slacktest.Alice, slacktest.General, alice.ID, guild.ID))
	w.ready("slack", "discord")

	w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "hello"})
	w.onSlack(slacktest.DM, "answer of gpt-5.5")
	w.slack.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "<@" + slacktest.BotUser + "> hello"})
	w.onSlack(slacktest.General, "answer of gpt-5.5")
	w.discord.Say(alice, w.discord.DM(alice), "hello")
	w.onDiscord(w.discord.DM(alice).ID, "answer of gpt-5.5")
	w.discord.Say(alice, hall, w.discord.Bot.Mention()+" hello")
	w.onDiscord(hall.ID, "answer of gpt-5.5")
}

// The notice of a fallback keeps its reference in every mode but off and never
// takes the first reply's; a thread is answered in the thread [N26, N27, SL20].
func TestWhereNoticeAndAnswerGoOnSlack(t *testing.T) {
	for _, c := range []struct {
		mode           string
		inThread       bool
		notice, answer bool // in the thread
	}{
		{"off", false, false, false},
		{"first", false, true, true},
		{"all", false, true, true},
		{"off", true, true, true},
		{"first", true, true, true},
	} {
		t.Run(fmt.Sprintf("%s thread=%t", c.mode, c.inThread), func(t *testing.T) {
			w := newWire(t)
			w.serve(fmt.Sprintf("\nchannels: {slack: {apiUrl: SLACK, replyToMode: %s, channels: {%s: {}}}}\n", c.mode, slacktest.General))
			w.ready("slack")
			w.vendor.On(providertest.When{Model: "gpt-5.5"}, providertest.Status(429, `{"error":{"message":"rate limit"}}`))
			say := slacktest.Say{Room: slacktest.General, User: slacktest.Alice, Text: "<@" + slacktest.BotUser + "> hello"}
			if c.inThread {
				say.Thread = w.slack.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "a topic"})
			}
			ts := w.slack.Say(say)
			if say.Thread != "" {
				ts = say.Thread
			}
			posts := w.onSlack(slacktest.General, "↪️ Model Fallback: openai/gpt-5.5-mini (selected openai/gpt-5.5; rate limit)", "answer of gpt-5.5-mini")
			for i, threaded := range []bool{c.notice, c.answer} {
				root := ""
				if threaded {
					root = ts
				}
				if posts[i].Thread != root {
					t.Errorf("post %d stands in thread %q, want %q", i, posts[i].Thread, root)
				}
			}
		})
	}
}

// Discord: references instead of threads [D11].
func TestWhereNoticeAndAnswerReferToOnDiscord(t *testing.T) {
	for mode, refers := range map[string]bool{"off": false, "first": true, "all": true} {
		t.Run(mode, func(t *testing.T) {
			w := newWire(t)
			alice := w.discord.Person("alice")
			w.serve(fmt.Sprintf("\nchannels: {slack: {enabled: false}, discord: {apiUrl: DISCORD, replyToMode: %s, allowFrom: [\"%s\"]}}\n", mode, alice.ID))
			w.ready("discord")
			w.vendor.On(providertest.When{Model: "gpt-5.5"}, providertest.Status(429, `{"error":{"message":"rate limit"}}`))
			m := w.discord.Say(alice, w.discord.DM(alice), "hello")
			posts := w.onDiscord(m.Channel, "↪️ Model Fallback: openai/gpt-5.5-mini (selected openai/gpt-5.5; rate limit)", "answer of gpt-5.5-mini")
			want := ""
			if refers {
				want = m.ID
			}
			for i, p := range posts {
				if p.Reference != want {
					t.Errorf("post %d refers to %q, want %q", i, p.Reference, want)
				}
			}
		})
	}
}

// "Unknown DM sender with policy pairing: message isn't processed" [P1], until
// somebody lets them in beside the running daemon [P2].
func TestPairingBesideTheRunningDaemon(t *testing.T) {
	w := newWire(t)
	w.serve("\nchannels: {slack: {apiUrl: SLACK, streaming: 'off'}, discord: {enabled: false}}\n") // a post is its end
	w.ready("slack")
	say := func(text string) {
		w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: text})
	}
	say("my secret plan")
	asked := w.onSlack(slacktest.DM, "I don't know you yet…")[0].Read()
	_, command, found := strings.Cut(asked, "standin pairing approve ")
	if !found || len(w.vendor.Requests()) > 0 {
		t.Fatalf("an unknown person reads %q, and the vendor was asked %d times", asked, len(w.vendor.Requests()))
	}
	if code, out := w.run("pairing", "list", "--state", w.dir); code != exitOK || !strings.Contains(out, strings.Fields(command)[1]) {
		t.Errorf("pairing list: %d\n%s", code, out)
	}
	if code, _ := w.run("pairing", "approve", "slack", "AAAAAAAA", "--state", w.dir, "-c", w.dir+"/config.yaml"); code != exitFault {
		t.Errorf("a wrong code: exit %d", code)
	}
	args := append([]string{"pairing", "approve", "--state", w.dir, "-c", w.dir + "/config.yaml"}, strings.Fields(command)...)
	if code, out := w.run(args...); code != exitOK || !strings.Contains(out, "owner") || !strings.Contains(out, "They are being told.") {
		t.Fatalf("pairing approve: %d\n%s", code, out)
	}
	w.onSlack(slacktest.DM, asked, "You have been let in.…")
	say("hello")
	w.onSlack(slacktest.DM, asked, "You have been let in.…", "answer of gpt-5.5")
	if heard := fmt.Sprint(w.vendor.Requests()); strings.Contains(heard, "secret plan") {
		t.Error("the model was told what was written before the approval")
	}
	if code, out := w.run("pairing", "remove", "slack", slacktest.Alice, "--state", w.dir); code != exitOK {
		t.Fatalf("pairing remove: %d\n%s", code, out)
	}
	say("again")
	w.onSlack(slacktest.DM, asked, "You have been let in.…", "answer of gpt-5.5", "I don't know you yet…")
}

// "A bad token is said once, clearly, with the mend, and does not stop the other
// channel."
func TestABadSlackTokenLeavesDiscordAlone(t *testing.T) {
	w := newWire(t)
	w.slack.Revoke("token_revoked")
	alice := w.discord.Person("alice")
	w.serve(fmt.Sprintf("\nchannels: {slack: {apiUrl: SLACK}, discord: {apiUrl: DISCORD, allowFrom: [\"%s\"]}}\n", alice.ID))
	w.ready("discord")
	w.await("Slack is told to have failed", func() bool { return w.states()["slack"].State == "failed" })
	if s := w.states()["slack"]; !strings.Contains(s.Mend, "install the app again") {
		t.Errorf("slack stands at %+v", s)
	}
	code, out := w.run("channels", "status", "--state", w.dir)
	if code != exitFault || !strings.Contains(out, "token_revoked") || strings.Count(out, "install the app again") != 1 {
		t.Errorf("channels status: %d\n%s", code, out)
	}
	w.discord.Say(alice, w.discord.DM(alice), "hello")
	w.onDiscord(w.discord.DM(alice).ID, "answer of gpt-5.5")
	if n := strings.Count(w.log.String(), `"level":"ERROR"`); n != 1 || !strings.Contains(w.log.String(), "install the app again") {
		t.Errorf("it is said %d times:\n%s", n, w.log)
	}
}

// A change of one channel's block restarts that channel and no other; a change
// of who may speak restarts none [G8].
func TestReloadConnectsOnlyWhatChanged(t *testing.T) {
	w := newWire(t)
	alice := w.discord.Person("alice")
	both := "\nchannels: {slack: {apiUrl: SLACK%s}, discord: {apiUrl: DISCORD, allowFrom: [\"" + alice.ID + "\"]}}\n"
	w.serve(fmt.Sprintf(both, ""))
	w.ready("slack", "discord")
	opened, _, _ := w.slack.Opened()

	reload := func(change string) {
		t.Helper()
		before := strings.Count(w.log.String(), "config reloaded")
		w.config(fmt.Sprintf(both, change))
		w.await("the config is reloaded", func() bool { return strings.Count(w.log.String(), "config reloaded") > before })
	}
	reload(", allowFrom: [" + slacktest.Alice + "]")
	w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "hello"})
	w.onSlack(slacktest.DM, "answer of gpt-5.5")
	if now, _, _ := w.slack.Opened(); now != opened {
		t.Error("a rule needed a new connection")
	}
	reload(", allowFrom: [" + slacktest.Alice + "], textChunkLimit: 500")
	w.await("Slack connects anew", func() bool { now, _, _ := w.slack.Opened(); return now > opened })
	w.ready("slack")
	if n := w.discord.Count(discordtest.Identify, ""); n != 1 {
		t.Errorf("Discord was connected %d times", n)
	}
	reload(", enabled: false")
	w.await("Slack is gone", func() bool { return w.slack.Connected() == 0 })
	if _, there := w.states()["slack"]; there {
		t.Error("a channel that is off is still told of")
	}
	w.discord.Say(alice, w.discord.DM(alice), "still here?")
	w.onDiscord(w.discord.DM(alice).ID, "answer of gpt-5.5")
}

// Discord does not repeat what was said while the daemon was down; it is read
// again at the start, from the last message that was taken [IL-010, IL-264].
func TestWhatDiscordSaidMeanwhileIsAnsweredAfterTheStart(t *testing.T) {
	w := newWire(t)
	alice := w.discord.Person("alice")
	chat := w.discord.DM(alice)
	block := fmt.Sprintf("\nchannels: {slack: {enabled: false}, discord: {apiUrl: DISCORD, allowFrom: [\"%s\"]}}\n", alice.ID)
	w.serve(block)
	w.ready("discord")
	w.await("the slash commands are registered", func() bool { return slices.Contains(w.discord.Commands(""), "model") })
	w.discord.Say(alice, chat, "hello")
	w.onDiscord(chat.ID, "answer of gpt-5.5")
	w.end()
	w.discord.Say(alice, chat, "anybody there?")
	w.serve(block)
	w.onDiscord(chat.ID, "answer of gpt-5.5", "answer of gpt-5.5")
	if heard := fmt.Sprint(w.vendor.Requests()); strings.Count(heard, "anybody there?") != 1 {
		t.Errorf("the model heard %s", heard)
	}
}
