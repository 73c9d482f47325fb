package main

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"standin/channels/discord/discordtest"
	"standin/channels/slack/slacktest"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
	"standin/store"
)

// crowd is people in many rooms who talk without waiting for an answer, while a
// platform does what platforms do.
type crowd struct {
	rooms, each int
	say         func(room int, text string)
	posts       func(room int) []string // what the bot says there now, in order
	trouble     func(dice *rand.Rand)   // after every message
	restart     bool                    // the daemon, in the middle
	asked       func() asks             // what the vendor was asked
	late        func() map[string]bool  // messages that the platform brought again, and so perhaps late; nil: none
}

// asks is what the vendor was asked: how often, by message, and the messages in
// the order in which it was first asked about them.
type asks struct {
	times map[string]int
	order []string
}

// numbered is how a message and its answer are known.
var numbered = regexp.MustCompile(`room \d+ message \d+`)

// echo makes the wire's vendor answer each message with its number, slowly
// enough that drafts of it are seen, and counts what it is asked.
func (w *wire) echo() func() asks {
	var mu sync.Mutex
	asked := asks{times: map[string]int{}}
	stage := &providertest.Stage{Answer: func(_ string, messages []provider.Message) providertest.StageReply {
		all := numbered.FindAllString(messages[len(messages)-1].Text, -1)
		last := all[len(all)-1]
		mu.Lock()
		defer mu.Unlock()
		if asked.times[last]++; asked.times[last] == 1 {
			asked.order = append(asked.order, last)
		}
		return providertest.StageReply{Text: "To " + last + ": this is what there is to say about it.", Pace: 2 * time.Millisecond}
	}}
	server := httptest.NewServer(stage.OpenAI())
	w.t.Cleanup(server.Close)
	w.models = strings.ReplaceAll(`
agents: {defaults: {model: {primary: openai/gpt-5.5}, maxConcurrent: 32, historyLimit: 4}}
models: {providers: {openai: {baseUrl: "URL/v1", api: openai-completions, apiKey: k1}}}
messages: {queue: {mode: followup, cap: 1000}}
`, "URL", server.URL)
	return func() asks { mu.Lock(); defer mu.Unlock(); return asked }
}

// weather lets the crowd talk and judges what the rooms read in the end: each
// message was answered exactly once, in the order of its room, and nothing else
// stands there [I1, I2, I9, N31].
//
// Which order is promised: a room's answers stand in the order in which its
// messages were taken, always, also those of messages that the platform brought
// again, and through a restart. Messages are taken in the order in which they
// were said, unless the platform brings one only after later ones: it is answered
// when it comes, for what was answered cannot be taken back. The first is judged
// for all messages, by the order in which the vendor was asked; the second for
// those that the platform brought once.
func (w *wire) weather(c crowd, channels string) {
	w.t.Helper()
	began := time.Now()
	dice := rand.New(rand.NewPCG(3, 4))
	answer := func(room, n int) string {
		return fmt.Sprintf("To room %d message %d: this is what there is to say about it.", room, n)
	}
	reach := func(rounds int) {
		w.t.Helper()
		w.poll(fmt.Sprintf("%d messages of each room are answered", rounds), func() bool {
			for room := range c.rooms {
				if rounds > 0 && !slices.Contains(c.posts(room), answer(room, rounds-1)) {
					return false
				}
			}
			return true
		})
	}
	for n := range c.each {
		for room := range c.rooms {
			c.say(room, fmt.Sprintf("room %d message %d", room, n))
			c.trouble(dice)
		}
		if c.restart && n == c.each/2 {
			w.end()
			w.serve(channels)
		}
		reach(n - 3) // people do not wait for an answer, but they are not machines
	}
	reach(c.each)
	w.poll("nothing is owed, and no half left over", func() bool { return w.owed() == 0 && w.drafts() == 0 }) // what is still looked up might be posted again
	w.end()

	late := map[string]bool{}
	if c.late != nil {
		late = c.late()
	}
	isLate := func(post string) bool { return late[numbered.FindString(post)] }
	once, wrong := 0, 0
	for room := range c.rooms {
		got, want := c.posts(room), []string(nil)
		for n := range c.each {
			want = append(want, answer(room, n))
			if len(slices.DeleteFunc(slices.Clone(got), func(p string) bool { return p != want[n] })) == 1 {
				once++
			}
		}
		var stand, taken []string
		for _, p := range got {
			stand = append(stand, numbered.FindString(p))
		}
		for _, m := range c.asked().order {
			if strings.HasPrefix(m, fmt.Sprintf("room %d ", room)) {
				taken = append(taken, m)
			}
		}
		if !slices.Equal(stand, taken) {
			w.t.Errorf("room %d was asked about as %q and answered as %q", room, taken, stand)
		}
		if len(got) != len(want) || !slices.Equal(slices.DeleteFunc(got, isLate), slices.DeleteFunc(want, isLate)) {
			if wrong++; wrong <= 3 {
				w.t.Errorf("room %d reads\n%s", room, strings.Join(got, "\n"))
			}
		}
	}
	calls, asked := 0, c.asked().times
	for _, n := range asked {
		calls += n
	}
	w.t.Logf("%d messages in %d rooms, %v: %d answered exactly once, %d rooms with something more or out of order (%d messages came again and are not judged by the order in which they were said); the vendor was asked %d times",
		c.rooms*c.each, c.rooms, time.Since(began).Round(time.Millisecond), once, wrong, len(late), calls)
	if once != c.rooms*c.each || len(asked) != c.rooms*c.each {
		w.t.Errorf("of %d messages %d were answered once, and %d were asked about", c.rooms*c.each, once, len(asked))
	}
	if calls > len(asked) && !c.restart { // a turn that a restart cut off is run again
		w.t.Errorf("the vendor was asked %d times too often", calls-len(asked))
	}
}

