package slack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/slack/slacktest"
)

// Drops, repeats, limits, lost answers and cut connections all at once: every
// message is handed over exactly once and in order per conversation, and every
// answer stands exactly once, in order [I1, I2].
func TestChaos(t *testing.T) {
	const messages = 120
	r := newRig(t, setup{
		// Events are lost on the way so often here that four tries, as Slack gives
		// each, would not always do.
		before: func(s *slacktest.Server) { s.ResendAfter, s.Patience = 100*time.Millisecond, 100 },
		pace:   func(p *pace) { p.stable = 0 },
		config: func(c *Config) { c.TextChunkLimit = 200 },
	})
	dice := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	roll := func(n int) bool { mu.Lock(); defer mu.Unlock(); return dice.IntN(n) == 0 }
	r.fail = func(channels.Inbound) error {
		if roll(8) {
			return errors.New("the store is busy")
		}
		return nil
	}
	faults := []slacktest.Fault{
		{Status: 429, RetryAfter: "1"}, {Status: 500, Applied: true}, {Status: 502}, {Cut: true}, {Cut: true, Applied: true},
		{Code: "internal_error", Applied: true}, {Body: "<html>"},
	}

	// People talk in two conversations; each message is asked about once it was
	// handed over, as the bot's outbox does it.
	rooms := []string{slacktest.DM, slacktest.General}
	var talk sync.WaitGroup
	for _, room := range rooms {
		talk.Go(func() {
			for i := range messages / len(rooms) {
				r.s.Say(slacktest.Say{Room: room, User: slacktest.Alice, Text: fmt.Sprintf("<@%s> %s message %03d", slacktest.BotUser, room, i)})
				switch {
				case roll(6):
					r.s.Drop()
				case roll(10):
					r.s.Disconnect("refresh_requested")
				case roll(10):
					r.s.Repeat()
				case roll(20):
					r.s.Garbage("{broken")
				}
			}
		})
	}
	var answers sync.WaitGroup
	lanes := map[string]chan channels.Inbound{}
	for _, room := range rooms {
		lane := make(chan channels.Inbound, messages)
		lanes[room] = lane
		answers.Go(func() {
			for in := range lane {
				if roll(3) {
					mu.Lock()
					f := faults[dice.IntN(len(faults))]
					mu.Unlock()
					r.s.Fail("chat.postMessage", f)
				}
				deliver(t, r, reply("d-"+in.ID, in.To, strings.Repeat("answer to "+in.Text+". ", 1+len(in.ID)%9)))
			}
		})
	}
	for range messages {
		in := r.next()
		lanes[in.To.Conversation] <- in
	}
	talk.Wait()
	for _, lane := range lanes {
		close(lane)
	}
	answers.Wait()

	got := map[string][]string{}
	for _, in := range r.handed() {
		got[in.To.Conversation] = append(got[in.To.Conversation], strings.TrimPrefix(in.Text, "<@"+slacktest.BotUser+"> "))
	}
	for _, room := range rooms {
		if len(got[room]) != messages/len(rooms) {
			t.Errorf("%s: handed over %d", room, len(got[room]))
		}
		told := map[string]int{}
		for _, text := range got[room] {
			told[text]++
		}
		seen := map[string]int{}
		for _, m := range r.s.Posts(room) {
			if meta := string(m.Metadata); meta != "" {
				seen[meta]++
			}
		}
		for i := range messages / len(rooms) {
			if n := told[fmt.Sprintf("%s message %03d", room, i)]; n != 1 {
				t.Errorf("%s message %d handed over %d times", room, i, n)
			}
		}
		for part, n := range seen {
			if n != 1 {
				t.Errorf("%s stands there %d times", part, n)
			}
		}
		if len(seen) < messages/len(rooms) {
			t.Errorf("%s: %d posts", room, len(seen))
		}
	}
	if _, _, bad := r.s.Opened(); bad != 0 {
		t.Errorf("%d frames that are none of the protocol", bad)
	}
}

// deliver does what the bot's outbox does with a delivery: it looks before it
// posts again what may have been posted.
func deliver(t *testing.T, r *rig, out channels.Outbound) {
	for range 10 {
		_, err := r.c.Send(r.ctx, out)
		switch channels.OutcomeOf(err) {
		case "":
			return
		case channels.Unknown:
			if _, posted, err := r.c.Find(r.ctx, out); err == nil && posted {
				return
			}
		case channels.Refused:
			t.Errorf("refused: %v", err)
			return
		}
	}
	t.Errorf("not delivered: %s", out.ID)
}

// No token reaches a log line, an error or Health, whatever breaks [I12].
func TestNoTokenLeaks(t *testing.T) {
	r := newRig(t, setup{})
	var said []string
	note := func(err error) {
		if err != nil {
			said = append(said, err.Error(), fmt.Sprintf("%+v %#v", err, err))
		}
	}
	for _, f := range []slacktest.Fault{{Cut: true}, {Status: 500, Body: slacktest.BotToken}, {Code: "invalid_auth"}, {Body: "{" + slacktest.BotToken}} {
		for _, method := range []string{"chat.postMessage", "conversations.history", "conversations.members", "users.info"} {
			r.s.Fail(method, f)
		}
		_, err := r.c.Send(r.ctx, reply("d"+f.Code, r.to(slacktest.General, ""), "x"))
		note(err)
		_, _, err = r.c.Find(r.ctx, reply("e"+f.Code, r.to(slacktest.General, ""), "x"))
		note(err)
		_, err = r.c.Member(r.ctx, r.to(slacktest.General, ""), slacktest.Bob)
		note(err)
	}
	r.s.Slash(slacktest.DM, slacktest.Alice, "/x", "")
	in := r.next()
	r.s.Close()
	_, err := r.c.Send(r.ctx, channels.Outbound{ID: "r", To: in.To, Text: "x", ReplyTo: in.ID, Only: slacktest.Alice})
	note(err)
	if err == nil || strings.Contains(err.Error(), "/hook/") {
		t.Errorf("the response URL is told: %v", err)
	}
	r.await("it reconnects", func() bool { return r.c.Health().State == channels.Reconnecting && r.c.Health().Attempt > 1 })
	said = append(said, r.log.String(), fmt.Sprintf("%+v %#v", r.c.Health(), r.c.opt), fmt.Sprintf("%+v", r.c.opt.Config))
	for _, s := range said {
		for _, token := range []string{slacktest.BotToken, slacktest.AppToken, slacktest.Signing} {
			if strings.Contains(s, token) {
				t.Errorf("told: %.300s", s)
			}
		}
	}
}
