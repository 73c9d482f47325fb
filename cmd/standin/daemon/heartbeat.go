package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"standin/channels"
	"standin/fallback"
	"standin/heartbeat"
)

// newBeats wires what has agents look after things by themselves.
func (a *App) newBeats() *heartbeat.Runner {
	return &heartbeat.Runner{
		Settings: func() *heartbeat.Settings { return a.current.Load().Heartbeats },
		Bot:      a.Bot,
		Engine:   a.runner,
		Rows:     a.DB,
		ReadFile: os.ReadFile,
		Known:    a.hasAccount,
		Model: func(to channels.Address) fallback.Model {
			return a.current.Load().Bot.Rules.Model(to, "")
		},
		JobRuns: a.jobRuns,
		Log:     a.parts.Log,
		Now:     a.parts.Now,
		Sleep:   a.parts.Sleep,
	}
}

// ClearStale applies the clearing rule of heartbeats to a session, for a wiring
// that runs their turns itself [M7, H21].
func (a *App) ClearStale(ctx context.Context, ask fallback.Ask) (fallback.Model, error) {
	return a.runner.ClearStale(ctx, ask)
}

// jobRuns tells whether a job runs just now [H12].
func (a *App) jobRuns() bool {
	if a.jobs == nil {
		return false
	}
	health, err := a.jobs.Status(context.Background())
	return err == nil && health.Running > 0
}

// startBeats lets the schedule run. Its clock stops before the bot does; what
// runs then is waited for after it, since the bot's drain ends it.
func (a *App) startBeats(ctx context.Context) (stopClock func(context.Context) error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := a.beats.Run(ctx); err != nil {
			a.parts.Log.Error("heartbeats do not run", "err", err)
		}
	}()
	a.onStop("heartbeats", func(ctx context.Context) error {
		select {
		case <-ended:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	return func(context.Context) error { stop(); return nil }
}

// hasAccount tells whether there is such a channel and account.
func (a *App) hasAccount(to channels.Address) bool {
	for _, c := range a.parts.Channels {
		if c.Name() == to.Channel {
			return true
		}
	}
	for _, one := range a.current.Load().Accounts {
		if one.Channel == to.Channel && one.Account == to.Account && !one.Off {
			return true
		}
	}
	return false
}

// beatWaker is what jobs know of heartbeats [R26].
type beatWaker struct{ *heartbeat.Runner }

// Wake implements cronjobs.Waker.
func (w beatWaker) Wake(ctx context.Context, a fallback.AgentID, _ string) (busy bool, skipped string, err error) {
	rep := w.Beat(ctx, a, heartbeat.Cron)
	switch {
	case rep.Status == heartbeat.Failed:
		return false, "", errors.New(rep.Detail)
	case rep.Status == heartbeat.Ran, rep.Why == heartbeat.WhyTaken: // another turn has told it
		return false, "", nil
	case rep.Why == heartbeat.WhyBusy, rep.Why == heartbeat.WhyLanes, rep.Why == heartbeat.WhyFlood:
		return true, "", nil
	}
	return false, rep.Why.Says(), nil
}

// Request implements cronjobs.Waker.
func (w beatWaker) Request(a fallback.AgentID, _ string) { w.Runner.Wake(a, heartbeat.Cron) }

// BeatReport is what came of a beat, as the command line reads it.
type BeatReport struct {
	Agent   string           `json:"agent"`
	Status  heartbeat.Status `json:"status"`
	Why     heartbeat.Why    `json:"why"`
	InWords string           `json:"inWords"`
	Detail  string           `json:"detail,omitempty"`
	Model   string           `json:"model,omitempty"`
	Text    string           `json:"text,omitempty"`
	Posted  bool             `json:"posted"`
	Took    string           `json:"took,omitempty"`
	Next    *time.Time       `json:"next,omitempty"`
}

// BeatAsk is what the command line asks of a running daemon.
type BeatAsk struct {
	Agent fallback.AgentID `json:"agent"`
	Trial bool             `json:"trial,omitempty"` // only show the answer
}

// beatRoutes are what the socket in the state folder answers about heartbeats.
func beatRoutes(mux *http.ServeMux, beats *heartbeat.Runner) {
	if beats == nil {
		return
	}
	answer := func(w http.ResponseWriter, status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	read := func(w http.ResponseWriter, r *http.Request) (ask BeatAsk, ok bool) {
		if err := json.NewDecoder(io.LimitReader(r.Body, 4<<10)).Decode(&ask); err != nil || ask.Agent == "" {
			answer(w, http.StatusBadRequest, map[string]string{"error": "the request names no agent"})
			return ask, false
		}
		return ask, true
	}
	mux.HandleFunc("POST /heartbeat/run", func(w http.ResponseWriter, r *http.Request) {
		if ask, ok := read(w, r); ok {
			why := heartbeat.Manual
			if ask.Trial {
				why = heartbeat.Trial
			}
			answer(w, http.StatusOK, beatReportOf(beats.Beat(r.Context(), ask.Agent, why), beats.Due(ask.Agent)))
		}
	})
	mux.HandleFunc("POST /heartbeat/wake", func(w http.ResponseWriter, r *http.Request) {
		if ask, ok := read(w, r); ok {
			beats.Wake(ask.Agent, heartbeat.Event)
			answer(w, http.StatusOK, BeatReport{Agent: string(ask.Agent)})
		}
	})
}

func beatReportOf(rep heartbeat.Report, due time.Time) BeatReport {
	out := BeatReport{Agent: string(rep.Agent), Status: rep.Status, Why: rep.Why, InWords: rep.Why.Says(), Detail: rep.Detail,
		Model: rep.Model.String(), Text: rep.Text, Posted: rep.Posted != ""}
	if rep.Took > 0 {
		out.Took = rep.Took.Round(time.Millisecond).String()
	}
	if !due.IsZero() {
		out.Next = &due
	}
	return out
}

// RunBeat has the daemon that runs on the state folder dir run a beat of the
// agent, and waits for it; a trial only shows what the model says. The error says
// that none answers.
func RunBeat(ctx context.Context, dir string, a fallback.AgentID, trial bool) (rep BeatReport, err error) {
	err = askBeats(ctx, dir, "run", BeatAsk{a, trial}, &rep)
	return rep, err
}

// WakeBeat has that daemon's agent told soon of what happened.
func WakeBeat(ctx context.Context, dir string, a fallback.AgentID) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return askBeats(ctx, dir, "wake", BeatAsk{Agent: a}, &BeatReport{})
}

func askBeats(ctx context.Context, dir, what string, ask BeatAsk, into any) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, SocketFile))
	}}}
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://standin/heartbeat/"+what, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		return unheard(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("it says %s", answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}
