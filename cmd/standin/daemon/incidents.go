package daemon

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"standin/bot/incidents"
	"standin/channels"
	"standin/fallback"
)

const (
	// lookEvery is how often it is looked at what is wrong. What cannot wait wakes
	// the watch: a refused credential, a chain without an answer, a spent budget.
	lookEvery = 30 * time.Second
	// handEvery is how often posts that did not go through are looked after.
	handEvery = 5 * time.Second
	// keepIncidents is how long one that is over can be read.
	keepIncidents = 90 * 24 * time.Hour
)

// incidentRows keeps incidents and what is to be said of them. *store.DB does.
type incidentRows interface {
	Incidents(ctx context.Context, since time.Time) ([]incidents.Incident, error)
	ChangeIncidents(ctx context.Context, changes []incidents.Change, posts func(incidents.Change) []incidents.Post) error
	IncidentPosts(ctx context.Context, now time.Time) ([]incidents.Post, error)
	PutIncidentPost(ctx context.Context, p incidents.Post) error
	DropIncidentPost(ctx context.Context, id string) error
	PruneIncidents(ctx context.Context, before time.Time) error
}

// incidentWatch looks at what is wrong, has it decided what the operators are to
// hear of it, and hands that over: to the outbox, or to a URL.
type incidentWatch struct {
	rows     incidentRows
	settings func() incidents.Settings
	signs    func(ctx context.Context, now time.Time) (signs []incidents.Sign, looked func(incidents.Kind) bool)
	post     func(ctx context.Context, posts ...channels.Outbound) error
	log      *slog.Logger
	now      func() time.Time
	sleep    func(ctx context.Context, d time.Duration) error

	wake, hand chan struct{}
	outages    outages
	pruned     time.Time // when old rows were forgotten last
}

// poke has a loop run without waiting for it.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it will
	}
}

// start begins with what a former process knew. A trouble that had not lasted
// long enough then has to begin anew: nobody watched it meanwhile.
func (w *incidentWatch) start(ctx context.Context) error {
	known, err := w.rows.Incidents(ctx, w.now())
	if err != nil {
		return err
	}
	var stale []incidents.Change
	for _, i := range known {
		switch {
		case i.Told.IsZero():
			stale = append(stale, incidents.Change{Incident: i, Drop: true})
		case i.Kind == incidents.Models && i.Open():
			w.outages.remember(fallback.AgentID(i.Subject), outage{since: i.Since})
		}
	}
	return w.rows.ChangeIncidents(ctx, stale, func(incidents.Change) []incidents.Post { return nil })
}

// look finds what is wrong now and writes what follows from it.
func (w *incidentWatch) look(ctx context.Context) error {
	now := w.now()
	settings := w.settings()
	known, err := w.rows.Incidents(ctx, now.Add(-incidents.Lately(max(settings.FallbackLongerThan, connectionHold))))
	if err != nil {
		return err
	}
	signs, looked := w.signs(ctx, now)
	changes := incidents.Decide(known, signs, looked, now)
	err = w.rows.ChangeIncidents(ctx, changes, func(c incidents.Change) []incidents.Post { return settings.Posts(c, now) })
	if err != nil {
		return err
	}
	for _, c := range changes {
		switch c.News {
		case incidents.Nothing:
		case incidents.Over:
			w.log.Info("incident over", "kind", c.Kind, "subject", c.Subject, "lasted", c.Closed.Sub(c.Since).Round(time.Second))
		default:
			w.log.Warn("incident", "news", c.News, "kind", c.Kind, "subject", c.Subject, "text", c.Text)
		}
	}
	poke(w.hand)
	if now.Sub(w.pruned) < 24*time.Hour {
		return nil
	}
	w.pruned = now
	return w.rows.PruneIncidents(ctx, now.Add(-keepIncidents))
}

