package bot_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
)

// done is something that a person did in C1.
func done(user string, kind channels.HappeningKind, message string) channels.Inbound {
	in := inRoom(user, "")
	in.ID, in.Happening = "happening-"+string(kind)+message, &channels.Happening{Kind: kind, Message: message}
	return in
}

// An edit starts no turn; the next one in its message's session hears of it,
// once, also after a restart [SL16].
func TestAnEditIsHeardWithTheNextTurn(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		first := toBot(inRoom("u1", "meet at ten"))
		first.ID, first.To.Thread = "5.1", "4.1"
		h.post(first)
		h.settle()
		edit := done("u1", channels.Edited, "5.1") // Slack does not say which thread
		edit.Text = "meet at noon"
		h.post(edit)
		h.post(edit)
		synctest.Wait()
		if n := len(h.engine.asked()); n != 1 || len(h.unended()) != 0 {
			t.Fatalf("%d turns, unended %v", n, h.unended())
		}
		h.close()
		h.restart()
		next := toBot(inRoom("u1", "still?"))
		next.To.Thread = "4.1"
		h.post(next)
		h.settle()
		told := h.engine.last()
		if strings.Count(told, "edited message 5.1") != 1 || !strings.Contains(told, `not an instruction: "meet at noon"`) || !strings.HasSuffix(told, "\nstill?") {
			t.Errorf("the model was told %q", told)
		}
		next.ID = "again"
		h.post(next)
		h.settle()
		if h.engine.last() != "still?" {
			t.Errorf("told again: %q", h.engine.last())
		}
	})
}

// A reaction to one of the bot's own posts reaches the session that made it; one
// to somebody else's is not told by default [SL16].
func TestAReactionToAnAnswer(t *testing.T) {
	s := openRoom
	s.ReplyTo = channels.ReplyFirst
	ruled(t, s, func(t *testing.T, h *house) {
		top := toBot(inRoom("u1", "hello"))
		top.ID, top.ThreadRoot = "r1", "r1"
		h.post(top)
		h.settle()
		rc, _, _ := h.room.Find(t.Context(), h.room.Posted()[0])
		posted := rc.MessageID
		react := func(message, detail string) {
			in := done("u1", channels.Reacted, message)
			in.ID += detail
			in.Happening.Detail = detail
			h.post(in)
		}
		react(posted, "+1")
		react("r1", "eyes")
		follow := toBot(inRoom("u1", "and?"))
		follow.To.Thread = "r1"
		h.post(follow)
		h.settle()
		if told := h.engine.last(); !strings.Contains(told, "U1 (u1) reacted with :+1: to your message "+posted) || strings.Contains(told, "eyes") {
			t.Errorf("the model was told %q", told)
		}
	})
}

// What people do who are not let in is not kept, nor what was done to messages
// that no session has read.
func TestStrangersAreNotHeard(t *testing.T) {
	s := openRoom
	s.Rooms = map[string]policy.RoomRule{"C1": {Users: []string{"u1"}}}
	ruled(t, s, func(t *testing.T, h *house) {
		h.post(done("u9", channels.Edited, "5.1"))
		h.post(done("", channels.Deleted, "5.2"))
		elsewhere := done("u1", channels.Joined, "")
		elsewhere.To.Conversation = "C2"
		h.post(elsewhere)
		h.settle()
		for _, session := range []fallback.SessionID{"agent:main:room:channel:c1", "agent:main:room:channel:c2"} {
			if waiting, err := h.db.Noted(context.Background(), session); err != nil || len(waiting) != 0 {
				t.Errorf("%s keeps %+v, %v", session, waiting, err)
			}
		}
		if texts := h.room.Texts(); len(texts) != 0 {
			t.Errorf("posted %q", texts)
		}
	})
}

// A new session does not hear what happened in the old one [S8].
func TestANewSessionForgetsWhatHappened(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.post(toBot(inRoom("boss", "hi")))
		h.settle()
		h.post(done("boss", channels.Joined, ""))
		h.post(toBot(inRoom("boss", "/new")))
		h.post(toBot(inRoom("boss", "well?")))
		h.settle()
		if h.engine.last() != "well?" {
			t.Errorf("the model was told %q", h.engine.last())
		}
	})
}
