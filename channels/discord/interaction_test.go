package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/discord/discordtest"
)

// answer is a command's answer to an inbound.
func (w *world) answer(id string, in channels.Inbound, text string) channels.Outbound {
	return channels.Outbound{ID: id, To: in.To, Kind: channels.Command, Text: text, ReplyTo: in.ID, Only: in.From.ID, For: in.From.ID}
}

// A slash command is acknowledged within Discord's three seconds whatever the
// store does, handed over as it would be typed, and answered to its sender alone
// [D16].
func TestASlashCommand(t *testing.T) {
	w := newWorld(t, setup{})
	gate := make(chan struct{})
	w.judge = func(channels.Inbound) error { <-gate; return nil }
	it := w.s.Slash(w.alice, w.room, "model", "openai/gpt-5.4")
	w.await("it is acknowledged", func() bool { return w.s.State(it).Answered })
	close(gate)
	in := w.next()
	if in.Text != "/model openai/gpt-5.4" || !in.Command || !in.Mentioned || in.From.ID != w.alice.ID || in.Guild != w.guild.ID || in.ID != it.ID {
		t.Errorf("handed over %+v", in)
	}
	w.mustSend(w.answer("d1", in, "Model set."))
	if text, private, seen := w.s.Answer(it); text != "Model set." || !private || !seen {
		t.Errorf("answered %q, private %v, seen %v", text, private, seen)
	}
	w.wantTexts(w.room.ID, "Model set.") // the ephemeral one; nobody else's
	if all := w.s.SeenOnlyBy(w.alice); len(all) != 1 {
		t.Errorf("%+v", all)
	}
}

// A long answer goes on in further messages for the same eyes.
func TestALongAnswerOfACommand(t *testing.T) {
	w := newWorld(t, setup{})
	w.s.Slash(w.alice, w.room, "help", "")
	in := w.next()
	if in.Text != "/help" {
		t.Errorf("text %q", in.Text)
	}
	w.mustSend(w.answer("d1", in, strings.Repeat("word ", 900)))
	if all := w.s.SeenOnlyBy(w.alice); len(all) != 3 {
		t.Errorf("%d messages", len(all))
	}
}

// The answer of a command is an edit, so an ambiguous one is simply made again.
func TestAnAmbiguousAnswer(t *testing.T) {
	w := newWorld(t, setup{})
	it := w.s.Slash(w.alice, w.room, "status", "")
	in := w.next()
	w.s.Break(discordtest.Fault{Path: "@original", Status: 500, Applied: true})
	if _, err := w.c.Send(w.soon(), w.answer("d1", in, "fine")); channels.OutcomeOf(err) != channels.NotSent {
		t.Fatalf("gave %v", err)
	}
	w.mustSend(w.answer("d1", in, "fine"))
	if text, _, _ := w.s.Answer(it); text != "fine" || len(w.s.SeenOnlyBy(w.alice)) != 1 {
		t.Errorf("answered %q", text)
	}
}

// What a turn says that a command began is said in the room.
func TestATurnOfACommandIsSaidInTheRoom(t *testing.T) {
	w := newWorld(t, setup{})
	it := w.s.Slash(w.alice, w.room, "new", "hello")
	in := w.next()
	out := w.out("d1", w.room.ID, "hello yourself")
	out.ReplyTo = in.ID
	w.mustSend(out)
	posts := w.s.Posts(w.room.ID)
	if len(posts) != 1 || posts[0].Content != "hello yourself" || posts[0].OnlyFor != "" || posts[0].Reference != "" {
		t.Errorf("posts %+v", posts)
	}
	w.await("nothing is thinking any more", func() bool { return w.s.State(it).Removed })
}

// An interaction that Discord does not know any more is answered in the
// conversation; what is for one person goes to their direct chat.
func TestALateAnswer(t *testing.T) {
	w := newWorld(t, setup{})
	w.s.Break(discordtest.Fault{Path: "/callback", Status: 404, Body: `{"code":10062,"message":"Unknown interaction"}`})
	w.s.Slash(w.alice, w.room, "status", "")
	in := w.next()
	w.mustSend(w.answer("d1", in, "fine"))
	w.wantTexts(w.s.DM(w.alice).ID, "fine")

	again := w.s.Slash(w.alice, w.room, "status", "")
	in = w.next()
	w.await("acknowledged", func() bool { return w.s.State(again).Answered })
	w.s.Break(discordtest.Fault{Path: "@original", Status: 404, Body: `{"code":10015,"message":"Unknown Webhook"}`})
	w.mustSend(w.answer("d2", in, "fine again"))
	w.wantTexts(w.s.DM(w.alice).ID, "fine", "fine again")
}

// A command that the store does not take says so to its sender.
func TestACommandThatIsNotTaken(t *testing.T) {
	w := newWorld(t, setup{pace: func(p *pace) { p.retake = time.Microsecond }})
	w.judge = func(channels.Inbound) error { return errors.New("the store is full") }
	it := w.s.Slash(w.alice, w.room, "status", "")
	w.await("it is said", func() bool { text, _, _ := w.s.Answer(it); return text == sayLost })
}

