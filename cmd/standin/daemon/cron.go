package daemon

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"standin/bot"
	"standin/channels/discord"
	"standin/channels/slack"
	"standin/cronjobs"
	"standin/fallback"
)

// newJobs wires what runs jobs.
func (a *App) newJobs() *cronjobs.Scheduler {
	return cronjobs.New(cronjobs.Options{
		Config:   func() *cronjobs.Config { return a.current.Load().Cron },
		Models:   func() *fallback.Config { return a.current.Load().Fallback },
		Store:    a.DB,
		Turns:    a.Bot,
		Waker:    a.waker(),
		Direct:   directChat,
		Channels: a.channelNames(),
		Log:      a.parts.Log,
		Now:      a.parts.Now,
		Sleep:    a.parts.Sleep,
	})
}

// channelNames are the channels that a job's answer may be posted to.
func (a *App) channelNames() []string {
	names := []string{slack.Name, discord.Name}
	for _, c := range a.parts.Channels {
		names = append(names, c.Name())
	}
	return names
}

// JobRules is what jobs are checked against, by the config of the moment.
func (a *App) JobRules() cronjobs.Rules {
	c := a.current.Load()
	return cronjobs.Rules{Fallback: c.Fallback, Home: c.Cron.Home, Channels: a.channelNames(), Hosts: c.Cron.WebhookHosts}
}

// JobBook adds and edits jobs, by the config of the moment.
func (a *App) JobBook() *cronjobs.Book {
	return &cronjobs.Book{Store: a.DB, Config: a.current.Load().Cron, Rules: a.JobRules(), Now: a.parts.Now}
}

// directChat is a person's direct chat as the channel wants it named: Discord
// has to open it first and does so by itself, Slack takes the person's id
// [IL-018].
func directChat(channel, user string) string {
	if channel == discord.Name {
		return "user:" + user
	}
	return user
}

// jobAsked is what the command line asks of a running daemon.
type jobAsked struct {
	ID  cronjobs.JobID `json:"id"`
	Due bool           `json:"due,omitempty"`
}

// JobAnswer is what it is told.
type JobAnswer struct {
	Result cronjobs.Asked `json:"result,omitempty"`
	Run    cronjobs.RunID `json:"runId,omitempty"`
	Error  string         `json:"error,omitempty"`
}

// jobRoutes are what the socket in the state folder answers about jobs.
func (g *gateway) jobRoutes(mux *http.ServeMux) {
	if g.jobs == nil {
		return
	}
	mux.HandleFunc("GET /cron", func(w http.ResponseWriter, r *http.Request) {
		health, err := g.jobs.Status(r.Context())
		if err != nil {
			answerJSON(w, http.StatusInternalServerError, JobAnswer{Error: err.Error()})
			return
		}
		answerJSON(w, http.StatusOK, health)
	})
	mux.HandleFunc("POST /cron/nudge", func(w http.ResponseWriter, _ *http.Request) {
		g.jobs.Nudge()
		answerJSON(w, http.StatusOK, JobAnswer{})
	})
	mux.HandleFunc("POST /cron/removed", func(w http.ResponseWriter, r *http.Request) {
		if ask, ok := readAsk(w, r); ok {
			g.jobs.Cancel(ask.ID)
			g.jobs.Nudge()
			answerJSON(w, http.StatusOK, JobAnswer{})
		}
	})
	mux.HandleFunc("POST /cron/run", func(w http.ResponseWriter, r *http.Request) {
		ask, ok := readAsk(w, r)
		if !ok {
			return
		}
		result, run, err := g.jobs.RunNow(r.Context(), ask.ID, ask.Due)
		switch {
		case errors.Is(err, cronjobs.ErrNoJob):
			answerJSON(w, http.StatusNotFound, JobAnswer{Error: err.Error()})
		case err != nil:
			answerJSON(w, http.StatusInternalServerError, JobAnswer{Error: err.Error()})
		default:
			answerJSON(w, http.StatusOK, JobAnswer{Result: result, Run: run})
		}
	})
}

func readAsk(w http.ResponseWriter, r *http.Request) (ask jobAsked, ok bool) {
	if err := json.NewDecoder(io.LimitReader(r.Body, 4<<10)).Decode(&ask); err != nil || ask.ID == "" {
		answerJSON(w, http.StatusBadRequest, JobAnswer{Error: "the request names no job"})
		return ask, false
	}
	return ask, true
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

var _ cronjobs.Turner = (*bot.Bot)(nil)

// waker is the agents' heartbeats.
func (a *App) waker() cronjobs.Waker { return beatWaker{a.beats} }
