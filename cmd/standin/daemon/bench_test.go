package daemon

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/channeltest"
	"standin/cmd/standin/config"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

// BenchmarkTurn is a turn's own time: from the inbound event to the post, with
// a vendor that answers at once from memory, the vendor's real SDK and the real
// store on disk. "call" is the SDK call alone, in the same run, so that a turn
// can be read as a multiple of it. "busy" has 50 rooms talk without a pause, so
// its turns/s is the limit of the machine; in "rooms=50" the vendor takes half
// a second, which is taken off, so its times are a turn's own.
func BenchmarkTurn(b *testing.B) {
	b.Run("call", benchCall)
	b.Run("rooms=1", func(b *testing.B) { benchTurns(b, load{rooms: 1, posts: 1}, &providertest.Vendor{}) })
	b.Run("rooms=50", func(b *testing.B) {
		v := &providertest.Vendor{}
		slow := 500 * time.Millisecond
		v.Always(providertest.When{}, providertest.Answer("ok").After(slow))
		benchTurns(b, load{rooms: 50, posts: 1, vendor: slow}, v)
	})
	b.Run("busy", func(b *testing.B) { benchTurns(b, load{rooms: 50, posts: 1}, &providertest.Vendor{}) })
}

// load is what a benchmark puts on the daemon.
type load struct {
	rooms  int           // that talk side by side; 0: each message has a room of its own, one after the other
	posts  int           // that a turn makes
	vendor time.Duration // the vendor's own time, not counted
}

// BenchmarkFailover is the first message after a failure: the primary refuses,
// the stand-in is written down, answers, and the room is told. Each message has
// a session of its own, so every turn fails over; "healthy" is the same without
// a failure.
func BenchmarkFailover(b *testing.B) {
	b.Run("healthy", func(b *testing.B) { benchTurns(b, load{posts: 1}, &providertest.Vendor{}) })
	b.Run("first-candidate-fails", func(b *testing.B) {
		v := &providertest.Vendor{}
		// 400: the one class that neither cools nor skips, so each turn asks it.
		v.Always(providertest.When{Model: "gpt-5.5"}, providertest.Status(400, `{"error":{"message":"bad request","type":"invalid_request_error"}}`))
		benchTurns(b, load{posts: 2}, v)
	})
}

func benchCall(b *testing.B) {
	vendors := provider.New(provider.Options{Transport: &providertest.Vendor{}})
	c := provider.Call{
		Endpoint: provider.Endpoint{Provider: "openai", API: provider.OpenAICompletions, BaseURL: "https://vendor.invalid/v1"},
		Model:    "gpt-5.5", Key: provider.NewKey("k"), Messages: []provider.Message{{Role: provider.User, Text: "hello"}},
	}
	for b.Loop() {
		if _, err := vendors.Call(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

const benchConfig = `
agents:
  defaults:
    model: {primary: openai/gpt-5.5, fallbacks: [anthropic/claude-sonnet-5]}
    maxConcurrent: 64
    historyLimit: 10
models:
  providers:
    openai: {apiKey: k1, api: openai-completions}
    anthropic: {apiKey: k2}
`

// benchTurns runs b.N turns under a load.
func benchTurns(b *testing.B, l load, vendor *providertest.Vendor) {
	conf, faults := config.Parse("bench", []byte(benchConfig), func(string) string { return "" }, b.TempDir())
	if conf == nil {
		b.Fatal(faults)
	}
	log := slog.New(slog.DiscardHandler)
	room := &stopwatch{Room: channeltest.NewRoom("room"), started: map[string]time.Time{}, done: map[string]chan struct{}{}}
	a, err := New(b.Context(), Parts{
		State: b.TempDir(), Config: conf, Channels: []channels.Channel{room},
		Vendors: provider.New(provider.Options{Transport: vendor, Log: log}),
		Log:     log, Now: time.Now, Sleep: Sleep,
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	for !room.open(ctx, "warm", a) { // until the channel listens
		time.Sleep(time.Millisecond)
	}

	side := max(1, l.rooms)
	var next sync.Mutex
	n := 0
	cpu := cpuTime()
	b.ResetTimer()
	var group sync.WaitGroup
	for lane := range side {
		group.Go(func() {
			time.Sleep(l.vendor * time.Duration(lane) / time.Duration(side)) // people do not speak in step
			for {
				next.Lock()
				i := n
				n++
				next.Unlock()
				if i >= b.N {
					return
				}
				conv := "c" + strconv.Itoa(lane)
				if l.rooms == 0 {
					conv = "own" + strconv.Itoa(i)
				}
				room.ask(ctx, a, strconv.Itoa(i), conv)
			}
		})
	}
	group.Wait()
	b.StopTimer()
	spent := cpuTime() - cpu
	stop()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	slices.Sort(room.took)
	at := func(q float64) float64 {
		return float64(room.took[int(q*float64(len(room.took)-1))]-l.vendor) / float64(time.Millisecond)
	}
	b.ReportMetric(at(0.50), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(float64(spent)/float64(b.N)/float64(time.Millisecond), "cpu-ms/turn")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
	if got := room.Count(channeltest.Posted); got != (b.N+1)*l.posts {
		b.Fatalf("%d posts, want %d", got, (b.N+1)*l.posts)
	}
}

// stopwatch is a room that times each message until its reply is posted.
type stopwatch struct {
	*channeltest.Room
	mu      sync.Mutex
	started map[string]time.Time
	done    map[string]chan struct{}
	took    []time.Duration
}

func (s *stopwatch) open(ctx context.Context, id string, a *App) bool {
	s.ask(ctx, a, id, "warm")
	s.took = nil
	return true
}

// ask says one message and waits for its reply.
func (s *stopwatch) ask(ctx context.Context, a *App, id, conversation string) {
	answered := make(chan struct{})
	s.mu.Lock()
	s.started[id], s.done[id] = time.Now(), answered
	s.mu.Unlock()
	err := s.Say(ctx, channels.Inbound{
		ID: id, Text: "hello", To: channels.Address{Channel: "room", Conversation: conversation},
		Chat: channels.Room, Mentioned: true, From: channels.User{ID: "alice"},
	})
	if err != nil {
		panic(err)
	}
	<-answered
}

// Send posts, and stops the watch of the message that a reply answers.
func (s *stopwatch) Send(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
	r, err := s.Room.Send(ctx, out)
	if out.Kind == channels.Reply {
		s.mu.Lock()
		s.took = append(s.took, time.Since(s.started[out.ReplyTo]))
		close(s.done[out.ReplyTo])
		s.mu.Unlock()
	}
	return r, err
}

// cpuTime is the processor time of this process so far, both sides of the
// vendor double included.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
