package cronjobs

import (
	"context"
	"fmt"
	"strings"

	"standin/channels"
	"standin/fallback"
)

// asked is what a run brings of its own to the choice of models.
type asked struct {
	own       fallback.Model // payload.model; zero: the session's or the agent's
	fallbacks []fallback.Model
	listed    bool           // fallbacks is exact, even if empty
	model     fallback.Model // who is asked first, for the record
}

// asks decides which model a run asks first, and what the job itself says of
// what follows [R32–R36]. A model that people may not choose is refused: no
// other takes its place [R34].
func (s *Scheduler) asks(ctx context.Context, j Job, r Run, models *fallback.Config) (a asked, err error) {
	if a, err = j.brings(models); err != nil {
		return a, err
	}
	if a.model = a.own; a.model.IsZero() {
		stored, err := s.Store.Selection(ctx, fallback.SessionID(r.Session))
		if err != nil {
			return a, fmt.Errorf("read the model of the job's session: %w", err)
		}
		a.model = fallback.Resolve(a.ask(j, r.Agent, models), stored, false).Requested
	}
	return a, nil
}

// ask is the engine's ask as far as it decides on models.
func (a asked) ask(j Job, agent fallback.AgentID, models *fallback.Config) fallback.Ask {
	session, _ := j.session(agent)
	return fallback.Ask{Session: session, Agent: agent, Kind: fallback.Cron, Config: models, Model: a.own, Fallbacks: a.fallbacks, Listed: a.listed}
}

// brings reads what the payload names.
func (j *Job) brings(models *fallback.Config) (a asked, err error) {
	p := j.Payload
	if p.Model != "" {
		if a.own, err = (Rules{Fallback: models}).model(p.Model); err != nil {
			return a, fmt.Errorf("payload.model: %w", err)
		}
	}
	if p.Fallbacks == nil {
		return a, nil
	}
	a.listed = true
	for i, ref := range *p.Fallbacks {
		m, _, err := models.ResolveRef(ref)
		if err != nil {
			return a, fmt.Errorf("payload.fallbacks[%d]: %w", i, err)
		}
		a.fallbacks = append(a.fallbacks, m)
	}
	return a, nil
}

// session is where the job's turns belong, and whether each begins afresh
// [R27, R28].
func (j *Job) session(agent fallback.AgentID) (_ fallback.SessionID, fresh bool) {
	prefix := "agent:" + string(agent) + ":"
	switch j.Target {
	case Main:
		return fallback.SessionID(prefix + "main"), false
	case Isolated, Current:
		return fallback.SessionID(prefix + "cron:" + string(j.ID)), true
	}
	key := string(j.Target[len("session:"):])
	if len(key) > 6 && key[:6] == "agent:" {
		return fallback.SessionID(key), false
	}
	return fallback.SessionID(prefix + key), false
}

// madeIn is the kind of chat that the job was made in, "" for none: its session's
// key says so.
func (j *Job) madeIn() channels.ChatType {
	parts := strings.SplitN(j.SessionKey, ":", 5) // agent:<id>:<channel>:<kind>:<conversation>
	if len(parts) < 5 {
		return ""
	}
	switch kind := channels.ChatType(parts[3]); kind {
	case channels.Room, channels.Group:
		return kind
	}
	return ""
}

// refuses says of each candidate whether a run may use it: a server of the house
// that does not answer is passed over [R39, R40].
func (s *Scheduler) refuses(ctx context.Context, models *fallback.Config) func(fallback.Model) *fallback.Verdict {
	return func(m fallback.Model) *fallback.Verdict {
		if url := localURL(models.Providers[m.Provider]); url != "" {
			if err := s.local.look(ctx, url, s.Probe, s.Now()); err != nil {
				return &fallback.Verdict{Do: fallback.Skip, Why: skipLocalDown, Reason: fallback.Timeout,
					Detail: fmt.Sprintf("%s at %s does not answer: %v", m.Provider, url, err)}
			}
		}
		return nil
	}
}
