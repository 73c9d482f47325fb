package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// told is the last command answer in the room.
func (h *house) told() string {
	h.t.Helper()
	all := h.room.Texts(channels.Command)
	if len(all) == 0 {
		h.t.Fatal("no command was answered")
	}
	return all[len(all)-1]
}

func (h *house) wantTold(parts ...string) {
	h.t.Helper()
	text := h.told()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			h.t.Errorf("%q is missing in the answer:\n%s", p, text)
		}
	}
}

// store has the row say that B stands in for A since two minutes.
func (h *house) standingIn() {
	h.t.Helper()
	sel := fallback.Selection{Model: modelB, Source: fallback.Auto, Origin: modelA, Since: time.Now().Add(-2 * time.Minute),
		Told: fallback.Told{Selected: modelA, Active: modelB, Reason: "rate limit"}}
	if ok, err := h.db.Swap(context.Background(), mainSession, h.selection(), sel); !ok || err != nil {
		h.t.Fatal(ok, err)
	}
}

func TestCommandsDoNotWaitBehindARunningTurn(t *testing.T) { // S30
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.hangs(time.Hour, "at last"))
		h.post(channels.Inbound{Text: "think hard"})
		h.post(channels.Inbound{Text: "and this"})
		synctest.Wait()
		before := time.Now()
		for _, cmd := range []string{"/status", "/help", "/whoami", "/model", "/models", "/model gem"} {
			h.post(channels.Inbound{Text: cmd})
			synctest.Wait()
		}
		if got := h.room.Texts(channels.Command); len(got) != 6 || time.Since(before) > 0 {
			t.Errorf("after %v the room has %q", time.Since(before), got)
		}
		if !strings.Contains(h.room.Texts(channels.Command)[0], "Queue: one answer running, 1 waiting") {
			t.Errorf("/status: %s", h.room.Texts(channels.Command)[0])
		}
		h.settle()
	})
}

func TestAMessageRightAfterModelReadsTheNewRow(t *testing.T) { // IL-079
	inHouse(t, func(t *testing.T, h *house) {
		h.post(channels.Inbound{Text: "/model google/gemini-3-pro"})
		h.post(channels.Inbound{Text: "hi"})
		h.settle()
		h.wantTexts(t, "From now on google/gemini-3-pro answers in this session: only this model, no stand-in if it fails. /model default goes back to anthropic/claude-opus-4-6.",
			"echo: hi")
		if sel := h.selection(); sel.Model != modelC || sel.Source != fallback.ByUser {
			t.Errorf("row = %+v", sel)
		}
	})
}

func TestModelRefusesWithAReasonAndStoresNothing(t *testing.T) {
	for _, c := range []struct{ say, want string }{
		{"/model 9", "choose 1–3"},                                                // command-05
		{"/model typo/x", `no provider "typo" is configured`},                     // IL-060
		{"/model opneai/gpt-5.4", "Did you mean openai/gpt-5.4?"},                 // IL-060
		{"/model openai/gpt-5.4@anthropic:me", "profile anthropic:me belongs to"}, // command-07
		{"/model openai/gpt-5.4@openai:nope", "Those of openai are: openai:work"}, // C8
		{"/model openai/gpt-9", "not among the models that may be chosen"},        // C9
		{"/models nowhere", `no models of "nowhere"`},
		{"/models 7", "the list has only one"},
		{"/modle gem", "Did you mean /model?"},
		{"/frobnicate", "I don't know /frobnicate"},
	} {
		t.Run(c.say, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				h.cfg.Fallback.Allowed = []fallback.Model{modelA, modelB, modelC}
				h.say(c.say)
				h.wantTold(c.want)
				if sel := h.selection(); sel != (fallback.Selection{}) {
					t.Errorf("stored %+v", sel)
				}
			})
		})
	}
}

