package daemon

import (
	"context"
	"net/http"
	"sync"
	"time"

	"standin/bot"
	"standin/bot/incidents"
	"standin/bot/operator"
	"standin/bot/operator/page"
	"standin/channels"
	"standin/fallback"
	"standin/store"
)

// newDesk wires what the operator sees and works on. It is made before the bot,
// which it watches; the rest is put in by New.
func (a *App) newDesk() *operator.Server {
	// Its files are packed when somebody first looks: a start does not wait for it.
	files := sync.OnceValue(page.Handler)
	return operator.New(operator.Options{
		Settings:  a.parts.Config.Operator,
		Config:    func() *bot.Config { return a.current.Load().Bot },
		Rows:      deskRows{a.DB},
		Keyring:   keyring{liveCredentials{a}},
		Prober:    a.runner,
		Daemon:    deskDaemon{a},
		Costs:     deskCosts{a},
		Incidents: a.openIncidents,
		Page:      http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { files().ServeHTTP(w, r) }),
		Log:       a.parts.Log,
		Now:       a.parts.Now,
	})
}

// staffDesk gives the desk what is made after it.
func (a *App) staffDesk() {
	a.desk.Bot = a.Bot
	a.desk.Schedule = deskJobs{a}
	a.desk.Beats = deskBeats{a}
}

// Foresee gives the operator's desk what plays and explains: it is made by the
// wiring above, which knows where the config file is. Before Listen.
func (a *App) Foresee(o operator.Oracle) {
	if a.desk != nil {
		a.desk.Oracle = o
	}
}

// serveDesk puts the desk behind the port, and behind the socket that only this
// user can reach.
func (a *App) serveDesk(g *gateway) {
	if a.desk != nil {
		g.operator, g.desk = a.desk.Handler(), a.desk.Local()
	}
}

// sent has the desk count what became of a post.
func (a *App) sent(out channels.Outbound, err error) {
	if a.desk != nil {
		a.desk.Sent(out, err)
	}
}

// deskJournal has the desk see each step.
type deskJournal struct{ a *App }

// Record implements fallback.Journal.
func (j deskJournal) Record(ctx context.Context, s fallback.Step) { j.a.desk.Record(ctx, s) }

// watchedStore is the store with a desk that sees messages come and end.
type watchedStore struct {
	*store.DB
	desk *operator.Server

	mu    sync.Mutex
	since map[int64]time.Time // by inbox row: when a message came that waits
}

var _ bot.Store = (*watchedStore)(nil)

// mostWaiting bounds the messages that are remembered until their ending.
const mostWaiting = 10_000

// Accept implements bot.Store.
func (w *watchedStore) Accept(ctx context.Context, in channels.Inbound, s fallback.SessionID, a fallback.AgentID, at time.Time) (bot.Accepted, bool, error) {
	row, fresh, err := w.DB.Accept(ctx, in, s, a, at)
	if err == nil && fresh {
		w.mu.Lock()
		if len(w.since) < mostWaiting {
			w.since[row.ID] = at
		}
		w.mu.Unlock()
	}
	return row, fresh, err
}

// End implements bot.Store.
func (w *watchedStore) End(ctx context.Context, e bot.Ending) ([]bot.Delivery, error) {
	posted, err := w.DB.End(ctx, e)
	if err != nil {
		return posted, err
	}
	w.mu.Lock()
	came := w.since[e.Accepted]
	delete(w.since, e.Accepted)
	for _, id := range append(e.With, e.Drops...) {
		delete(w.since, id)
	}
	w.mu.Unlock()
	w.desk.Ended(e, came, posted)
	return posted, nil
}

// deskDaemon is the process as it knows itself.
type deskDaemon struct{ a *App }

// Readiness implements operator.Daemon.
func (d deskDaemon) Readiness() operator.Readiness {
	switch {
	case d.a.draining.Load():
		return operator.Leaving
	case !d.a.isUp():
		return operator.Starting
	}
	return operator.Ready
}

// Degraded implements operator.Daemon.
func (d deskDaemon) Degraded() string {
	if d.a.olderWait() {
		return "older files of credentials wait to be taken over: standin doctor says which, and standin doctor --fix does it"
	}
	return ""
}

// Channels implements operator.Daemon.
func (d deskDaemon) Channels() []operator.Channel {
	list := []operator.Channel{}
	for _, s := range d.a.fleet.standings() {
		c := operator.Channel{Channel: s.Channel, Account: s.Account, State: string(s.State), Since: s.Since, LastEvent: s.LastEvent, Attempt: s.Attempt, Reason: s.Reason, Mend: s.Mend}
		if c.Account == "" {
			c.Account = "default"
		}
		list = append(list, c)
	}
	return list
}

// Servers implements operator.Daemon.
func (d deskDaemon) Servers() []operator.ToolServer {
	list := []operator.ToolServer{}
	if d.a.hub == nil {
		return list
	}
	for _, s := range d.a.hub.Status() {
		list = append(list, operator.ToolServer{Name: s.Name, State: string(s.State), Since: s.Since, Tools: s.Tools, Error: s.Error, Next: s.Next})
	}
	return list
}

// openIncidents is what is wrong, as the operator reads it.
func (a *App) openIncidents(ctx context.Context, limit int) ([]operator.Incident, error) {
	list, err := a.DB.IncidentsBack(ctx, true, limit)
	return each(list, func(i incidents.Incident) operator.Incident {
		return operator.Incident{Kind: string(i.Kind), Subject: i.Subject, Title: i.Title, Text: i.Text, Since: i.Since, Times: i.Times}
	}), err
}