// poll waits for what nobody tells of.
func (w *wire) poll(what string, ok func() bool) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(60 * time.Second); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			text := w.log.String()
			w.t.Fatalf("it did not come to this: %s\n%s", what, text[max(0, len(text)-4000):])
		}
	}
}

// owed counts what the running daemon has still to post.
func (w *wire) owed() int {
	w.t.Helper()
	db, err := store.OpenBeside(w.t.Context(), store.Options{Dir: w.dir})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.Due(w.t.Context(), time.Now().Add(24*time.Hour))
	if err != nil {
		w.t.Fatal(err)
	}
	return len(rows)
}

// Slack drops its sockets, asks to reconnect, repeats events, limits, breaks,
// and loses the answers to calls that had their effect.
func TestAThousandMessagesInBadWeatherOnSlack(t *testing.T) {
	for _, c := range []struct {
		streaming   string
		rooms, each int
	}{{"off", 20, 10}, {"partial", 50, 20}} { // with drafts, and a restart
		t.Run(c.streaming, func(t *testing.T) {
			if testing.Short() {
				c.rooms, c.each = 10, 10
			}
			w := newWire(t)
			w.slack.ResendAfter, w.slack.Patience = 300*time.Millisecond, 100 // four tries, as Slack gives an event, would not always do
			asked := w.echo()
			rooms := make([]string, c.rooms)
			for i := range rooms {
				rooms[i] = fmt.Sprintf("C0ROOM%02d", i)
				w.slack.AddRoom(slacktest.Room{ID: rooms[i], Kind: "channel", Members: []string{slacktest.Alice, slacktest.BotUser}})
			}
			faults := []slacktest.Fault{
				{Status: 429, RetryAfter: "1"}, {Status: 500, Applied: true}, {Status: 502}, {Cut: true}, {Cut: true, Applied: true},
				{Code: "internal_error", Applied: true}, {Body: "<html>", Applied: true},
			}
			said, met := 0, map[string]int{}
			block := fmt.Sprintf("\nchannels: {discord: {enabled: false}, slack: {apiUrl: SLACK, groupPolicy: open, ackReaction: '', streaming: '%s'}}\n", c.streaming)
			w.serve(block)
			w.ready("slack")
			w.weather(crowd{rooms: c.rooms, each: c.each, asked: asked, restart: c.streaming == "partial",
				say: func(room int, text string) {
					w.slack.Say(slacktest.Say{Room: rooms[room], User: slacktest.Alice, Text: "<@" + slacktest.BotUser + "> " + text})
				},
				posts: func(room int) (texts []string) {
					for _, p := range w.slack.Posts(rooms[room]) {
						texts = append(texts, p.Read())
					}
					return texts
				},
				late: func() map[string]bool {
					late := map[string]bool{}
					for _, e := range w.slack.Events() {
						if e.Attempts > 1 && strings.Contains(string(e.Payload), "@"+slacktest.BotUser) {
							late[numbered.FindString(string(e.Payload))] = true
						}
					}
					return late
				},
				trouble: func(dice *rand.Rand) {
					said++
					switch {
					case said%250 == 120: // Slack's own pace; more in a row would only be waited for
						w.slack.Drop()
						met["drops"]++
					case said%300 == 0:
						w.slack.Fail("chat.delete", faults[dice.IntN(len(faults))])
						met["failed calls"]++
					case said == 800:
						w.slack.Disconnect("refresh_requested")
						met["refreshes"]++
					case dice.IntN(8) == 0:
						w.slack.Repeat()
						met["repeats"]++
					case dice.IntN(12) == 0:
						w.slack.Fail([]string{"chat.postMessage", "chat.update"}[dice.IntN(2)], faults[dice.IntN(len(faults))])
						met["failed calls"]++
					}
				},
			}, block)
			ever, _, bad := w.slack.Opened()
			t.Logf("it met %v; there were %d sockets", met, ever)
			if bad != 0 {
				t.Errorf("%d frames are none of the protocol", bad)
			}
		})
	}
}

