package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
	"standin/channels/discord/discordtest"
)

// A message that comes while the line is down is handed over once, by RESUME,
// whatever cut the line.
func TestALostConnectionIsResumed(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  func(s *discordtest.Server)
	}{
		{"the line is cut", (*discordtest.Server).Drop},
		{"op 7 asks for a new connection", (*discordtest.Server).AskToReconnect},
		{"op 9 says that the session can be resumed", func(s *discordtest.Server) { s.Invalidate(true) }},
		{"close 4000", func(s *discordtest.Server) { s.Shut(4000) }},
		{"close 4008, sent too much", func(s *discordtest.Server) { s.Shut(4008) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{})
			r.run()
			alice := r.s.Person("alice")
			r.s.Say(alice, r.s.DM(alice), "before")
			r.next()
			c.cut(r.s)
			r.s.Say(alice, r.s.DM(alice), "meanwhile")
			if in := r.next(); in.Text != "meanwhile" {
				t.Errorf("handed over %+v", in)
			}
			r.ready()
			r.wantNothing(alice)
			if n := r.s.Count(discordtest.Identify, ""); n != 1 {
				t.Errorf("%d IDENTIFYs; the session was thrown away", n)
			}
		})
	}
}

// Where the session is gone a new one is made, and what was said in between is
// read again [IL-264].
func TestALostSessionIsMadeAnew(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  func(s *discordtest.Server)
	}{
		{"op 9 says that it cannot be resumed", func(s *discordtest.Server) { s.Invalidate(false) }},
		{"close 1000", func(s *discordtest.Server) { s.Shut(1000) }},
		{"close 1001", func(s *discordtest.Server) { s.Shut(1001) }},
		{"close 4007, invalid sequence", func(s *discordtest.Server) { s.Shut(4007) }},
		{"close 4009, session timed out", func(s *discordtest.Server) { s.Shut(4009) }},
		{"a RESUME is answered with op 9, false", func(s *discordtest.Server) { s.RefuseResumes("invalid"); s.Drop() }},
		{"three RESUMEs come to nothing [IL-232]", func(s *discordtest.Server) { s.RefuseResumes("cut", "cut", "cut"); s.Drop() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{})
			r.run()
			alice := r.s.Person("alice")
			r.s.Say(alice, r.s.DM(alice), "before")
			r.next()
			c.cut(r.s)
			r.s.Quietly(alice, r.s.DM(alice), "meanwhile")
			if in := r.next(); in.Text != "meanwhile" {
				t.Errorf("handed over %+v", in)
			}
			r.await("a second IDENTIFY", func() bool { return r.s.Count(discordtest.Identify, "") == 2 })
			r.ready()
			r.wantNothing(alice)
		})
	}
}

// Report IL-272: op 9 is a normal answer to a RESUME, with true and with false;
// each ends in RESUMED or READY, and IDENTIFYs keep their distance.
func TestOp9IsAFirstClassPath(t *testing.T) {
	const gap = 30 * time.Millisecond
	r := newRig(t, setup{pace: func(p *pace) { p.identify = gap }})
	r.run()
	for i := range 8 {
		identified, resumed := r.s.Count(discordtest.Identify, ""), r.s.Count(discordtest.Resumed, "")
		r.s.Invalidate(i%2 == 0)
		r.await("the session is back", func() bool {
			return r.s.Count(discordtest.Identify, "")+r.s.Count(discordtest.Resumed, "") > identified+resumed && r.c.Health().State == channels.Ready
		})
	}
	var last time.Time
	for _, e := range r.s.Journal() {
		if e.What == discordtest.Identify {
			if !last.IsZero() && e.At.Sub(last) < gap-time.Millisecond {
				t.Errorf("two IDENTIFYs within %v", e.At.Sub(last))
			}
			last = e.At
		}
	}
}

