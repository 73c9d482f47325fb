package cronjobs

import (
	"context"
	"fmt"
	"time"

	"standin/fallback"
)

// Outlook is what a job would do next, and why [C3].
type Outlook struct {
	Job      Job                `json:"job"`
	Schedule string             `json:"schedule"` // in words
	Next     []time.Time        `json:"next"`
	Stagger  time.Duration      `json:"staggerNs"` // the job's own place in the window
	Model    fallback.Plan      `json:"-"`
	Chain    []OutlookModel     `json:"chain"`
	Why      string             `json:"why"` // of the chain
	Refused  string             `json:"refused,omitempty"`
	Session  fallback.SessionID `json:"sessionKey"`
	Delivery string             `json:"delivery"`
}

// OutlookModel is one candidate.
type OutlookModel struct {
	Model string `json:"model"`
	Why   string `json:"why"`
}

// Look gives a job's outlook: the next n times and the chain of models.
func (b *Book) Look(ctx context.Context, j Job, n int) (o Outlook, err error) {
	now, home := b.Now(), b.Config.Home
	o.Job, o.Schedule = j, j.Schedule.Describe(home)
	t, err := j.ready(home)
	if err != nil {
		return o, err
	}
	o.Stagger = t.delay
	o.Next = b.times(j, t, now, n)
	o.Delivery = b.delivers(j)
	agent := j.Agent
	if agent == "" {
		agent = b.Rules.Fallback.DefaultAgent
	}
	o.Session, _ = j.session(agent)
	if j.Payload.Kind != AgentTurn {
		o.Why = "the text goes to the agent's main session; its next turn there answers with that session's model"
		return o, nil
	}
	if b.Rules.AnyModel {
		if j.Payload.Model != "" {
			o.Chain = []OutlookModel{{j.Payload.Model, "the job's own model (payload.model), which was not checked"}}
		}
		o.Why = "no config file was found, so which models are asked is not known here; name it with --config"
		return o, nil
	}
	models := b.Rules.Fallback
	a, err := j.brings(models)
	if err != nil {
		o.Refused = err.Error()
		return o, nil
	}
	stored, err := b.Store.Selection(ctx, o.Session)
	if err != nil {
		return o, err
	}
	ask := a.ask(j, agent, models)
	o.Model = fallback.Resolve(ask, stored, false)
	for i, m := range fallback.Chain(models, o.Model) {
		o.Chain = append(o.Chain, OutlookModel{m.String(), whyCandidate(i, m, j, agent, models, o.Model)})
	}
	o.Why = whyChain(j, agent, models, o.Model)
	return o, nil
}

// times are the job's next fires, the planned one in front even where a retry or
// a catch-up moved it.
func (b *Book) times(j Job, t times, now time.Time, n int) (all []time.Time) {
	if !j.Enabled {
		return nil
	}
	from := now
	if next := j.State.Next.Time(); !next.IsZero() && next.After(now) {
		all, from = append(all, next), next
		if t.kind == KindEvery && j.State.Trigger == "" {
			for len(all) < n {
				from = from.Add(t.every)
				all = append(all, from)
			}
		}
	}
	for len(all) < n {
		_, fire, err := t.next(from)
		if err != nil {
			break
		}
		all, from = append(all, fire), fire
	}
	return all
}

func whyCandidate(i int, m fallback.Model, j Job, agent fallback.AgentID, c *fallback.Config, p fallback.Plan) string {
	switch {
	case i == 0 && j.Payload.Model != "":
		return "the job's own model (payload.model)"
	case i == 0:
		switch p.Why {
		case fallback.FromUser, fallback.FromLegacy:
			return "chosen for the job's session"
		case fallback.FromAgent:
			return "the model of agent " + string(agent)
		}
		return "agents.defaults.model"
	case j.Payload.Fallbacks != nil:
		return "the job's own list (payload.fallbacks)"
	case !p.Explicit && m == c.Primary("", fallback.Model{}):
		return "the configured primary, last"
	case c.Agents[agent].Listed:
		return "the fallbacks of agent " + string(agent)
	}
	return "agents.defaults.model.fallbacks"
}

func whyChain(j Job, agent fallback.AgentID, c *fallback.Config, p fallback.Plan) string {
	choice := c.Agents[agent]
	switch {
	case j.Payload.Fallbacks != nil && len(*j.Payload.Fallbacks) == 0:
		return "strict: the job's fallbacks are an empty list, so no other model answers"
	case j.Payload.Fallbacks != nil:
		return "exactly the job's own list follows"
	case p.Strict && p.Why == fallback.FromUser:
		return "strict: the model was chosen for the session by hand"
	case p.Strict && !choice.Primary.IsZero() && !choice.Listed:
		return fmt.Sprintf("strict: agent %s has a model of its own without fallbacks (--fallbacks gives the job some)", agent)
	case p.Strict:
		return "strict: no fallbacks are configured (--fallbacks gives the job some)"
	case j.Payload.Model != "":
		return "the job names no fallbacks, so the configured ones follow its model"
	}
	return "the job names no model, so it goes by the configured chain"
}

// delivers says where an answer goes.
func (b *Book) delivers(j Job) string {
	p := j.way()
	s := ""
	switch {
	case p.Mode == None:
		s = "nowhere (the run log keeps it)"
	case p.Mode == Webhook:
		s = "posted to " + hostOf(p.To)
	case p.Channel == "" || p.Channel == Last:
		s = "posted where the agent was last spoken to"
	default:
		s = "posted to " + p.Channel + " " + p.To
		if p.Thread != "" {
			s += ", thread " + p.Thread
		}
	}
	if j.bestEffort() {
		s += ", if that can be done"
	}
	if to := j.completion(); to != "" {
		s += "; each end is told to " + hostOf(to)
	}
	return s
}
