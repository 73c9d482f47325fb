package slack

import (
	"testing"

	"standin/channels"
	"standin/channels/slack/slacktest"
)

// One look-up that gets no answer costs one message its mention, not all of the
// next ten minutes [SL12].
func TestAFailedLookUpIsNotRemembered(t *testing.T) {
	r := newRig(t, setup{})
	r.s.Fail("usergroups.users.list", slacktest.Fault{Status: 503})
	for i, want := range []bool{false, true} {
		r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "<!subteam^S0BOTS|@bots> help"})
		if in := r.next(); in.Mentioned != want {
			t.Errorf("message %d: mentioned %v, want %v", i+1, in.Mentioned, want)
		}
	}
}

// A panic on one event's way costs that event alone, and Slack, which was not
// told that it is safe, delivers it again [I1].
func TestAPanicCostsOneDelivery(t *testing.T) {
	r := newRig(t, setup{})
	seen := 0
	r.mu.Lock()
	r.fail = func(channels.Inbound) error {
		if seen++; seen == 1 {
			panic("not foreseen")
		}
		return nil
	}
	r.mu.Unlock()
	r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "hello"})
	if in := r.next(); in.Text != "hello" {
		t.Errorf("handed over: %+v", in)
	}
}

// A turn that ends in silence leaves nothing behind, in Slack or in memory: no
// post comes that would claim its draft.
func TestASilentTurnLeavesNoDraft(t *testing.T) {
	r := newRig(t, setup{})
	in := r.asked(slacktest.DM, "nothing to say?")
	for _, thread := range []string{"", "1.1", "2.2"} {
		d := r.c.Draft(r.ctx, r.to(slacktest.DM, thread), in.ID, nil)
		d.Working()
		d.Show("NO")
		d.Discard()
		d.Close()
		<-d.(*draft).done
	}
	if n := len(r.c.drafts.kept); n != 0 {
		t.Errorf("%d drafts are kept", n)
	}
	if posts := r.s.Posts(slacktest.DM); len(posts) != 0 {
		t.Errorf("in the room: %+v", posts)
	}
}
