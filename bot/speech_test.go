package bot_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/bot/policy"
	"standin/channels"
	"standin/channels/channeltest"
	"standin/fallback"
	"standin/fallback/provider"
)

// sends has the model say something with its tool message and then end with a
// final text.
func (e *engine) sends(text, final string) answer {
	return func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
		input, _ := json.Marshal(map[string]string{"text": text})
		_, acted := ask.Tools.Use(ctx, []provider.ToolCall{{ID: "1", Name: "message", Input: string(input)}})
		out, err := e.fallsOver(modelB, final)(ctx, ask)
		if err == nil {
			out.Acted = acted
		}
		return out, err
	}
}

// visibleReplies: message_tool keeps the final text to the agent; what it sends
// with its tool, the notice, a failure and a command's answer are seen [S35, N15].
func TestTheAgentSpeaksByItsToolAlone(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.cfg.Rules.Speech = policy.Speech{GroupReplies: policy.RepliesByTool}
		h.engine.then(h.engine.sends("said aloud", "kept to myself"))
		h.post(toBot(inRoom("boss", "hi")))
		h.settle()
		texts := h.room.Texts()
		if len(texts) != 2 || texts[0] != "said aloud" || !strings.HasPrefix(texts[1], "↪️ Model Fallback") {
			t.Errorf("posted %q", texts)
		}
		if n := h.room.Count(channeltest.Working); n != 0 {
			t.Error("a draft shows that something is written")
		}
		if ask := h.engine.asked()[0]; !strings.Contains(ask.System, "use the tool message") {
			t.Errorf("the model is told %q", ask.System)
		}
		h.post(toBot(inRoom("boss", "/whoami")))
		h.engine.then(fails(fallback.Plan{}, fallback.Attempt{Model: modelA, Reason: fallback.RateLimit}))
		h.post(toBot(inRoom("boss", "again")))
		h.settle()
		h.post(direct("boss", "and here?"))
		h.settle()
		if n := len(h.room.Texts(channels.Command)) + len(h.room.Texts(channels.Failure)); n != 2 || !slices.Contains(h.room.Texts(), "echo: and here?") {
			t.Errorf("posted %q", h.room.Texts())
		}
		if rows := h.unended(); len(rows) != 0 {
			t.Errorf("without an ending: %+v", rows)
		}
	})
}

// Without the tool to speak with, the final text is posted: an agent is not
// silenced by a setting alone [S35].
func TestWithoutTheToolTheAnswerIsPosted(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.cfg.Tools.On = false
		h.cfg.Rules.Speech.Replies = policy.RepliesByTool
		h.post(toBot(inRoom("u1", "hi")))
		h.settle()
		h.wantTexts(t, "echo: hi")
	})
}

// unmentionedInbound: room_event: what a room without requireMention passes on
// unasked is read, and answered by nothing: no text, no notice, no failure. The
// change of model is told with the next answer [S36, N15].
func TestARoomsEventIsReadInSilence(t *testing.T) {
	s := openRoom
	s.Mention = new(bool)
	ruled(t, s, func(t *testing.T, h *house) {
		h.cfg.Rules.Speech.RoomEvents = true
		h.engine.then(h.engine.fallsOver(modelB, "interesting"), fails(fallback.Plan{}, fallback.Attempt{Model: modelA, Reason: fallback.RateLimit}))
		h.post(inRoom("u1", "lunch at noon"))
		h.settle()
		h.post(inRoom("u2", "fine"))
		h.settle()
		h.wantTexts(t)
		if ask := h.engine.asked()[0]; !strings.Contains(ask.System, "Nobody expects an answer") {
			t.Errorf("the model is told %q", ask.System)
		}
		h.close()
		h.restart()
		h.engine.then(h.engine.fallsOver(modelB, "at noon"))
		h.post(toBot(inRoom("u1", "when is lunch?")))
		h.settle()
		texts := h.room.Texts()
		if len(texts) != 2 || !strings.HasPrefix(texts[0], "↪️ Model Fallback:") || texts[1] != "at noon" {
			t.Errorf("posted %q", texts)
		}
		var read []string
		for _, m := range h.engine.asked()[2].Messages {
			read = append(read, m.Text)
		}
		if got := strings.Join(read, "|"); !strings.HasPrefix(got, "lunch at noon|interesting|fine") {
			t.Errorf("the model has read %q", got)
		}
		if ask := h.engine.asked()[2]; strings.Contains(ask.System, "Nobody expects") {
			t.Error("a question counts as a room's event")
		}
	})
}