// Close codes that no connection helps against end Run at once, say what mends
// it, and are not tried again.
func TestTerminalCloses(t *testing.T) {
	for _, code := range []int{4004, 4010, 4011, 4012, 4013, 4014} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			r := newRig(t, setup{})
			stop := r.run()
			r.s.Shut(code)
			r.await("health says failed", func() bool { return r.c.Health().State == channels.Down })
			var fatal *Fatal
			if err := stop(); !errors.As(err, &fatal) || fatal.Code != code || fatal.Mend == "" {
				t.Errorf("Run gave %v", err)
			}
			if h := r.c.Health(); h.Mend == "" || h.Reason == "" {
				t.Errorf("health %+v does not say what to do", h)
			}
			if n := r.s.Count(discordtest.Connected, ""); n != 1 {
				t.Errorf("%d connections", n)
			}
			if n := strings.Count(r.logs.String(), "refuses the bot"); n != 1 {
				t.Errorf("said %d times", n)
			}
		})
	}
}

// A token that is not valid is told by the API before anything is connected.
func TestAWrongTokenIsFatal(t *testing.T) {
	r := newRig(t, setup{options: func(o *Options) { o.Token = channels.NewSecret("wrong.token.value") }})
	var fatal *Fatal
	if err := r.c.Run(r.soon(), nil); !errors.As(err, &fatal) || !strings.Contains(fatal.Mend, "token") {
		t.Errorf("Run gave %v", err)
	}
}

// An intent that is not switched on is a close 4014 with its mend [D1].
func TestAMissingIntentIsFatal(t *testing.T) {
	r := newRig(t, setup{server: discordtest.Options{Intents: -1}})
	var fatal *Fatal
	if err := r.c.Run(r.soon(), nil); !errors.As(err, &fatal) || !strings.Contains(fatal.Mend, "Message Content Intent") {
		t.Errorf("Run gave %v", err)
	}
}

// discordgo's Open hangs for ever in these; ours has a deadline for each step
// [IL-304], and health tells of the attempts.
func TestAGatewayThatDoesNotGetReadyIsLeft(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(s *discordtest.Server)
	}{
		{"no HELLO", func(s *discordtest.Server) { s.NoHello(2) }},
		{"no READY", func(s *discordtest.Server) { s.NoReady(2) }},
		{"op 7 before READY", func(s *discordtest.Server) { s.ReconnectFirst(2) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{pace: func(p *pace) { p.firstReady = 100 * time.Millisecond }})
			c.spoil(r.s)
			r.start()
			r.await("health counts attempts", func() bool {
				h := r.c.Health()
				return h.State == channels.Connecting && h.Attempt == 2 || h.State == channels.Ready
			})
			r.ready()
			if n := r.s.Count(discordtest.Connected, ""); n != 3 {
				t.Errorf("%d connections, want 3", n)
			}
		})
	}
}

// A peer that answers no heartbeat is left at the second one, the session kept
// [IL-169].
func TestADeadPeerIsNoticed(t *testing.T) {
	r := newRig(t, setup{server: discordtest.Options{Interval: 30 * time.Millisecond}})
	r.run()
	r.s.NoAck(true)
	r.await("a RESUME", func() bool { return r.s.Count(discordtest.Resumed, "") >= 1 })
	r.s.NoAck(false)
	r.ready()
	if n := r.s.Count(discordtest.Identify, ""); n != 1 {
		t.Errorf("%d IDENTIFYs", n)
	}
	if !strings.Contains(r.logs.String(), errSilent.Error()) {
		t.Errorf("the connection ended for another reason:\n%s", r.logs)
	}
}

