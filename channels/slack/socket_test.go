package slack

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/slack/slacktest"
)

// Socket mode [SL3, SL14] and the traps of the protocol, over real sockets.

// An acknowledgement tells Slack that the message is durable: not before, and
// at once after it, however long the turn takes [I1].
func TestAcknowledgedOnceDurable(t *testing.T) {
	r := newRig(t, setup{before: func(s *slacktest.Server) { s.ResendAfter = time.Hour }})
	var before int
	r.fail = func(channels.Inbound) error { before = len(r.s.Acks()); return nil }
	r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "hello"})
	r.next()
	r.await("it is acknowledged", func() bool { return len(r.s.Acks()) == 1 })
	if before != 0 {
		t.Error("acknowledged before the store had it")
	}
}

// What the store did not take is not acknowledged; Slack sends it again under a
// new envelope, and then it is handed over.
func TestRefusedByTheStoreComesAgain(t *testing.T) {
	r := newRig(t, setup{})
	tries := 0
	r.fail = func(channels.Inbound) error {
		if tries++; tries < 3 {
			return errors.New("disk full")
		}
		return nil
	}
	r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "keep me"})
	if in := r.next(); in.Text != "keep me" || tries != 3 {
		t.Errorf("%q after %d tries", in.Text, tries)
	}
	r.handed()
	if e := r.s.Events()[0]; e.Attempts != 3 {
		t.Errorf("sent %d times", e.Attempts)
	}
}

// A repeat under a new envelope runs once, and is acknowledged each time [I2].
func TestRepeatIsHandedOverOnce(t *testing.T) {
	r := newRig(t, setup{})
	r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "once"})
	r.next()
	r.s.Repeat()
	r.s.Repeat()
	r.await("three acknowledgements came", func() bool { return len(r.s.Acks()) == 3 })
	if in := r.handed(); len(in) != 1 {
		t.Errorf("handed over %d times", len(in))
	}
}

// Whatever Slack sends that is not for us to answer is acknowledged: events of
// unknown types, of other apps, of shapes that cannot be read. Otherwise Slack
// repeats it and counts a failure.
func TestUselessEventsAreAcknowledged(t *testing.T) {
	r := newRig(t, setup{})
	tells := []func(){
		func() { r.s.Tell(map[string]any{"type": "a_type_of_next_year", "x": 1}) },
		func() { r.s.Tell(map[string]any{"type": "reaction_added", "user": slacktest.Alice}) },
		func() {
			r.s.Tell(map[string]any{"type": "message", "channel": map[string]any{"not": "text"}, "ts": "1.1"})
		},
		func() {
			r.s.Tell(map[string]any{"type": "message", "channel": slacktest.DM, "user": slacktest.Alice, "text": "no id"})
		},
		func() { r.s.TellRaw(map[string]any{"type": "event_callback", "event": "text"}) },
		func() { r.s.TellRaw(map[string]any{"nothing": true}) },
		func() {
			r.s.TellRaw(map[string]any{"team_id": "T0ELSE", "api_app_id": slacktest.App, "event": map[string]any{
				"type": "message", "channel": slacktest.DM, "channel_type": "im", "user": slacktest.Alice, "text": "another workspace", "ts": "2.1"}})
		},
		func() {
			r.s.TellRaw(map[string]any{"team_id": slacktest.Team, "api_app_id": "A0ELSE", "event": map[string]any{
				"type": "message", "channel": slacktest.DM, "channel_type": "im", "user": slacktest.Alice, "text": "another app", "ts": "3.1"}})
		},
	}
	for _, tell := range tells {
		tell()
	}
	if in := r.handed(); len(in) != 0 {
		t.Errorf("handed over: %+v", in)
	}
	if len(r.s.Acks()) != len(tells) {
		t.Errorf("%d acknowledgements for %d events", len(r.s.Acks()), len(tells))
	}
}

// A message is a message although it holds blocks and fields that no library knows.
func TestMessageWithUnknownPartsIsTaken(t *testing.T) {
	r := newRig(t, setup{})
	r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "still here", Extra: map[string]any{
		"blocks": []any{map[string]any{"type": "hologram", "elements": 7}}, "attachments": "not a list", "edited": 3,
	}})
	if in := r.next(); in.Text != "still here" {
		t.Errorf("%+v", in)
	}
}

// Frames that are no JSON leave the connection as it is.
func TestGarbageIsSurvived(t *testing.T) {
	r := newRig(t, setup{})
	for _, g := range []string{"{", "", "null", "[]", `{"type":7}`, `{"type":"events_api"}`, strings.Repeat("x", 100_000)} {
		r.s.Garbage(g)
	}
	r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "after it"})
	if in := r.next(); in.Text != "after it" {
		t.Errorf("%+v", in)
	}
	if ever, _, bad := r.s.Opened(); ever != 1 || bad != 0 {
		t.Errorf("%d sockets, %d bad frames", ever, bad)
	}
}

