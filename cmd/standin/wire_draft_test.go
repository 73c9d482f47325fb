package main

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"standin/channels/discord/discordtest"
	"standin/channels/slack/slacktest"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
	"standin/store"
)

// whole is the answer of the tests below; what a room reads of it before it is
// complete is a half.
const whole = "This is the whole answer and nothing but the answer."

// slowly makes the wire's vendor write its answers word by word, and gives the
// time that it takes for each, which may be changed.
func (w *wire) slowly() *atomic.Int64 {
	var pace atomic.Int64
	stage := &providertest.Stage{Answer: func(string, []provider.Message) providertest.StageReply {
		return providertest.StageReply{Text: whole, Pace: time.Duration(pace.Load())}
	}}
	server := httptest.NewServer(stage.OpenAI())
	w.t.Cleanup(server.Close)
	w.models = strings.ReplaceAll(`
agents: {defaults: {model: {primary: openai/gpt-5.5}}}
models: {providers: {openai: {baseUrl: "URL/v1", api: openai-completions, apiKey: k1}}}
`, "URL", server.URL)
	return &pace
}

// draftStage is one platform of the tests below.
type draftStage struct {
	channels string // block of the config
	say      func()
	posts    func() []string
	// jam lets no answer take the place of its draft, and the next deletions fail.
	jam func()
}

// draftStages are the platforms that show drafts.
func (w *wire) draftStages() map[string]draftStage {
	alice := w.discord.Person("alice")
	guild := w.discord.NewGuild("workshop")
	room := guild.NewChannel("room")
	return map[string]draftStage{
		"slack": {
			channels: "\nchannels: {discord: {enabled: false}, slack: {apiUrl: SLACK, groupPolicy: open, ackReaction: '', streaming: partial}}\n",
			say: func() {
				w.slack.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Alice, Text: "<@" + slacktest.BotUser + "> tell me"})
			},
			posts: func() (texts []string) {
				for _, p := range w.slack.Posts(slacktest.General) {
					texts = append(texts, p.Read())
				}
				return texts
			},
			jam: func() {
				for range 100 {
					w.slack.Fail("chat.update", slacktest.Fault{Status: 429, RetryAfter: "2"})
				}
				for range 4 {
					w.slack.Fail("chat.delete", slacktest.Fault{Status: 502})
				}
			},
		},
		"discord": {
			channels: "\nchannels: {slack: {enabled: false}, discord: {apiUrl: DISCORD, ackReaction: '', streaming: partial, guilds: {\"" + guild.ID + "\": {}}}}\n",
			say:      func() { w.discord.Say(alice, room, w.discord.Bot.Mention()+" tell me") },
			posts: func() (texts []string) {
				for _, p := range w.discord.Posts(room.ID) {
					texts = append(texts, p.Content)
				}
				return texts
			},
			jam: func() {
				w.discord.Break(discordtest.Fault{Method: http.MethodPatch, Path: "/messages/", Status: 500, Times: 100},
					discordtest.Fault{Method: http.MethodDelete, Path: "/messages/", Status: 502, Times: 3})
			},
		},
	}
}

// drafts counts the rows of drafts that nobody ends.
func (w *wire) drafts() int {
	w.t.Helper()
	db, err := store.OpenBeside(w.t.Context(), store.Options{Dir: w.dir})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.Abandoned(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return len(rows)
}

// half tells whether a room reads the beginning of the answer and nothing else.
func half(posts []string) bool {
	return len(posts) == 1 && posts[0] != whole && strings.HasPrefix(whole, posts[0])
}

// answered waits until a room reads the answer, once, and nothing else, and
// nothing is owed or left over.
func (w *wire) answered(s draftStage) {
	w.t.Helper()
	w.poll("the room reads the answer alone", func() bool {
		posts := s.posts()
		return len(posts) == 1 && posts[0] == whole && w.owed() == 0 && w.drafts() == 0
	})
}

// The daemon is killed while half of its answer stands in the room: after the
// next start the room reads the whole answer, once, and no half of it [I1, I2, I8].
func TestAKilledDaemonLeavesNoHalfAnswer(t *testing.T) {
	for _, platform := range []string{"slack", "discord"} {
		t.Run(platform, func(t *testing.T) {
			w := newWire(t)
			pace := w.slowly()
			pace.Store(int64(300 * time.Millisecond))
			s := w.draftStages()[platform]
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			daemon := exec.Command(program, "-test.run=^TestDaemonToBeKilled$", w.config(s.channels), w.dir)
			daemon.Stdout, daemon.Stderr = w.log, w.log
			for name, value := range w.env {
				daemon.Env = append(daemon.Env, name+"="+value)
			}
			if err := daemon.Start(); err != nil {
				t.Fatal(err)
			}
			w.ready(platform)
			s.say()
			w.await("half of it is shown", func() bool { return half(s.posts()) })
			if err := daemon.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = daemon.Wait()
			if !half(s.posts()) {
				t.Fatalf("the room reads %q: the kill came too late to mean anything", s.posts())
			}
			pace.Store(0)
			w.serve(s.channels)
			w.answered(s)
		})
	}
}

// TestDaemonToBeKilled is the daemon of the test above, in a process of its own.
func TestDaemonToBeKilled(t *testing.T) {
	if flag.NArg() != 2 {
		t.Skip("it is run by another test")
	}
	w := world{ctx: t.Context(), getenv: os.Getenv, stdin: strings.NewReader(""), stdout: os.Stdout, stderr: os.Stderr}
	_ = serveCmd{Config: flag.Arg(0), stateFlag: stateFlag{State: flag.Arg(1)}, Log: "-"}.Run(w)
}

// The daemon ends in good order, but the platform lets neither the answer take
// the place of its half nor the half be taken away. The next start mends it.
func TestAnEndInTheJamLeavesNoHalfAnswer(t *testing.T) {
	for _, platform := range []string{"slack", "discord"} {
		t.Run(platform, func(t *testing.T) {
			w := newWire(t)
			pace := w.slowly()
			pace.Store(int64(100 * time.Millisecond))
			s := w.draftStages()[platform]
			w.serve(s.channels)
			w.ready(platform)
			s.say()
			w.await("half of it is shown", func() bool { return half(s.posts()) })
			s.jam()
			w.poll("the answer is owed", func() bool { return w.owed() == 1 })
			w.end()
			if !half(s.posts()) {
				t.Fatalf("the room reads %q: there was no jam", s.posts())
			}
			w.serve(s.channels)
			w.answered(s)
		})
	}
}
