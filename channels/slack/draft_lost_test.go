package slack

import (
	"context"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/slack/slacktest"
)

// A draft whose posting got no answer is found again: no half answer stays
// beside the whole one [I2].
func TestADraftWhosePostingWasNotAnswered(t *testing.T) {
	lost := map[string]slacktest.Fault{
		"the line was cut":        {Cut: true, Applied: true},
		"Slack broke behind it":   {Status: 500, Applied: true},
		"and it had not done it":  {Cut: true},
		"a page came instead":     {Body: "<html>", Applied: true},
		"Slack doubts it himself": {Code: "internal_error", Applied: true},
	}
	for name, fault := range lost {
		for _, c := range []struct {
			what string
			do   func(r *rig, d channels.Draft, in channels.Inbound)
			want []string
		}{
			{"it grows on", func(r *rig, d channels.Draft, _ channels.Inbound) { d.Show("It is") }, []string{"It is"}},
			{"it becomes the answer", func(r *rig, d channels.Draft, in channels.Inbound) {
				d.Close()
				r.send(reply("d1", in.To, "It is so."))
			}, []string{"It is so."}},
			{"it is taken back", func(_ *rig, d channels.Draft, _ channels.Inbound) { d.Discard(); d.Close(); <-d.(*draft).done }, nil},
		} {
			t.Run(name+", "+c.what, func(t *testing.T) {
				r := newRig(t, setup{})
				in := r.asked(slacktest.DM, "tell me")
				r.s.Fail("chat.postMessage", fault)
				r.s.Fail("conversations.history", slacktest.Fault{Status: 502}) // of the looks too one fails
				d := r.c.Draft(r.ctx, in.To, in.ID, nil)
				d.Show("It")
				r.await("it was posted", func() bool { return len(r.s.Calls("chat.postMessage")) == 1 })
				c.do(r, d, in)
				r.await(c.what, r.reads(slacktest.DM, c.want...))
			})
		}
	}
}

// A draft that stands above something that was said since is no place for an
// answer: it goes, and the answer is posted below [N31].
func TestADraftAboveALaterPostIsNotAdopted(t *testing.T) {
	r := newRig(t, setup{})
	in := r.asked(slacktest.DM, "tell me")
	d := r.c.Draft(r.ctx, in.To, in.ID, nil)
	d.Show("It")
	r.await("it is shown", r.reads(slacktest.DM, "It"))
	r.send(reply("d0", in.To, "The answer before, which was late."))
	d.Close()
	r.send(reply("d1", in.To, "It is so."))
	r.await("they stand in order", r.reads(slacktest.DM, "The answer before, which was late.", "It is so."))
}

// Taking a draft away outlives a limit and a failure.
func TestRemovingADraftIsTriedAgain(t *testing.T) {
	r := newRig(t, setup{})
	in := r.asked(slacktest.DM, "tell me")
	d := r.c.Draft(r.ctx, in.To, in.ID, nil)
	d.Show("the wrong way")
	r.await("it is shown", r.reads(slacktest.DM, "the wrong way"))
	r.s.Fail("chat.delete", slacktest.Fault{Status: 429, RetryAfter: "1"}, slacktest.Fault{Status: 502}, slacktest.Fault{Cut: true, Applied: true})
	d.Discard()
	d.Close()
	r.await("it is gone", r.reads(slacktest.DM))
}

// A process that ends before the answer is posted takes the half of it away.
func TestTidyLeavesNoHalfAnswer(t *testing.T) {
	r := newRig(t, setup{})
	in := r.asked(slacktest.DM, "tell me")
	d := r.c.Draft(r.ctx, in.To, in.ID, nil)
	d.Show("It")
	r.await("it is shown", r.reads(slacktest.DM, "It"))
	d.Close()
	ctx, cancel := context.WithTimeout(r.ctx, time.Second)
	defer cancel()
	r.c.Tidy(ctx)
	if !r.reads(slacktest.DM)() {
		t.Errorf("%q", r.s.Seen(slacktest.DM))
	}
}

// The same when the answer has been tried, and could not take its place yet.
func TestTidyLeavesNoDraftThatWasToBecomeTheAnswer(t *testing.T) {
	r := newRig(t, setup{})
	in := r.asked(slacktest.DM, "tell me")
	d := r.c.Draft(r.ctx, in.To, in.ID, nil)
	d.Show("It")
	r.await("it is shown", r.reads(slacktest.DM, "It"))
	d.Close()
	r.s.Fail("chat.update", slacktest.Fault{Status: 429, RetryAfter: "30"})
	if _, err := r.c.Send(r.ctx, reply("d1", in.To, "It is so.")); channels.OutcomeOf(err) != channels.NotSent {
		t.Fatalf("sent with %v", err)
	}
	r.c.Tidy(r.ctx)
	if !r.reads(slacktest.DM)() {
		t.Errorf("%q", r.s.Seen(slacktest.DM))
	}
}