// A turn that takes long holds up neither its conversation's acknowledgements
// in the socket nor other conversations [slack-08].
func TestSlowStoreDoesNotStallTheSocket(t *testing.T) {
	r := newRig(t, setup{before: func(s *slacktest.Server) { s.ResendAfter = time.Hour }})
	gate := make(chan struct{})
	r.fail = func(in channels.Inbound) error {
		if in.To.Conversation == slacktest.DM {
			<-gate
		}
		return nil
	}
	for i := range 200 {
		r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: fmt.Sprint("slow ", i)})
	}
	r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "quick"})
	if in := r.next(); in.Text != "quick" {
		t.Errorf("first handed over: %q", in.Text)
	}
	close(gate)
	for i := range 200 {
		if in := r.next(); in.Text != fmt.Sprint("slow ", i) {
			t.Fatalf("out of order: %q at %d", in.Text, i)
		}
	}
	if ever, _, _ := r.s.Opened(); ever != 1 {
		t.Errorf("%d sockets", ever)
	}
}

// Slack asks to reconnect; each time exactly one new socket is opened, after the
// old one was closed, and what comes then is handed over once [IL-093, IL-263].
func TestDisconnectsAndDrops(t *testing.T) {
	r := newRig(t, setup{})
	cuts := []func(){
		func() { r.s.Disconnect("warning") }, func() { r.s.Disconnect("refresh_requested") }, r.s.Drop, r.s.Drop,
		func() { r.s.Disconnect("refresh_requested") }, r.s.Drop,
	}
	for i, cut := range cuts {
		cut()
		r.await("a new socket stands", func() bool { ever, _, _ := r.s.Opened(); return ever == i+2 && r.s.Connected() == 1 })
		text := fmt.Sprint("after cut ", i)
		r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: text})
		if in := r.next(); in.Text != text {
			t.Fatalf("%q", in.Text)
		}
	}
	ever, most, _ := r.s.Opened()
	if ever != len(cuts)+1 || most > 2 { // the stand-in sees the old one go a little later
		t.Errorf("%d sockets opened, %d at a time", ever, most)
	}
	if n := len(r.handed()); n != len(cuts) {
		t.Errorf("handed over %d", n)
	}
}

// A socket that answers no pings and says nothing is replaced; Health says stale
// or reconnecting meanwhile, and the log says so once [IL-173, IL-307, IL-098].
func TestSilentSocketIsReplaced(t *testing.T) {
	r := newRig(t, setup{pace: func(p *pace) { p.pong = 400 * time.Millisecond }})
	r.s.Freeze()
	began := time.Now()
	r.await("it is noticed", func() bool { return r.c.Health().State != channels.Ready })
	if h := r.c.Health(); h.State != channels.Stale && h.State != channels.Reconnecting && h.State != channels.Ready || h.State == channels.Stale && h.Reason == "" {
		t.Errorf("health %+v", h)
	}
	r.await("a new socket stands", func() bool { return r.c.Health().State == channels.Ready })
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("took %s", took)
	}
	r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "there you are"})
	r.next()
	ever, _, _ := r.s.Opened()
	if n := strings.Count(r.log.String(), "slack socket is silent"); n == 0 || n >= ever {
		t.Errorf("said %d times for %d sockets", n, ever)
	}
}

// A socket that brings no event for long is replaced although it answers pings.
func TestQuietSocketIsReplaced(t *testing.T) {
	r := newRig(t, setup{pace: func(p *pace) { p.quiet = 300 * time.Millisecond }})
	r.await("it was replaced", func() bool { ever, _, _ := r.s.Opened(); return ever >= 2 })
	if h := r.c.Health(); h.State == channels.Down {
		t.Errorf("health %+v", h)
	}
}

// Ready only after hello: a socket that is refused keeps the state and says why
// [IL-078].
func TestRefusedSocketIsNotReady(t *testing.T) {
	r := newRig(t, setup{idle: true})
	r.s.RefuseSockets(true)
	go func() { r.end <- r.c.Run(r.ctx, r.receive) }()
	r.await("it tried more than once", func() bool { return r.c.Health().Attempt > 2 })
	if h := r.c.Health(); h.State == channels.Ready || !strings.Contains(h.Reason, "403") {
		t.Errorf("health %+v", h)
	}
	r.s.RefuseSockets(false)
	r.await("it is ready", func() bool { return r.c.Health().State == channels.Ready })
}

