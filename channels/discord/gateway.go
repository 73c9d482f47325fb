package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
)

// gateway keeps one connection to Discord's gateway alive, one after the other
// and never two [IL-189]. It is our own loop over discordgo's wire types:
// discordgo's own Open hangs for ever, its lock held, when the gateway asks for
// a reconnect before READY or says nothing at all; it tries a refused token
// without end, needs five heartbeats to notice a dead peer and then throws the
// session away, never resumes where it is told to, and runs handlers beside each
// other. Here each step has a deadline and each end a reason.
type gateway struct {
	api     *api
	token   channels.Secret
	intents discordgo.Intent
	pace    pace
	log     *slog.Logger
	now     func() time.Time
	vitals  *vitals
	line    *atomic.Pointer[link] // the connection while it is ready; nil: nobody asks
	// handle takes an event and must return soon; it blocks only when the daemon
	// cannot keep up, and then the gateway's replay is the queue.
	handle func(ev discordgo.Event)

	session    session   // what can be resumed
	failed     int       // resumes in a row that came to nothing
	identified time.Time // the last IDENTIFY
	wasReady   bool
}

// session is what a later connection needs to go on where this one ended.
type session struct {
	id  string
	url string // where to resume
	seq int64  // last event that was handed over
}

// maxFailedResumes is after how many a session is given up [IL-232].
const maxFailedResumes = 3

// run keeps the connection until ctx ends, whose error it gives, or until
// Discord refuses the bot for good: a *Fatal.
func (g *gateway) run(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		g.vitals.trying(attempt)
		resuming := g.session.id != ""
		began := g.now()
		end := g.connect(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if end.mend != "" {
			g.vitals.failed(end.why, end.mend)
			fatal := &Fatal{Code: end.code, Why: end.why, Mend: end.mend}
			g.log.Error("discord refuses the bot", "code", end.code, "why", end.why, "mend", end.mend)
			return fatal
		}
		switch {
		case end.ready:
			g.failed = 0
		case resuming:
			g.failed++
		}
		if end.fresh || g.failed >= maxFailedResumes {
			g.session, g.failed = session{}, 0
		}
		if end.ready && g.now().Sub(began) >= g.pace.steady {
			attempt = 0
		}
		wait := max(end.wait, g.backoff(attempt, end))
		g.vitals.lost(end.why)
		g.log.Info("discord connection ended", "why", end.why, "code", end.code, "resume", g.session.id != "", "wait", wait)
		if err := channels.Sleep(ctx, wait); err != nil {
			return ctx.Err()
		}
	}
}

// backoff is the wait before the next connection: none when Discord asked a
// steady one to come again, else doubling, with a fifth of jitter.
func (g *gateway) backoff(attempt int, end ending) time.Duration {
	if end.asked && attempt <= 1 {
		return 0
	}
	d := min(g.pace.again<<min(max(attempt-1, 0), 16), g.pace.mostAgain)
	return d*4/5 + rand.N(d*2/5+1)
}

// ending is how a connection ended.
type ending struct {
	closing
	code  int
	ready bool          // it had been ready
	asked bool          // Discord asked for the reconnect [op 7]
	wait  time.Duration // at least, before the next
}

// broke is an ending that leaves the session alive.
func broke(why string, err error) ending {
	if err != nil {
		why += ": " + err.Error()
	}
	return ending{closing: closing{why: why}}
}

// The reasons for which we end a connection ourselves.
var (
	errNoReady = errors.New("discord did not get ready in time")
	errSilent  = errors.New("a heartbeat was not answered")
	errStale   = errors.New("no event for too long")
	errEnded   = errors.New("the connection ended")
)

// connect makes a connection and stays until it ends.
func (g *gateway) connect(ctx context.Context) ending {
	deadline := g.pace.firstReady
	if g.wasReady {
		deadline = g.pace.laterReady
	}
	address, end, ok := g.address(ctx)
	if !ok {
		return end
	}
	life := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(errEnded)
	// From here on everything has the deadline until READY or RESUMED.
	setup := time.AfterFunc(deadline, func() { cancel(errNoReady) })
	defer setup.Stop()
	l, err := g.dial(life, ctx, address)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return broke("no connection", errors.New(g.api.clean(err)))
	}
	defer func() { // nothing of it is left when the next one is made: no socket, no heartbeat
		if g.line != nil {
			g.line.Store(nil)
		}
		cancel(errEnded)
		l.close(closeToCome)
		l.pulsing.Wait()
	}()
	return g.converse(ctx, cancel, setup, l)
}