// By default what such a room passes on is answered as a question is.
func TestARoomWithoutMentionIsAnswered(t *testing.T) {
	s := openRoom
	s.Mention = new(bool)
	ruled(t, s, func(t *testing.T, h *house) {
		h.post(inRoom("u1", "lunch?"))
		h.settle()
		h.wantTexts(t, "echo: lunch?")
	})
}

// Where posting is denied nothing is posted, not even the notice; the change is
// recorded, and told once posting is allowed again [N15, G15, notice-13].
func TestNothingIsPostedWherePostingIsDenied(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.cfg.Rules.Commands.Owners = []string{"boss"}
		h.cfg.Rules.Speech.Send = policy.SendPolicy{Rules: []policy.SendRule{{Deny: true, Channel: "room", Chat: channels.Room}}}
		h.engine.then(h.engine.fallsOver(modelB, "hello"), fails(fallback.Plan{}, fallback.Attempt{Model: modelA, Reason: fallback.RateLimit}),
			h.engine.sends("psst", "hello"))
		for _, text := range []string{"hi", "hi again", "tell us"} {
			h.post(toBot(inRoom("u1", text)))
			h.settle()
		}
		h.wantTexts(t)
		sel, err := h.db.Selection(context.Background(), "agent:main:room:channel:c1")
		if err != nil || sel.Model != modelB || sel.Told != (fallback.Told{}) {
			t.Errorf("the row says %+v, %v", sel, err)
		}
		h.post(toBot(inRoom("u1", "/send on")))
		h.post(toBot(inRoom("boss", "/send on")))
		h.engine.then(h.engine.fallsOver(modelB, "at last"))
		h.post(toBot(inRoom("u1", "hi")))
		h.settle()
		texts := h.room.Texts()
		if len(texts) != 3 || !strings.Contains(texts[0], "I post my answers here, because of /send on") || !strings.HasPrefix(texts[1], "↪️ Model Fallback:") || texts[2] != "at last" {
			t.Errorf("posted %q", texts)
		}
	})
}

// /send is the owner's and outlives a restart [C14].
func TestSendCommand(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.cfg.Rules.Commands.Owners = []string{"boss"}
		h.cfg.Rules.Commands.Anybody = true
		h.post(toBot(inRoom("u1", "/send off")))
		h.settle()
		h.wantTold("/send is for my owner")
		for _, c := range []struct{ say, want string }{
			{"/send", "as the configuration says"}, {"/send maybe", `I don't know "maybe"`}, {"/send off", "I post nothing here but the answers of commands"},
		} {
			h.post(toBot(inRoom("boss", c.say)))
			h.settle()
			h.wantTold(c.want)
		}
		h.close()
		h.restart()
		h.post(toBot(inRoom("u1", "hi")))
		h.settle()
		if _, err := h.bot.Turn(t.Context(), beat("agent:main:room:channel:c1")); err != nil {
			t.Fatal(err)
		}
		h.settle()
		if texts := h.room.Texts(channels.Reply); len(texts) != 0 {
			t.Errorf("posted %q", texts)
		}
		h.post(toBot(inRoom("boss", "/send inherit")))
		h.post(toBot(inRoom("u1", "hi")))
		h.settle()
		if texts := h.room.Texts(channels.Reply); !slices.Equal(texts, []string{"echo: hi"}) {
			t.Errorf("posted %q", texts)
		}
	})
}