// Socket Mode was switched off in the app: it goes on trying, and says what helps.
func TestLinkDisabled(t *testing.T) {
	r := newRig(t, setup{pace: func(p *pace) { p.first, p.longest = time.Hour, time.Hour }})
	r.s.Disconnect("link_disabled")
	r.await("it is told", func() bool { return r.c.Health().State == channels.Reconnecting })
	r.await("the mend is said", func() bool {
		h := r.c.Health()
		return strings.Contains(h.Mend, "Socket Mode") || strings.Contains(h.Reason, "403")
	})
}

// auth.test or the app token are refused: said once, with what to do, no loop,
// and Run gives a typed error [slack-09, SL3].
func TestFatalCredentials(t *testing.T) {
	for _, code := range []string{"invalid_auth", "account_inactive", "token_revoked", "not_authed", "missing_scope", "not_allowed_token_type"} {
		for _, method := range []string{"auth.test", "apps.connections.open"} {
			t.Run(method+" "+code, func(t *testing.T) {
				r := newRig(t, setup{idle: true})
				r.s.Fail(method, slacktest.Fault{Code: code})
				err := r.c.Run(r.ctx, r.receive)
				var fatal *Fatal
				if !errors.As(err, &fatal) || fatal.Code != code || fatal.Mend == "" {
					t.Fatalf("Run gave %v", err)
				}
				if h := r.c.Health(); h.State != channels.Down || h.Reason != code || h.Mend == "" {
					t.Errorf("health %+v", h)
				}
				if n := strings.Count(r.log.String(), "level=ERROR"); n != 1 {
					t.Errorf("said %d times", n)
				}
				if n := len(r.s.Calls(method)); n != 1 {
					t.Errorf("asked %d times", n)
				}
			})
		}
	}
}

// Trouble that passes does not end Run: a limited or broken Slack at start is
// asked again, no earlier than it says.
func TestTroubleAtStartPasses(t *testing.T) {
	r := newRig(t, setup{idle: true})
	r.s.Fail("auth.test", slacktest.Fault{Status: 503}, slacktest.Fault{Cut: true}, slacktest.Fault{Body: "<html>"})
	r.s.Fail("apps.connections.open", slacktest.Fault{Status: 429, RetryAfter: "1"}, slacktest.Fault{Code: "internal_error"})
	began := time.Now()
	r.run()
	if h := r.c.Health(); h.State != channels.Ready || time.Since(began) < time.Second {
		t.Errorf("health %+v after %s", h, time.Since(began))
	}
}

// An acknowledgement that finds no socket goes out on the next one.
func TestLateAcknowledgement(t *testing.T) {
	r := newRig(t, setup{before: func(s *slacktest.Server) { s.ResendAfter = time.Hour }})
	gate, begun := make(chan struct{}), make(chan struct{})
	r.fail = func(channels.Inbound) error { close(begun); <-gate; return nil }
	r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "before the cut"})
	<-begun
	r.s.RefuseSockets(true)
	r.s.Drop()
	r.await("the socket is gone", func() bool { return r.s.Connected() == 0 && r.c.Health().State != channels.Ready })
	close(gate)
	r.next()
	r.s.RefuseSockets(false)
	r.await("it is acknowledged", func() bool { return r.s.Unacked() == 0 })
	if e := r.s.Events()[0]; e.Attempts != 1 {
		t.Errorf("sent %d times", e.Attempts)
	}
}

// Back-off: from 2 s by 1.8 to 30 s, a quarter of jitter [SL3].
func TestBackoff(t *testing.T) {
	p := defaultPace()
	for n, want := range []float64{2, 3.6, 6.48, 11.664, 20.9952, 30, 30} {
		for range 50 {
			got := backoff(p, n).Seconds()
			if got < want*0.749 || got > want*1.251 {
				t.Fatalf("failure %d: %.2f s, want %.2f ± 25 %%", n, got, want)
			}
		}
	}
}

// A network that cuts every connection at once is not stormed: after a few
// reconnects in a row it backs off [IL-095].
func TestFlappingBacksOff(t *testing.T) {
	r := newRig(t, setup{pace: func(p *pace) { p.stable, p.first, p.longest = time.Hour, time.Hour, time.Hour }})
	for i := range freeReconnects {
		r.s.Drop()
		r.await("it connects at once", func() bool {
			ever, _, _ := r.s.Opened()
			return ever == i+2 && r.s.Connected() == 1 && r.c.Health().State == channels.Ready
		})
	}
	r.s.Drop()
	r.await("it ended once more", func() bool { return strings.Count(r.log.String(), "slack socket ended") == freeReconnects+1 })
	if n := strings.Count(r.log.String(), "wait=0s"); n != freeReconnects {
		t.Errorf("%d of %d ends were followed by no wait", n, freeReconnects+1)
	}
}