// address gives where to connect: for a session that is alive the place it can
// be resumed at, else what the API says, once Discord allows a new session.
func (g *gateway) address(ctx context.Context) (string, ending, bool) {
	address := g.session.url
	if g.session.id == "" || address == "" {
		var bot discordgo.GatewayBotResponse
		if err := g.api.do(ctx, call{method: http.MethodGet, path: "gateway/bot"}, &bot); err != nil {
			if statusOf(err) == http.StatusUnauthorized {
				return "", ending{closing: closings[4004], code: http.StatusUnauthorized}, false
			}
			end := broke("the API does not say where the gateway is", err)
			var ce *callError
			if errors.As(err, &ce) {
				end.wait = ce.RetryAfter
			}
			return "", end, false
		}
		address = bot.URL
		if limit := bot.SessionStartLimit; g.session.id == "" && limit.Total > 0 && limit.Remaining <= 0 {
			end := broke("Discord allows no further new session for now", nil)
			end.wait = time.Duration(limit.ResetAfter) * time.Millisecond
			return "", end, false
		}
	}
	if err := channels.CheckURL(address, "https", "wss"); err != nil {
		g.session = session{}
		return "", broke("the gateway's address", err), false
	}
	if g.session.id == "" {
		// Discord counts IDENTIFYs and wants five seconds between two.
		if err := channels.Sleep(ctx, max(g.identified.Add(g.pace.identify).Sub(g.now()), 0)); err != nil {
			return "", broke("ended", err), false
		}
	}
	return address, ending{}, true
}

// packet is an event of any opcode, with the sequence that only dispatches have.
type packet struct {
	Op   int             `json:"op"`
	Seq  *int64          `json:"s"`
	Type string          `json:"t"`
	Data json.RawMessage `json:"d"`
}

// Opcodes of the gateway.
const (
	opDispatch  = 0
	opHeartbeat = 1
	opIdentify  = 2
	opPresence  = 3
	opResume    = 6
	opReconnect = 7
	opInvalid   = 9
	opHello     = 10
	opAck       = 11
)

// converse reads until the connection ends.
func (g *gateway) converse(ctx context.Context, cancel context.CancelCauseFunc, setup *time.Timer, l *link) ending {
	ready := false
	finish := func(e ending) ending {
		e.ready = ready
		return e
	}
	for {
		p, err := l.read()
		if err != nil {
			return finish(g.brokenOff(ctx, err))
		}
		switch p.Op {
		case opHello:
			if err := g.hello(ctx, cancel, l, p); err != nil {
				return finish(broke("greeting", err))
			}
		case opAck:
			l.acked.Store(true)
		case opHeartbeat:
			if err := l.beat(l.seq.Load()); err != nil {
				return finish(broke("heartbeat", err))
			}
		case opReconnect:
			e := broke("Discord asks for a new connection", nil)
			e.asked = ready
			return finish(e)
		case opInvalid:
			var resumable bool
			_ = json.Unmarshal(p.Data, &resumable)
			e := broke("Discord does not know the session", nil)
			e.fresh, e.wait = !resumable, g.pace.invalid
			if !resumable {
				e.wait = g.pace.invalid/2 + rand.N(g.pace.invalid+1)
			}
			ready = false // the session is as good as never resumed
			return finish(e)
		case opDispatch:
			l.touched.Store(g.now().UnixNano())
			if g.dispatch(ctx, p) {
				ready, g.wasReady = true, true
				setup.Stop()
				g.vitals.ready()
				l.up.Store(true)
				if g.line != nil {
					g.line.Store(l)
				}
			}
		}
	}
}

// brokenOff says why reading failed: our own reason, a close code, or the line.
func (g *gateway) brokenOff(ctx context.Context, err error) ending {
	if cause := context.Cause(ctx); cause != nil {
		return broke(cause.Error(), nil)
	}
	if code, closed := closeCode(err); closed {
		return ending{closing: closeReason(code), code: code}
	}
	return broke("connection lost", errors.New(g.api.clean(err)))
}