func TestModelChooses(t *testing.T) {
	for _, c := range []struct {
		say  string
		want fallback.Model
		pin  fallback.ProfileID
		told string
	}{
		{"/model gem", modelC, "", "only this model, no stand-in"},
		{"/MODEL  GEM ", modelC, "", "only this model, no stand-in"},
		{"/model 2", modelB, "", "openai/gpt-5.4 answers"},                                     // C5
		{"/model openai/gpt-5.4@openai:work", modelB, "openai:work", "credential openai:work"}, // command-06
		{"/model openai/gpt-9", fallback.Model{Provider: "openai", Name: "gpt-9"}, "", "not in my list"},
		{"/model opus", fallback.Model{}, "", "If it fails, openai/gpt-5.4 or google/gemini-3-pro may stand in"}, // command-09
		{"/model default", fallback.Model{}, "", "Back on the default model anthropic/claude-opus-4-6"},          // command-08
	} {
		t.Run(c.say, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				h.standingIn()
				h.say(c.say)
				h.wantTold(c.told)
				sel := h.selection()
				if sel.Model != c.want || sel.Pin.Profile != c.pin || sel.Told != (fallback.Told{}) || !sel.Origin.IsZero() {
					t.Errorf("row = %+v", sel)
				}
			})
		})
	}
}

func TestModelDefaultRepairsAStoredChoiceThatCannotBeAsked(t *testing.T) { // IL-060
	inHouse(t, func(t *testing.T, h *house) {
		bad := fallback.Selection{Model: fallback.Model{Provider: "typo", Name: "x"}, Source: fallback.ByUser}
		if ok, err := h.db.Swap(t.Context(), mainSession, fallback.Selection{}, bad); !ok || err != nil {
			t.Fatal(ok, err)
		}
		plan := fallback.Plan{Requested: bad.Model, Selected: bad.Model, Strict: true, Why: fallback.FromUser, Invalid: "no provider"}
		h.engine.then(fails(plan))
		h.say("hi")
		if got := h.room.Texts(channels.Failure); len(got) != 1 || !strings.Contains(got[0], "/model default") {
			t.Errorf("failure: %q", got)
		}
		h.say("/model default")
		if sel := h.selection(); !sel.Model.IsZero() {
			t.Errorf("row = %+v", sel)
		}
	})
}

func TestStatusShowsTheOriginAsSelected(t *testing.T) { // C13, command-01, M31
	inHouse(t, func(t *testing.T, h *house) {
		h.standingIn()
		h.engine.probe = time.Now().Add(3 * time.Minute)
		h.say("/status")
		h.wantTold("Model: anthropic/claude-opus-4-6 (default)",
			"Answering now: openai/gpt-5.4 stands in (rate limit), for 2 min",
			"anthropic/claude-opus-4-6 is tried again with the first message in 3 min",
			"Stand-ins: openai/gpt-5.4 → google/gemini-3-pro", "Session: agent:main:main")
		h.say("/model")
		h.wantTold("Model: anthropic/claude-opus-4-6", "Answering now: openai/gpt-5.4 (rate limit)", "/model default", "/models")
	})
}

func TestStatusOfAUsersChoiceNamesDefaultAndHasNoStandIns(t *testing.T) { // command-02
	inHouse(t, func(t *testing.T, h *house) {
		h.say("/model openai/gpt-5.4")
		h.say("/status")
		h.wantTold("Model: openai/gpt-5.4 (your choice; the default is anthropic/claude-opus-4-6)", "/model default")
		if strings.Contains(h.told(), "Stand-ins") {
			t.Errorf("a strict choice has stand-ins:\n%s", h.told())
		}
	})
}

func TestModelsListsByNumber(t *testing.T) { // C4, C5
	inHouse(t, func(t *testing.T, h *house) {
		h.say("/models")
		want := "1) anthropic/claude-opus-4-6 (opus), the default ← selected\n2) openai/gpt-5.4\n3) google/gemini-3-pro (gem)\nChoose with /model <number>, back with /model default."
		if h.told() != want {
			t.Errorf("got\n%s\nwant\n%s", h.told(), want)
		}
		h.say("/models google")
		h.wantTold("3) google/gemini-3-pro (gem)")
		h.say("/model list")
		if h.told() != want {
			t.Errorf("/model list gives\n%s", h.told())
		}
		h.say("/model status")
		h.wantTold("Default: anthropic/claude-opus-4-6", "google:", "gemini-3-pro (gem)")
	})
}