// handOver gives what is due to the outbox, which takes it once however often it
// is given, or to a URL.
func (w *incidentWatch) handOver(ctx context.Context) error {
	due, err := w.rows.IncidentPosts(ctx, w.now())
	if err != nil {
		return err
	}
	settings, failing := w.settings(), map[string]bool{}
	for _, p := range due {
		if failing[p.Target] {
			continue // in order: the later ones wait
		}
		t, there := settings.Target(p.Target)
		switch {
		case !there:
			w.log.Warn("a notice for operators is not told: its place is not in operators.notify any more", "text", p.Event.Text)
		case t.URL == "":
			err = w.post(ctx, channels.Outbound{ID: p.ID, To: t.To, Kind: channels.Notice, Text: p.Event.Text})
		default:
			err = t.Call(ctx, p, settings.Hosts)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if failing[p.Target] = err != nil; err != nil {
			if err = w.later(ctx, p, t, err); err != nil {
				return err
			}
			continue
		}
		if err := w.rows.DropIncidentPost(ctx, p.ID); err != nil {
			return err
		}
	}
	return nil
}

// later puts a post off that did not go through, or gives it up.
func (w *incidentWatch) later(ctx context.Context, p incidents.Post, t incidents.Target, why error) error {
	now := w.now()
	p.Tries++
	wait, more := incidents.Backoff(p.Tries, now.Sub(p.Event.At))
	if errors.Is(why, incidents.ErrForGood) || !more {
		w.log.Error("a notice for operators could not be told", "to", t.String(), "text", p.Event.Text, "tries", p.Tries, "err", incidents.Line(why.Error()))
		return w.rows.DropIncidentPost(ctx, p.ID)
	}
	if p.Tries == 1 {
		w.log.Warn("a notice for operators is not through yet", "to", t.String(), "err", incidents.Line(why.Error()))
	}
	p.Next = now.Add(wait)
	return w.rows.PutIncidentPost(ctx, p)
}

// run looks and hands over until ctx ends. Two loops: a URL that does not answer
// keeps nobody from looking.
func (w *incidentWatch) run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { w.tick(ctx, lookEvery, w.wake) })
	all.Go(func() { w.tick(ctx, handEvery, w.hand) })
	all.Go(func() { w.loop(ctx, w.hand, "notices for operators are not handed over", w.handOver) })
	w.loop(ctx, w.wake, "it was not looked at what is wrong", w.look)
}

func (w *incidentWatch) tick(ctx context.Context, every time.Duration, c chan struct{}) {
	for w.sleep(ctx, every) == nil {
		poke(c)
	}
}

func (w *incidentWatch) loop(ctx context.Context, c chan struct{}, failed string, do func(context.Context) error) {
	was := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-c:
		}
		err := do(ctx)
		if ctx.Err() != nil {
			return
		}
		is := ""
		if err != nil {
			is = err.Error()
		}
		if is != "" && is != was { // the same again says nothing new
			w.log.Error(failed, "err", err)
		}
		was = is
	}
}

// newIncidents wires the watch.
func (a *App) newIncidents() *incidentWatch {
	return &incidentWatch{
		rows: a.DB, settings: func() incidents.Settings { return a.current.Load().Operators },
		signs: a.signs, post: a.Bot.Post, log: a.parts.Log, now: a.parts.Now, sleep: a.parts.Sleep,
		wake: make(chan struct{}, 1), hand: make(chan struct{}, 1),
	}
}

// startIncidents lets it run, once the bot takes posts.
func (a *App) startIncidents(ctx context.Context) error {
	if err := a.incidents.start(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	poke(a.incidents.wake)
	go func() { defer close(ended); a.incidents.run(ctx) }()
	a.onStop("incidents", func(context.Context) error { stop(); <-ended; return nil })
	return nil
}

// incidentJournal has the watch see each step.
type incidentJournal struct{ a *App }

// Record implements fallback.Journal. It does not wait.
func (j incidentJournal) Record(_ context.Context, s fallback.Step) {
	w := j.a.incidents
	if w == nil {
		return // the daemon is being put together
	}
	news := s.Window != nil && (s.Window.Window.Reason == fallback.AuthFailed || s.Window.Window.Reason == fallback.AuthPermanent || s.Window.Window.Reason == fallback.Billing)
	switch {
	case s.Attempt != nil && s.Attempt.OK:
		news = w.outages.answered(j.a.current.Load().Fallback, s.Agent, s.Attempt.Model)
	case s.Record != nil && s.Record.Exhausted():
		news = w.outages.failed(j.a.current.Load().Fallback, s)
	}
	if news {
		poke(w.wake)
	}
}
