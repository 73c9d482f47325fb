package slack

import (
	"slices"
	"testing"

	"standin/channels/slack/slacktest"
)

// saysReply makes Slack tell of a reply in a thread without its thread, as some
// clients' replies come [SL17]. It gives the thread and the reply's id.
func (r *rig) saysReply(text string) (root, ts string) {
	r.t.Helper()
	root = r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "root"})
	ts = r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Alice, Text: text, Thread: root, Extra: map[string]any{"thread_ts": nil}})
	return root, ts
}

// A look-up that fails for a passing reason loses nothing: the message waits, is
// not acknowledged, and comes in its thread; it never goes to the room [SL17, I1].
func TestAThreadThatCannotBeLookedUpYet(t *testing.T) {
	for name, fault := range map[string]slacktest.Fault{
		"a limit":            {Status: 429, RetryAfter: "1"},
		"Slack is broken":    {Status: 503},
		"the line is cut":    {Cut: true},
		"a page comes":       {Body: "<html>"},
		"Slack says so":      {Code: "internal_error"},
		"Slack says a limit": {Code: "ratelimited"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, setup{})
			r.s.Fail("conversations.history", fault)
			root, ts := r.saysReply("<@" + slacktest.BotUser + "> are you there?")
			var seen []string
			for _, in := range r.handed() {
				seen = append(seen, in.Text)
				if in.ID == ts && in.To.Thread != root {
					t.Errorf("it came in thread %q, want %q", in.To.Thread, root)
				}
			}
			if want := []string{"root", "are you there?"}; !slices.Equal(seen, want) {
				t.Errorf("handed over: %q, want %q", seen, want)
			}
		})
	}
}

// The room's other messages do not wait for it.
func TestAThreadThatCannotBeLookedUpHoldsNobodyUp(t *testing.T) {
	r := newRig(t, setup{})
	faults := slices.Repeat([]slacktest.Fault{{Status: 503}}, 4)
	r.s.Fail("conversations.history", faults...)
	_, ts := r.saysReply("slow")
	r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Alice, Text: "quick"})
	all := r.handed()
	if n := len(all); n != 3 || all[n-1].ID != ts {
		t.Errorf("handed over: %+v", all)
	}
}

// What Slack will never tell is dropped and acknowledged, as before.
func TestAThreadThatSlackDoesNotKnow(t *testing.T) {
	r := newRig(t, setup{})
	r.s.Fail("conversations.history", slacktest.Fault{Code: "channel_not_found"})
	r.s.Fail("conversations.replies", slacktest.Fault{Code: "thread_not_found"})
	_, ts := r.saysReply("nowhere")
	for _, in := range r.handed() {
		if in.ID == ts {
			t.Errorf("handed over: %+v", in)
		}
	}
}

// While it cannot be looked up it is not acknowledged, so that Slack delivers it
// again to a process that comes after.
func TestAMessageThatWaitsIsNotAcknowledged(t *testing.T) {
	r := newRig(t, setup{})
	r.s.Fail("conversations.history", slices.Repeat([]slacktest.Fault{{Status: 503}}, 100)...)
	_, ts := r.saysReply("for ever")
	r.await("it was looked for until nothing was left", func() bool { return len(r.s.Calls("conversations.history")) >= maxLookUps })
	if r.s.Unacked() == 0 {
		t.Error("it was acknowledged")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range r.in {
		if in.ID == ts {
			t.Errorf("handed over: %+v", in)
		}
	}
}
