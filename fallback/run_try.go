package fallback

import (
	"context"
	"fmt"
	"slices"
	"time"

	"standin/fallback/provider"
)

// Trial is one small call with one credential, made because an operator wants
// to know whether it works. It belongs to no session and writes none's
// selection [I6].
type Trial struct {
	Run     string // id for the record
	Agent   AgentID
	Profile ProfileID
	Model   Model // zero: the first configured one that the credential serves
	Config  *Config
}

// Proof is what came of a trial. The call counts like any other: an answer ends
// the credential's windows, a refusal opens one (7.15) [M20], since both are what
// the next turn would have found. That it is switched off stays true.
type Proof struct {
	Attempt Attempt
	Class   Class // of a failure
	Changes []WindowChange
}

// TrialText is all that a trial says; TrialLimit is how long it may take.
const (
	TrialText  = "Reply with the single word: ok"
	TrialLimit = 30 * time.Second
)

// Trial finds the model that a trial would ask and the credential it would use,
// without asking anybody: what a person is told before they agree to it.
func (r *Runner) Trial(ctx context.Context, t Trial) (Model, Profile, error) {
	all, err := r.Credentials.Profiles(ctx, t.Agent, t.Profile.Provider())
	if err != nil {
		return Model{}, Profile{}, fmt.Errorf("read the credentials of %s: %w", t.Profile.Provider(), err)
	}
	at := slices.IndexFunc(all, func(p Profile) bool { return p.ID == t.Profile })
	if at < 0 {
		return Model{}, Profile{}, fmt.Errorf("there is no credential %s; standin auth list shows those that there are", provider.Redact(string(t.Profile)))
	}
	m := t.Model
	if m.IsZero() {
		serves := func(m Model) bool { return t.Profile.serves(m.Provider) }
		models := t.Config.Models()
		first := slices.IndexFunc(models, serves)
		if first < 0 {
			return Model{}, Profile{}, fmt.Errorf("the config has no model of %s, so there is nothing to ask with %s: name one with --model", t.Profile.Provider(), t.Profile)
		}
		m = models[first]
	}
	switch {
	case !t.Profile.serves(m.Provider):
		return Model{}, Profile{}, fmt.Errorf("%s is no credential for %s: name a model of %s", t.Profile, m, t.Profile.Provider())
	case t.Config.Providers[m.Provider].BaseURL == "":
		return Model{}, Profile{}, fmt.Errorf("where %s is reached is not configured: models.providers.%s.baseUrl says so", m.Provider, m.Provider)
	}
	return m, all[at], nil
}

// Try makes the call. The error says why none could be made; a call that failed
// is a Proof.
func (r *Runner) Try(ctx context.Context, t Trial) (Proof, error) {
	m, p, err := r.Trial(ctx, t)
	if err != nil {
		return Proof{}, err
	}
	before, err := r.Credentials.Usage(ctx, t.Agent, m.Provider)
	if err != nil {
		return Proof{}, fmt.Errorf("read the windows of %s: %w", m.Provider, err)
	}
	w := &walk{Runner: r, chain: []Model{m}, probed: map[string]bool{}, deadline: r.Now().Add(TrialLimit),
		ask: Ask{Run: t.Run, Agent: t.Agent, Kind: ProbeRun, Config: t.Config, Messages: []provider.Message{{Role: provider.User, Text: TrialText}}}}
	c := candidate{model: m, position: 1, endpoint: t.Config.Providers[m.Provider], order: []Profile{p}, usage: before}
	reply, class, err := w.call(ctx, c, Verdict{Do: Try}, p)
	switch {
	case ctx.Err() != nil:
		return Proof{}, context.Cause(ctx)
	case err == nil:
		return Proof{Attempt: reply.attempt}, nil
	case len(w.attempts) == 0: // it did not come to a call
		return Proof{}, err
	}
	proof := Proof{Attempt: w.attempts[len(w.attempts)-1], Class: class}
	after, err := r.Credentials.Usage(ctx, t.Agent, m.Provider)
	if err == nil {
		proof.Changes = Changes(p.ID, before[p.ID], after[p.ID], r.Now())
	}
	return proof, err
}