func TestStopEndsTheRunningTurnAndItsQueue(t *testing.T) { // S33, queue-07, I13
	for _, word := range []string{"/stop", "Stop!", "please stop"} {
		t.Run(word, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				var cause error
				h.engine.then(func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
					<-ctx.Done()
					cause = context.Cause(ctx)
					return nil, cause
				})
				h.post(channels.Inbound{Text: "one"})
				h.post(channels.Inbound{Text: "two"})
				h.post(channels.Inbound{Text: "three"})
				synctest.Wait()
				h.say(word)
				h.wantTexts(t, "Stopped, and dropped 2 waiting messages. Nothing more will come of them.")
				if !errors.Is(cause, bot.ErrAborted) {
					t.Errorf("the turn ended for %v", cause)
				}
				h.close()
				h.restart()
				h.settle()
				if n := len(h.engine.asked()); n != 1 {
					t.Errorf("%d asks: a stopped message came back", n)
				}
				h.say("next")
				asks := h.engine.asked()
				if !strings.Contains(asks[len(asks)-1].System, "stopped your previous answer") { // S34
					t.Errorf("system = %q", asks[len(asks)-1].System)
				}
				h.say("and then")
				if asks = h.engine.asked(); strings.Contains(asks[len(asks)-1].System, "stopped") {
					t.Error("the hint was given twice")
				}
			})
		})
	}
}

func TestAnAnswerThatCrossesAStopIsNotPosted(t *testing.T) { // I1: one ending, whoever is first
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
			<-ctx.Done()
			return h.engine.says("too late")(context.WithoutCancel(ctx), ask)
		})
		h.post(channels.Inbound{Text: "one"})
		synctest.Wait()
		h.say("/stop")
		h.play(t)
		h.wantTexts(t, "Stopped.")
		h.say("two")
		if got, want := h.engine.last(), "one\n\ntwo"; got != want {
			t.Errorf("the model was asked %q, want %q", got, want)
		}
	})
}

func TestStopWithNothingToStopSaysSo(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.say("/stop")
		h.wantTexts(t, "There was nothing to stop.")
	})
}

func TestACrashRightAfterStopDoesNotBringTheMessageBack(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.hangs(time.Hour, "late"))
		h.post(channels.Inbound{Text: "one"})
		synctest.Wait()
		h.faults.arm(len(h.faults.written())+3, crashBefore) // accept /stop, end "one", then the answer's own end
		go func() { _ = h.room.Say(t.Context(), channels.Inbound{ID: "stop", Text: "/stop"}) }()
		<-h.faults.crashed
		h.crash()
		h.restart()
		h.settle()
		if n := len(h.engine.asked()); n != 1 {
			t.Errorf("%d asks: the stopped message came back", n)
		}
		if got := h.room.Texts(); len(got) != 1 {
			t.Errorf("the /stop is owed one answer, the room has %q", got)
		}
	})
}

func TestNewSessions(t *testing.T) { // D4, S10, S11, IL-265, session-09
	for _, c := range []struct {
		name, before, say string
		triggers          []string
		drop              bool
		told              string // of the command, "" when the text goes on as a turn
		asked             string // of the model, "" when it is not
		want              fallback.Model
	}{
		{"bare", "", "/new", nil, false, "New session. Model: anthropic/claude-opus-4-6 (default).", "", fallback.Model{}},
		{"keeps a user's model and says so", "/model gem", "/reset", nil, false,
			"New session. Model: google/gemini-3-pro (kept from your own choice; /model default goes back to anthropic/claude-opus-4-6).", "", modelC},
		{"drops it if configured", "/model gem", "/new", nil, true, "New session. Model: anthropic/claude-opus-4-6 (default).", "", fallback.Model{}},
		{"text becomes the first message", "", "/new write a poem", nil, false, "", "write a poem", fallback.Model{}},
		{"a model in front is chosen", "", "/new gem write a poem", nil, false, "", "write a poem", modelC},
		{"a model alone", "", "/new openai/gpt-5.4", nil, false, "New session. Model: openai/gpt-5.4 (your choice; only this model answers).", "", modelB},
		{"the beginning of an id alone", "", "/new gemini", nil, false, "New session. Model: google/gemini-3-pro (your choice; only this model answers).", "", modelC},
		{"the beginning of an id in a sentence is text", "", "/new gemini is a constellation", nil, false, "", "gemini is a constellation", fallback.Model{}},
		{"a slash in a sentence is text", "", "/new and/or what", nil, false, "", "and/or what", fallback.Model{}},
		{"default frees the session", "/model gem", "/new default", nil, false, "New session. Model: anthropic/claude-opus-4-6 (default).", "", fallback.Model{}},
		{"a configured trigger", "", "Neu anfangen bitte", []string{"neu"}, false, "", "anfangen bitte", fallback.Model{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				h.cfg.ResetTriggers, h.cfg.ResetKeepsModel = c.triggers, !c.drop
				h.say("old talk")
				if c.before != "" {
					h.say(c.before)
				}
				answered := len(h.room.Texts(channels.Command))
				h.say(c.say)
				if c.told != "" {
					h.wantTold(c.told)
				} else if len(h.room.Texts(channels.Command)) != answered {
					t.Errorf("answered %q", h.told())
				}
				if c.asked != "" {
					asks := h.engine.asked()
					last := asks[len(asks)-1]
					if len(last.Messages) != 1 || last.Messages[0].Text != c.asked || !last.NewSession {
						t.Errorf("asked %+v (new session: %v)", last.Messages, last.NewSession)
					}
				} else if n := len(h.engine.asked()); n != 1 {
					t.Errorf("%d asks", n)
				}
				if sel := h.selection(); sel.Model != c.want {
					t.Errorf("row = %+v", sel)
				}
			})
		})
	}
}

