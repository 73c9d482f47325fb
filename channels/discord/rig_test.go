package discord

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/discord/discordtest"
)

// quick is a pace for tests on real sockets: what Discord asks for in seconds is
// milliseconds here.
func quick() pace {
	p := normalPace(Defaults())
	p.firstReady, p.laterReady, p.write = 2*time.Second, 2*time.Second, time.Second
	p.again, p.mostAgain, p.steady = 5*time.Millisecond, 40*time.Millisecond, time.Hour
	p.identify, p.invalid = 10*time.Millisecond, 5*time.Millisecond
	p.stale = 0
	p.call, p.retake, p.typing, p.edit = 2*time.Second, 5*time.Millisecond, 50*time.Millisecond, 10*time.Millisecond
	return p
}

// rig is the adapter, the fake it speaks with, and what it handed over.
type rig struct {
	t    *testing.T
	s    *discordtest.Server
	c    *Channel
	in   chan channels.Inbound
	logs *logs
	// judge answers for the store; nil takes everything.
	judge func(channels.Inbound) error
}

// logs is a log that the test can read.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// setup changes what a rig is made of.
type setup struct {
	server  discordtest.Options
	config  func(*Config)
	pace    func(*pace)
	options func(*Options)
}

func newRig(t *testing.T, set setup) *rig {
	t.Helper()
	r := &rig{t: t, s: discordtest.StartWith(t, set.server), in: make(chan channels.Inbound, 1000), logs: &logs{}}
	r.c = r.channel(set)
	return r
}

// channel makes another adapter for the same server, as after a restart.
func (r *rig) channel(set setup) *Channel {
	r.t.Helper()
	cfg, p := Defaults(), quick()
	cfg.APIURL = r.s.URL
	cfg.NativeCommands = false
	if set.config != nil {
		set.config(&cfg)
	}
	if set.pace != nil {
		set.pace(&p)
	}
	o := Options{Config: cfg, Token: channels.NewSecret(r.s.Token), Log: slog.New(slog.NewTextHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	if set.options != nil {
		set.options(&o)
	}
	c, err := newChannel(o, p)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// run runs the adapter until the test ends or stop is called, which gives Run's
// error, and waits until it is ready.
func (r *rig) run() (stop func() error) {
	r.t.Helper()
	stop = r.start()
	r.ready()
	return stop
}

func (r *rig) start() (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- r.c.Run(ctx, func(_ context.Context, in channels.Inbound) error {
			if r.judge != nil {
				if err := r.judge(in); err != nil {
					return err
				}
			}
			r.in <- in
			return nil
		})
	}()
	var once sync.Once
	var err error
	stop = func() error {
		once.Do(func() {
			cancel()
			select {
			case err = <-done:
			case <-time.After(5 * time.Second):
				err = errors.New("Run goes on after its context ended")
			}
		})
		return err
	}
	r.t.Cleanup(func() {
		if err := stop(); err != nil && !errors.Is(err, context.Canceled) {
			var fatal *Fatal
			if !errors.As(err, &fatal) {
				r.t.Errorf("Run gave %v", err)
			}
		}
	})
	return stop
}

// soon is a context for what has to happen soon.
func (r *rig) soon() context.Context {
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Second)
	r.t.Cleanup(cancel)
	return ctx
}

func (r *rig) ready() {
	r.t.Helper()
	r.await("the adapter is ready", func() bool { return r.c.Health().State == channels.Ready })
}

// await waits until ok holds. It is asked again whenever the server saw
// something, and now and then besides.
func (r *rig) await(what string, ok func() bool) {
	r.t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			r.t.Fatalf("it did not come to this: %s; health %+v; log:\n%s", what, r.c.Health(), r.logs)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		_ = r.s.Await(ctx, ok)
		cancel()
	}
}

// next gives the next message that was handed over.
func (r *rig) next() channels.Inbound {
	r.t.Helper()
	select {
	case in := <-r.in:
		return in
	case <-time.After(10 * time.Second):
		r.t.Fatalf("nothing was handed over; log:\n%s", r.logs)
		return channels.Inbound{}
	}
}

// wantNothing looks that nothing more was handed over by the time that a
// message, said last, has come.
func (r *rig) wantNothing(u discordtest.User) {
	r.t.Helper()
	r.s.Say(u, r.s.DM(u), "the last one")
	if in := r.next(); in.Text != "the last one" {
		r.t.Errorf("handed over: %+v", in)
	}
}

func (r *rig) out(id, conversation, text string) channels.Outbound {
	return channels.Outbound{ID: id, To: r.c.address(conversation), Kind: channels.Reply, Text: text}
}

func (r *rig) mustSend(out channels.Outbound) channels.Receipt {
	r.t.Helper()
	rc, err := r.c.Send(r.soon(), out)
	if err != nil {
		r.t.Fatalf("send %s: %v; log:\n%s", out.ID, err, r.logs)
	}
	return rc
}

// texts gives what the bot says in a channel.
func (r *rig) texts(channel string) []string {
	var all []string
	for _, m := range r.s.Posts(channel) {
		all = append(all, m.Content)
	}
	return all
}

func (r *rig) wantTexts(channel string, want ...string) {
	r.t.Helper()
	if got := r.texts(channel); strings.Join(got, "\x00") != strings.Join(want, "\x00") {
		r.t.Errorf("posted %q, want %q", got, want)
	}
}
