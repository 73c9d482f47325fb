package slack

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/slack/slacktest"
)

// rig is a channel that runs against a workspace of its own.
type rig struct {
	t   *testing.T
	s   *slacktest.Server
	c   *Channel
	ctx context.Context

	mu   sync.Mutex
	in   []channels.Inbound
	got  chan channels.Inbound
	fail func(channels.Inbound) error // answers for the store; nil: all is well
	end  chan error                   // what Run gave
	log  *safeBuilder
}

// patience is the most a test waits for something that has to happen.
const patience = 10 * time.Second

// hurried is the pace of tests: the same proportions, nothing to wait for.
func hurried() pace {
	return pace{
		first: 20 * time.Millisecond, longest: 100 * time.Millisecond, stable: 50 * time.Millisecond,
		hello: 5 * time.Second, ping: 50 * time.Millisecond, pong: 5 * time.Second, quiet: time.Minute,
		late: 5 * time.Second, call: 5 * time.Second, again: 5 * time.Millisecond, update: 10 * time.Millisecond, durable: time.Second,
	}
}

type setup struct {
	config func(*Config)
	pace   func(*pace)
	before func(*slacktest.Server)
	idle   bool // not run
}

// newRig makes a channel in socket mode and runs it until the test ends.
func newRig(t *testing.T, o setup) *rig {
	t.Helper()
	s := slacktest.Start(t)
	s.ResendAfter, s.Ping = 300*time.Millisecond, 50*time.Millisecond
	if o.before != nil {
		o.before(s)
	}
	cfg := Defaults()
	cfg.APIURL = s.API()
	if o.config != nil {
		o.config(&cfg)
	}
	r := &rig{t: t, s: s, got: make(chan channels.Inbound, 4096), end: make(chan error, 1), log: &safeBuilder{}}
	c, err := New(Options{
		Config: cfg, Bot: channels.NewSecret(slacktest.BotToken), App: channels.NewSecret(slacktest.AppToken),
		Signing: channels.NewSecret(slacktest.Signing),
		Log:     slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	c.pace = hurried()
	if o.pace != nil {
		o.pace(&c.pace)
	}
	r.c = c
	var cancel context.CancelFunc
	r.ctx, cancel = context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	if !o.idle {
		r.run()
	}
	return r
}

func (r *rig) run() {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.ctx)
	go func() { r.end <- r.c.Run(ctx, r.receive) }()
	r.t.Cleanup(func() {
		cancel()
		select {
		case <-r.end:
		case <-time.After(patience):
			r.t.Error("Run goes on after its context ended")
		}
	})
	r.await("it is ready or failed", func() bool { return r.c.Health().State == channels.Ready || r.c.Health().State == channels.Down })
}

func (r *rig) receive(_ context.Context, in channels.Inbound) error {
	r.mu.Lock()
	fail := r.fail
	r.mu.Unlock()
	if fail != nil {
		if err := fail(in); err != nil {
			return err
		}
	}
	r.mu.Lock()
	r.in = append(r.in, in)
	r.mu.Unlock()
	r.got <- in
	return nil
}

// next gives the next message that was handed over.
func (r *rig) next() channels.Inbound {
	r.t.Helper()
	select {
	case in := <-r.got:
		return in
	case <-r.ctx.Done():
		r.t.Fatalf("nothing was handed over; health %+v", r.c.Health())
		return channels.Inbound{}
	}
}

// handed gives everything that was handed over once Slack waits for nothing.
func (r *rig) handed() []channels.Inbound {
	r.t.Helper()
	r.await("every event is acknowledged", func() bool { return r.s.Unacked() == 0 })
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]channels.Inbound(nil), r.in...)
}

// await waits for something that has to come; the workspace is asked again
// after everything that happens in it, and now and then besides.
func (r *rig) await(what string, ok func() bool) {
	r.t.Helper()
	for !ok() {
		ctx, cancel := context.WithTimeout(r.ctx, 20*time.Millisecond)
		r.s.Await(ctx, ok)
		cancel()
		if r.ctx.Err() != nil {
			r.t.Fatalf("it did not come to pass that %s; health %+v", what, r.c.Health())
		}
	}
}

func (r *rig) to(room, thread string) channels.Address {
	return channels.Address{Channel: Name, Conversation: room, Thread: thread}
}

// send posts a text and wants it posted.
func (r *rig) send(out channels.Outbound) channels.Receipt {
	r.t.Helper()
	rc, err := r.c.Send(r.ctx, out)
	if err != nil {
		r.t.Fatalf("send %s: %v", out.ID, err)
	}
	return rc
}

// safeBuilder is a strings.Builder for several goroutines.
type safeBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *safeBuilder) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuilder) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
