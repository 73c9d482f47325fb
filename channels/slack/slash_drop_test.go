package slack

import (
	"testing"

	"standin/channels"
	"standin/channels/slack/slacktest"
)

// The socket drops while a slash command is being taken, so that its
// acknowledgement cannot go the way it came. Slack does not send commands again:
// the acknowledgement goes out on the next socket, the command has been handed
// over once, and its answer is seen once [IL-150].
func TestASlashCommandWhoseSocketDrops(t *testing.T) {
	r := newRig(t, setup{config: func(c *Config) { c.SlashCommand.Enabled = true }})
	gate, begun := make(chan struct{}), make(chan struct{})
	r.mu.Lock()
	r.fail = func(channels.Inbound) error { close(begun); <-gate; return nil } // a second time would panic
	r.mu.Unlock()
	r.s.Slash(slacktest.General, slacktest.Alice, "/standin", "/status")
	<-begun
	r.s.RefuseSockets(true)
	r.s.Drop()
	r.await("the socket is gone", func() bool { return r.s.Connected() == 0 && r.c.Health().State != channels.Ready })
	close(gate)
	in := r.next()
	r.s.RefuseSockets(false)
	out := channels.Outbound{ID: "d1", To: in.To, Kind: channels.Command, Text: "all is well", ReplyTo: in.ID, Only: slacktest.Alice}
	for range 2 { // the second time it is known
		if _, err := r.c.Send(r.ctx, out); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(r.handed()); n != 1 {
		t.Errorf("handed over %d times", n)
	}
	if got := r.s.Whispers(slacktest.General, slacktest.Alice); len(got) != 1 || got[0].Read() != "all is well" {
		t.Errorf("alice reads %+v", got)
	}
}