// Picks are buttons while they are few and menus else, bound to one person; what
// they send stands in them, so that they work after a restart [D17].
func TestChoices(t *testing.T) {
	w := newWorld(t, setup{})
	offer := func(id string, n int) *discordtest.Message {
		out := w.out(id, w.room.ID, "Choose a model.")
		out.Kind, out.For = channels.Command, w.alice.ID
		for i := range n {
			out.Choices = append(out.Choices, channels.Choice{Label: fmt.Sprint("model ", i), Text: fmt.Sprint("/model openai/gpt-", i)})
		}
		rc := w.mustSend(out)
		m, ok := w.s.Find(w.room.ID, rc.MessageID)
		if !ok {
			t.Fatal("the menu is not there")
		}
		return &m
	}
	buttons := offer("d1", 3)
	id := "pick|" + w.alice.ID + "|/model openai/gpt-1"
	if !strings.Contains(string(buttons.Components), id) {
		t.Fatalf("components %s", buttons.Components)
	}
	stranger := w.s.Click(w.bob, buttons, id)
	w.await("a stranger is refused", func() bool { text, private, _ := w.s.Answer(stranger); return text == sayNotYours && private })
	w.s.Click(w.alice, buttons, id)
	in := w.next()
	if in.Text != "/model openai/gpt-1" || !in.Command || in.From.ID != w.alice.ID {
		t.Errorf("handed over %+v", in)
	}
	out := w.answer("d2", in, "Model set to openai/gpt-1.")
	out.Only = ""
	w.mustSend(out)
	if m, _ := w.s.Find(w.room.ID, buttons.ID); m.Content != "Model set to openai/gpt-1." || string(m.Components) != "[]" {
		t.Errorf("the menu says %q with %s", m.Content, m.Components)
	}

	menus := offer("d3", 60)
	var rows []struct {
		Components []struct {
			CustomID string `json:"custom_id"`
			Options  []any
		}
	}
	if json.Unmarshal(menus.Components, &rows) != nil || len(rows) != 3 || len(rows[0].Components[0].Options) != 25 || len(rows[2].Components[0].Options) != 10 {
		t.Fatalf("components %s", menus.Components)
	}
	w.s.Choose(w.alice, menus, rows[1].Components[0].CustomID, "/model openai/gpt-30")
	if in := w.next(); in.Text != "/model openai/gpt-30" {
		t.Errorf("handed over %+v", in)
	}
}

// A menu of the last hour is not used any more [D17].
func TestAMenuExpires(t *testing.T) {
	later := make(chan time.Duration, 1)
	later <- 0
	now := func() time.Time { d := <-later; later <- d; return time.Now().Add(d) }
	w := newWorld(t, setup{options: func(o *Options) { o.Now = now }})
	out := w.out("d1", w.room.ID, "Choose.")
	out.Choices, out.For = []channels.Choice{{Label: "one", Text: "/model one"}}, w.alice.ID
	m, _ := w.s.Find(w.room.ID, w.mustSend(out).MessageID)
	<-later
	later <- menuLife + time.Minute
	it := w.s.Click(w.alice, &m, "pick|"+w.alice.ID+"|/model one")
	w.await("it says so", func() bool { text, _, _ := w.s.Answer(it); return text == sayExpired })
}

// Picks for one person that stand in a room are answered where only that person
// sees it.
func TestThePrivateAnswerOfAPublicMenu(t *testing.T) {
	w := newWorld(t, setup{})
	out := w.out("d1", w.room.ID, "Choose.")
	out.Choices, out.For = []channels.Choice{{Label: "one", Text: "/model one"}}, w.alice.ID
	m, _ := w.s.Find(w.room.ID, w.mustSend(out).MessageID)
	w.s.Click(w.alice, &m, "pick|"+w.alice.ID+"|/model one")
	w.mustSend(w.answer("d2", w.next(), "You may not."))
	if all := w.s.SeenOnlyBy(w.alice); len(all) != 1 || all[0].Content != "You may not." {
		t.Errorf("%+v", all)
	}
	if again, _ := w.s.Find(w.room.ID, m.ID); again.Content != "Choose." {
		t.Errorf("the menu says %q", again.Content)
	}
}

// Commands are registered when they differ from what Discord has, and not
// otherwise [D16].
func TestCommandsAreRegisteredByDiff(t *testing.T) {
	all := []Command{{Name: "model", Description: "Show or choose the model", Argument: "model, or default"}, {Name: "status", Description: "How things are"}, {Name: "No Command"}}
	set := setup{config: func(c *Config) { c.NativeCommands = true }, options: func(o *Options) { o.Commands = all }}
	r := newRig(t, set)
	stop := r.run()
	r.await("they are registered", func() bool { return strings.Join(r.s.Commands(""), " ") == "model status" })
	_ = stop()
	r.c = r.channel(set)
	stop = r.run()
	r.await("they were looked at", func() bool {
		return r.s.Count(discordtest.REST, "GET /applications/"+r.s.Application()+"/commands") == 2 && r.c.registered.Load()
	})
	_ = stop()
	if n := r.s.Count(discordtest.REST, "PUT "); n != 1 {
		t.Errorf("written %d times", n)
	}
	all = all[:1]
	r.c = r.channel(set)
	r.run()
	r.await("the list is shorter", func() bool { return strings.Join(r.s.Commands(""), " ") == "model" })
}

// Commands of some servers only go there.
func TestCommandsOfGuilds(t *testing.T) {
	w := newRig(t, setup{})
	guild := w.s.NewGuild("guild")
	w.c = w.channel(setup{
		config:  func(c *Config) { c.NativeCommands, c.CommandGuilds = true, []string{guild.ID} },
		options: func(o *Options) { o.Commands = []Command{{Name: "status", Description: "How things are"}} },
	})
	w.run()
	w.await("they are registered", func() bool { return len(w.s.Commands(guild.ID)) == 1 })
	if len(w.s.Commands("")) != 0 {
		t.Error("they are registered everywhere")
	}
}