// A second greeting on the same connection begins no second heartbeat [IL-241].
func TestASecondGreetingChangesNothing(t *testing.T) {
	r := newRig(t, setup{server: discordtest.Options{Interval: 20 * time.Millisecond}})
	r.run()
	for range 5 {
		r.s.GreetAgain()
	}
	r.await("some heartbeats", func() bool { return r.s.Count(discordtest.Heartbeat, "") > 10 })
	if n := r.s.Count(discordtest.Identify, ""); n != 1 {
		t.Errorf("%d IDENTIFYs", n)
	}
	if n := r.s.Count(discordtest.Connected, ""); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// A panic in the handler of an event is logged, and the next event comes.
func TestAPanicCostsOneEvent(t *testing.T) {
	var logs logs
	var seen []string
	g := &gateway{log: slog.New(slog.NewTextHandler(&logs, nil)), vitals: newVitals(time.Now), handle: func(ev discordgo.Event) {
		if seen = append(seen, ev.Type); ev.Type == "BAD" {
			panic("the test said so")
		}
	}}
	for i, name := range []string{"BAD", "GOOD"} {
		n := int64(i)
		g.dispatch(t.Context(), packet{Type: name, Seq: &n})
	}
	if strings.Join(seen, " ") != "BAD GOOD" || g.session.seq != 1 || !strings.Contains(logs.String(), "the test said so") {
		t.Errorf("seen %q, sequence %d, log %s", seen, g.session.seq, &logs)
	}
}

// A muted peer is the same: nothing comes, not even acknowledgements.
func TestAMutedPeerIsNoticed(t *testing.T) {
	r := newRig(t, setup{server: discordtest.Options{Interval: 30 * time.Millisecond}})
	r.run()
	r.s.Mute()
	r.await("a RESUME", func() bool { return r.s.Count(discordtest.Resumed, "") >= 1 })
	alice := r.s.Person("alice")
	r.s.Say(alice, r.s.DM(alice), "hello")
	r.next()
}

// A connection without any event for too long is renewed, and health says stale
// meanwhile [G25].
func TestAStaleConnectionIsRenewed(t *testing.T) {
	r := newRig(t, setup{server: discordtest.Options{Interval: 20 * time.Millisecond}, pace: func(p *pace) { p.stale = 60 * time.Millisecond }})
	r.run()
	r.await("a RESUME", func() bool { return r.s.Count(discordtest.Resumed, "") >= 1 })
	if !strings.Contains(r.logs.String(), errStale.Error()) {
		t.Errorf("log: %s", r.logs)
	}
}

// One heartbeat per connection: after many reconnects none is sent earlier than
// its interval [IL-241].
func TestOneHeartbeatPerConnection(t *testing.T) {
	const interval = 40 * time.Millisecond
	r := newRig(t, setup{server: discordtest.Options{Interval: interval}})
	r.run()
	for range 10 {
		n := r.s.Count(discordtest.Resumed, "")
		r.s.Drop()
		r.await("a RESUME", func() bool { return r.s.Count(discordtest.Resumed, "") > n })
	}
	from := len(r.s.Journal())
	r.await("some heartbeats", func() bool { return r.s.Count(discordtest.Heartbeat, "") > 12 })
	var beats []time.Time
	for _, e := range r.s.Journal()[from:] {
		if e.What == discordtest.Heartbeat {
			beats = append(beats, e.At)
		}
	}
	for i := 2; i < len(beats); i++ {
		if two := beats[i].Sub(beats[i-2]); two < interval*3/2 { // over two, for the scheduler's sake
			t.Errorf("three heartbeats within %v", two)
		}
	}
	if n := r.s.Count(discordtest.Broken, ""); n != 0 {
		t.Errorf("the fake saw a broken rule: %+v", r.s.Journal())
	}
}

// Op 1 is answered with a heartbeat at once.
func TestOp1IsAnswered(t *testing.T) {
	r := newRig(t, setup{})
	r.run()
	r.s.AskForHeartbeat()
	r.await("a heartbeat", func() bool { return r.s.Count(discordtest.Heartbeat, "") == 1 })
}

// Discord counts new sessions; when none is left nothing is tried, and health
// says why.
func TestNoSessionIsLeft(t *testing.T) {
	r := newRig(t, setup{server: discordtest.Options{Sessions: 1}})
	r.run()
	r.s.Invalidate(false)
	r.await("health says why", func() bool { return strings.Contains(r.c.Health().Reason, "no further new session") })
	if n := r.s.Count(discordtest.Identify, ""); n != 1 {
		t.Errorf("%d IDENTIFYs", n)
	}
}

// Frames and events that make no sense cost nothing but themselves, and a panic
// in a handler is logged.
func TestNonsenseIsPassedOver(t *testing.T) {
	r := newRig(t, setup{})
	panics := 0
	r.judge = func(in channels.Inbound) error {
		if in.Text == "panic" {
			panics++
			panic("the test said so")
		}
		return nil
	}
	r.run()
	alice := r.s.Person("alice")
	r.s.Noise()
	r.s.Garbage("MESSAGE_CREATE", map[string]any{"id": "1", "channel_id": "2", "content": "nobody said this"})
	r.s.Garbage("MESSAGE_CREATE", "no message at all")
	r.s.Garbage("INTERACTION_CREATE", map[string]any{"type": 99})
	r.s.Garbage("GUILD_CREATE", []int{1})
	r.s.Garbage("SOMETHING_NEW", nil)
	r.s.Say(alice, r.s.DM(alice), "panic")
	r.s.Odd(alice, r.s.DM(alice), "an unknown component", map[string]any{"components": []any{map[string]any{"type": 99, "components": "x"}}, "poll": "x"})
	if in := r.next(); in.Text != "an unknown component" {
		t.Errorf("handed over %+v", in)
	}
	if panics != 1 || r.s.Count(discordtest.Connected, "") != 1 {
		t.Errorf("%d panics, %d connections", panics, r.s.Count(discordtest.Connected, ""))
	}
}

// A slow receiver holds up its own conversation only, and never the gateway:
// heartbeats go on [IL-188].
func TestASlowReceiverHoldsUpNobodyElse(t *testing.T) {
	r := newRig(t, setup{server: discordtest.Options{Interval: 20 * time.Millisecond}})
	gate := make(chan struct{})
	r.judge = func(in channels.Inbound) error {
		if in.Text == "slow" {
			<-gate
		}
		return nil
	}
	r.run()
	alice, bob := r.s.Person("alice"), r.s.Person("bob")
	r.s.Say(alice, r.s.DM(alice), "slow")
	r.s.Say(alice, r.s.DM(alice), "after the slow one")
	r.s.Say(bob, r.s.DM(bob), "quick")
	if in := r.next(); in.Text != "quick" {
		t.Errorf("first came %q", in.Text)
	}
	n := r.s.Count(discordtest.Heartbeat, "")
	r.await("heartbeats go on", func() bool { return r.s.Count(discordtest.Heartbeat, "") > n+2 })
	close(gate)
	if a, b := r.next(), r.next(); a.Text != "slow" || b.Text != "after the slow one" {
		t.Errorf("then came %q, %q", a.Text, b.Text)
	}
}

// The second Run of a channel is refused: there is one connection, or none.
func TestRunIsSingle(t *testing.T) {
	r := newRig(t, setup{})
	r.run()
	if err := r.c.Run(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("Run gave %v", err)
	}
}

// At its end the bot says goodbye with 1000, so that it looks offline at once.
func TestRunSaysGoodbye(t *testing.T) {
	r := newRig(t, setup{})
	stop := r.run()
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("Run gave %v", err)
	}
	r.await("a close", func() bool { return r.s.Count(discordtest.Closed, "by the client with 1000") == 1 })
}

// Each close code has its meaning, and what is unknown leaves the session alive.
func TestCloseReason(t *testing.T) {
	for code, want := range map[int]struct{ fresh, fatal bool }{
		1000: {fresh: true}, 1001: {fresh: true}, 1005: {}, 1006: {}, 4000: {}, 4001: {}, 4002: {}, 4003: {fresh: true}, 4004: {fatal: true},
		4005: {}, 4007: {fresh: true}, 4008: {}, 4009: {fresh: true}, 4010: {fatal: true}, 4011: {fatal: true}, 4012: {fatal: true},
		4013: {fatal: true}, 4014: {fatal: true}, 4999: {},
	} {
		if c := closeReason(code); c.fresh != want.fresh || (c.mend != "") != want.fatal || c.why == "" {
			t.Errorf("%d: %+v", code, c)
		}
	}
}