// What is asked through a platform's slash command is its giver's own
// conversation, seen by them alone unless it is public [S1, SL28].
func TestAQuestionBySlashCommand(t *testing.T) {
	for _, public := range []bool{false, true} {
		ruled(t, openRoom, func(t *testing.T, h *house) {
			h.engine.then(h.engine.fallsOver(modelB, "hello"))
			in := toBot(inRoom("boss", "what is up?"))
			in.Command, in.Public = true, public
			h.post(in)
			h.settle()
			if s := h.engine.asked()[0].Session; s != "agent:main:room:slash:boss" {
				t.Errorf("session %s", s)
			}
			want := "boss"
			if public {
				want = ""
			}
			posted := h.room.Posted()
			if len(posted) != 2 || posted[0].Only != want || posted[1].Only != want {
				t.Errorf("posted %+v", posted)
			}
			if shown := h.room.Count(channeltest.Working) > 0; shown != public {
				t.Errorf("public %v: a draft is shown: %v", public, shown)
			}
			status := in
			status.ID, status.Text = "", "/status"
			h.post(status)
			h.settle()
			h.wantTold("agent:main:room:channel:c1") // a command is about the conversation
			if p := h.room.Posted(); p[len(p)-1].Only != want {
				t.Errorf("the answer is for %q", p[len(p)-1].Only)
			}
		})
	}
}

// commands.text: false: a slash at the beginning of a text is talk, the
// platform's own commands and the stop words work [C18].
func TestCommandsOfThePlatformAlone(t *testing.T) {
	s := openRoom
	s.NativeOnly = true
	ruled(t, s, func(t *testing.T, h *house) {
		h.post(toBot(inRoom("boss", "/whoami")))
		h.post(toBot(inRoom("boss", "and /whoami inside")))
		native := toBot(inRoom("boss", "/whoami"))
		native.Command = true
		h.post(native)
		h.settle()
		if got := h.room.Texts(channels.Reply); !slices.Equal(got, []string{"echo: /whoami", "echo: and /whoami inside"}) || len(h.room.Texts(channels.Command)) != 1 {
			t.Errorf("posted %q", h.room.Texts())
		}
		h.post(toBot(inRoom("boss", "stop")))
		h.settle()
		h.wantTold("nothing to stop")
	})
}

// steer tells the running turn of what was written in its place meanwhile, once
// its tools have come back; no second turn follows [S24, queue-05].
func TestSteer(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		took := make(chan string, 1)
		h.engine.then(func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
			time.Sleep(10 * time.Second) // a tool works
			took <- ask.Steer()
			if again := ask.Steer(); again != "" {
				t.Errorf("told twice: %q", again)
			}
			time.Sleep(10 * time.Second)
			return h.engine.says("done")(ctx, ask)
		})
		h.post(toBot(inRoom("u1", "start")))
		synctest.Wait()
		h.post(toBot(inRoom("u1", "no, the other one")))
		h.post(toBot(inRoom("u2", "please")))
		time.Sleep(11 * time.Second)
		h.post(toBot(inRoom("u1", "too late for that"))) // no tool comes back any more
		h.settle()
		if got := <-took; got != "no, the other one\nplease" {
			t.Errorf("the running turn was told %q", got)
		}
		h.wantTexts(t, "done", "echo: too late for that")
		if rows := h.unended(); len(rows) != 0 {
			t.Errorf("without an ending: %+v", rows)
		}
		if p := h.room.Posted()[0]; p.ReplyTo != "" && p.ReplyTo != "m1" {
			t.Errorf("the answer refers to %q", p.ReplyTo)
		}
	})
}