// hello answers the gateway's greeting: the heartbeat begins, and the session is
// resumed or made.
func (g *gateway) hello(ctx context.Context, cancel context.CancelCauseFunc, l *link, p packet) error {
	var hello struct {
		Interval int64 `json:"heartbeat_interval"` // ms
	}
	if err := json.Unmarshal(p.Data, &hello); err != nil || hello.Interval <= 0 {
		return errors.New("a greeting without an interval")
	}
	if !l.begin() {
		return nil // a second greeting changes nothing: one heartbeat per connection [IL-241]
	}
	go g.pulse(ctx, cancel, l, time.Duration(hello.Interval)*time.Millisecond)
	token := bareToken(g.token)
	if g.session.id != "" {
		return l.send(map[string]any{"op": opResume, "d": map[string]any{
			"token": token, "session_id": g.session.id, "seq": g.session.seq,
		}})
	}
	g.identified = g.now()
	return l.send(map[string]any{"op": opIdentify, "d": discordgo.Identify{
		Token: token, Intents: g.intents, LargeThreshold: 50,
		Properties: discordgo.IdentifyProperties{OS: "linux", Browser: "standin", Device: "standin"},
		Presence:   discordgo.GatewayStatusUpdate{Status: "online"},
	}})
}

// pulse sends heartbeats, the first after a part of the interval, and ends the
// connection when one was not answered by the next, or when nothing else has
// come for too long [G25].
func (g *gateway) pulse(ctx context.Context, cancel context.CancelCauseFunc, l *link, interval time.Duration) {
	defer l.pulsing.Done()
	wait := rand.N(interval) + 1
	l.acked.Store(true)
	for channels.Sleep(ctx, wait) == nil {
		wait = interval
		switch {
		case !l.acked.Load():
			cancel(errSilent)
			return
		case g.pace.stale > 0 && l.up.Load() && g.now().Sub(time.Unix(0, l.touched.Load())) > g.pace.stale:
			g.vitals.stale(errStale.Error())
			cancel(errStale)
			return
		}
		l.acked.Store(false)
		if err := l.beat(l.seq.Load()); err != nil {
			cancel(fmt.Errorf("heartbeat: %w", err))
			return
		}
	}
}

// dispatch takes an event and reports whether it makes the connection ready. An
// event that cannot be read, or whose handler panics, is logged and passed over:
// one bad event must not cost the connection [IL-169].
func (g *gateway) dispatch(ctx context.Context, p packet) (ready bool) {
	defer func() {
		if r := recover(); r != nil {
			g.log.Error("an event's handler panicked", "event", p.Type, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
		}
		if p.Seq != nil && ctx.Err() == nil {
			g.session.seq = *p.Seq
		}
	}()
	switch p.Type {
	case "READY":
		var r struct {
			SessionID string `json:"session_id"`
			ResumeURL string `json:"resume_gateway_url"`
		}
		if err := json.Unmarshal(p.Data, &r); err != nil || r.SessionID == "" {
			g.log.Error("READY cannot be read", "err", err)
			return false
		}
		g.session = session{id: r.SessionID, url: r.ResumeURL}
		ready = true
	case "RESUMED":
		ready = true
	}
	g.vitals.event()
	ev := discordgo.Event{Operation: p.Op, Type: p.Type, RawData: p.Data}
	if p.Seq != nil {
		ev.Sequence = *p.Seq
	}
	g.handle(ev)
	return ready
}

// intentsOf are the events that are asked for [D1].
func intentsOf(c Config) discordgo.Intent {
	i := discordgo.IntentGuilds | discordgo.IntentGuildMessages | discordgo.IntentDirectMessages |
		discordgo.IntentGuildMessageReactions | discordgo.IntentDirectMessageReactions
	for _, opt := range []struct {
		on     bool
		intent discordgo.Intent
	}{
		{c.Intents.MessageContent, discordgo.IntentMessageContent},
		{c.Intents.Members, discordgo.IntentGuildMembers},
		{c.Intents.Presences, discordgo.IntentGuildPresences},
		{c.Intents.VoiceStates, discordgo.IntentGuildVoiceStates},
	} {
		if opt.on {
			i |= opt.intent
		}
	}
	return i
}