func TestNewEndsAnAutomaticSelectionWithoutANotice(t *testing.T) { // 3.9, notice-23
	inHouse(t, func(t *testing.T, h *house) {
		h.standingIn()
		h.say("/new")
		h.say("hi")
		h.wantTexts(t, "New session. Model: anthropic/claude-opus-4-6 (default).", "echo: hi")
	})
}

func TestNewLeavesTheRunningAnswerAndDropsTheQueue(t *testing.T) { // S11
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.hangs(time.Minute, "old answer"))
		h.post(channels.Inbound{Text: "one"})
		h.post(channels.Inbound{Text: "two"})
		synctest.Wait()
		h.say("/new")
		h.wantTexts(t, "New session. Model: anthropic/claude-opus-4-6 (default). Dropped one waiting message of the old one.", "old answer")
		h.say("fresh")
		if asks := h.engine.asked(); len(asks[len(asks)-1].Messages) != 1 {
			t.Errorf("the new session knows the old one: %v", asks[len(asks)-1].Messages)
		}
	})
}

func TestUnauthorizedCommandsAreIgnored(t *testing.T) { // C2
	inHouse(t, func(t *testing.T, h *house) {
		mallory := channels.Inbound{Chat: channels.Direct, Mentioned: true, From: channels.User{ID: "mallory"}}
		for _, text := range []string{"/model gem", "/stop", "stop", "/shrug whatever"} {
			mallory.Text = text
			mallory.ID = ""
			h.post(mallory)
		}
		h.settle()
		h.wantTexts(t, "echo: stop", "echo: /shrug whatever") // not commands of theirs, so plain text
		if sel := h.selection(); sel != (fallback.Selection{}) {
			t.Errorf("row = %+v", sel)
		}
	})
}

func TestCommandsOfTheWiringStandInHelp(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.close()
		h.open()
		h.bot.Local = []bot.Command{{Name: "skip", Args: "<duration>", Help: "let time pass",
			Run: func(_ context.Context, args string) (string, error) { return "skipped " + args, nil }}}
		h.start()
		h.say("/skip 5m")
		h.wantTold("skipped 5m")
		h.say("/help")
		h.wantTold("/skip <duration>: let time pass", "/id")
		h.say("/skp 5m")
		h.wantTold("Did you mean /skip?")
	})
}

func TestPatchAndResetWithoutAChat(t *testing.T) { // C16, command-14
	inHouse(t, func(t *testing.T, h *house) {
		h.say("hi")
		if err := h.bot.Patch(t.Context(), mainSession, "gem"); err != nil {
			t.Fatal(err)
		}
		if sel := h.selection(); sel.Model != modelC || sel.Source != fallback.ByUser {
			t.Errorf("row = %+v", sel)
		}
		if err := h.bot.Patch(t.Context(), mainSession, "typo/x"); err == nil {
			t.Error("typo/x was taken")
		}
		if err := h.bot.Patch(t.Context(), mainSession, ""); err != nil {
			t.Fatal(err)
		}
		if sel := h.selection(); !sel.Model.IsZero() {
			t.Errorf("row = %+v", sel)
		}
		h.standingIn()
		if err := h.bot.Reset(t.Context(), mainSession); err != nil {
			t.Fatal(err)
		}
		if sel := h.selection(); !sel.Model.IsZero() || sel.Told != (fallback.Told{}) {
			t.Errorf("row = %+v", sel)
		}
		h.say("fresh")
		if asks := h.engine.asked(); len(asks[len(asks)-1].Messages) != 1 {
			t.Error("the history outlived the reset")
		}
		h.wantTexts(t, "echo: hi", "echo: fresh")
	})
}