// Discord cuts and closes its gateway, forgets sessions, repeats events, limits,
// and loses the answers to posts that had their effect.
func TestAThousandMessagesInBadWeatherOnDiscord(t *testing.T) {
	for _, c := range []struct {
		streaming   string
		rooms, each int
	}{{"off", 10, 10}, {"partial", 50, 20}} { // with drafts, and a restart
		t.Run(c.streaming, func(t *testing.T) {
			if testing.Short() {
				c.rooms, c.each = 10, 10
			}
			w := newWire(t)
			asked := w.echo()
			alice := w.discord.Person("alice")
			guild := w.discord.NewGuild("workshop")
			rooms := make([]*discordtest.Channel, c.rooms)
			for i := range rooms {
				rooms[i] = guild.NewChannel(fmt.Sprint("room-", i))
			}
			said, met := 0, map[string]int{}
			var last *discordtest.Message
			block := fmt.Sprintf("\nchannels: {slack: {enabled: false}, discord: {apiUrl: DISCORD, ackReaction: '', streaming: '%s', guilds: {\"%s\": {}}}}\n", c.streaming, guild.ID)
			w.serve(block)
			w.ready("discord")
			w.weather(crowd{rooms: c.rooms, each: c.each, asked: asked, restart: c.streaming == "partial",
				say: func(room int, text string) {
					last = w.discord.Say(alice, rooms[room], w.discord.Bot.Mention()+" "+text)
				},
				posts: func(room int) (texts []string) {
					for _, p := range w.discord.Posts(rooms[room].ID) {
						texts = append(texts, p.Content)
					}
					return texts
				},
				trouble: func(dice *rand.Rand) {
					did := func(what string) { met[what]++ }
					switch said++; {
					case said%150 == 30 || said%150 == 80:
						w.discord.Drop()
						did("drops")
					case said%300 == 45:
						w.discord.AskToReconnect()
						did("reconnects")
					case dice.IntN(6) == 0:
						w.discord.Redeliver(last)
						did("repeats")
					case dice.IntN(8) == 0:
						w.discord.Break(discordtest.Limited("POST", "/messages", 200*time.Millisecond))
						did("limits")
					case dice.IntN(5) == 0:
						w.discord.Break(discordtest.Fault{Method: "POST", Path: "/messages", Cut: dice.IntN(2) == 0, Status: 500, Applied: dice.IntN(2) == 0})
						did("broken posts")
					}
				},
			}, block)
			t.Logf("it met %v", met)
			if n := w.discord.Count(discordtest.Broken, ""); n != 0 {
				t.Errorf("the adapter broke a rule of Discord's %d times", n)
			}
		})
	}
}