// A /stop ends what the running turn has taken in, too [S33].
func TestStopEndsWhatWasSteered(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.engine.then(func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
			time.Sleep(time.Second)
			ask.Steer()
			return h.engine.hangs(time.Hour, "never")(ctx, ask)
		})
		h.post(toBot(inRoom("boss", "start")))
		synctest.Wait()
		h.post(toBot(inRoom("boss", "and this")))
		time.Sleep(2 * time.Second)
		h.post(toBot(inRoom("boss", "/stop")))
		h.settle()
		h.wantTexts(t, "Stopped.")
		if rows := h.unended(); len(rows) != 0 {
			t.Errorf("without an ending: %+v", rows)
		}
		h.post(toBot(inRoom("boss", "go on")))
		h.settle()
		if read := h.engine.asked()[1].Messages[0].Text; !strings.Contains(read, "start\nand this") {
			t.Errorf("the model reads %q", read)
		}
	})
}

// Other modes and other places are left alone while a turn runs.
func TestNoSteeringAcrossPlaces(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		took := make(chan string, 1)
		h.engine.then(func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
			time.Sleep(time.Second)
			took <- ask.Steer()
			return h.engine.says("done")(ctx, ask)
		})
		h.post(direct("boss", "start"))
		synctest.Wait()
		elsewhere := direct("boss", "elsewhere")
		elsewhere.To.Thread, elsewhere.Authorized = "T2", true
		h.post(elsewhere)
		h.settle()
		if got := <-took; got != "" {
			t.Errorf("told %q", got)
		}
		texts := h.room.Texts() // two places: which is first is nobody's promise
		if slices.Sort(texts); !slices.Equal(texts, []string{"done", "echo: elsewhere"}) {
			t.Errorf("posted %q", texts)
		}
	})
}

// What is collected gets its turn once it has been quiet for debounceMs, even if
// the running turn ends between two messages [S25, queue-01].
func TestCollectWaitsForQuiet(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.cfg.Rules.Queue = policy.Queues{Queue: policy.Queue{Mode: policy.Collect}}
		h.engine.then(h.engine.hangs(time.Second, "slow"))
		h.post(toBot(inRoom("u1", "first")))
		synctest.Wait()
		time.Sleep(900 * time.Millisecond)
		h.post(toBot(inRoom("u1", "two")))
		time.Sleep(300 * time.Millisecond) // the turn has ended meanwhile
		h.post(toBot(inRoom("u1", "three")))
		before := time.Now()
		h.settle()
		h.wantTexts(t, "slow", "echo: two\nthree")
		if took := time.Since(before); took != 500*time.Millisecond {
			t.Errorf("answered after %v of quiet", took)
		}
	})
}

func beat(s fallback.SessionID) bot.Turn {
	return bot.Turn{Session: s, Agent: "main", Kind: fallback.Heartbeat, Text: "beat", To: c1}
}

// A turn whose tools did something outside and that says nothing still tells the
// change of model: alone [N16, notice-15].
func TestTheNoticeComesAloneAfterASideEffect(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
			out, err := h.engine.fallsOver(modelB, "NO_REPLY")(ctx, ask)
			if err == nil {
				out.Acted = true // such as a job that was added
			}
			return out, err
		})
		h.say("remind me at noon")
		texts := h.room.Texts()
		if len(texts) != 1 || !strings.HasPrefix(texts[0], "↪️ Model Fallback: openai/gpt-5.4") {
			t.Errorf("posted %q", texts)
		}
	})
}

// Whatever reads what the agent has said (a reminder's extraction, the next
// turn) reads the transcript, and no notice stands in it [M14, N18, N20, notice-19].
func TestNoNoticeInTheTranscript(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.fallsOver(modelB, "done"))
		h.say("go")
		sess, err := h.db.Session(t.Context(), mainSession)
		if err != nil {
			t.Fatal(err)
		}
		story, err := h.db.History(t.Context(), mainSession, sess.Epoch, 10)
		if err != nil || len(story) != 2 || story[1].Text != "done" {
			t.Errorf("the transcript has %+v, %v", story, err)
		}
		if texts := h.room.Texts(channels.Notice); len(texts) != 1 {
			t.Errorf("notices %q", texts)
		}
	})
}
