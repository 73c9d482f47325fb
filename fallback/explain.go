package fallback

import "time"

// Explanation is what a run would do now, decided by the same functions that
// decide it in earnest and without asking anybody.
type Explanation struct {
	Plan       Plan
	Candidates []Candidacy
}

// Candidacy is one place of the chain.
type Candidacy struct {
	Model    Model
	Verdict  Verdict
	Profiles []ProfileStanding // in the order in which they would be tried
}

// ProfileStanding is one credential as the candidate would find it.
type ProfileStanding struct {
	Profile
	Pinned bool
	// Window keeps it from being used for this model; zero: usable.
	Window Window
	// Tried says that it would be used, first or after the ones before it fail.
	Tried bool
}

// Explain decides a run without running it: the plan, and for each candidate
// whether it would be tried, with which credentials, or why not. Later
// candidates are judged as if the ones before had failed, leaving no trace but
// the one transient probe that a provider gets in a run (11.7).
// credentials gives a provider's profiles and windows.
func Explain(ask Ask, stored Selection, probeDue bool, credentials func(provider string) ([]Profile, map[ProfileID]Usage), now time.Time) Explanation {
	plan := Resolve(ask, stored, probeDue)
	e := Explanation{Plan: plan}
	chain := Chain(ask.Config, plan)
	probed := map[string]bool{}
	for i, m := range chain {
		all, usage := credentials(m.Provider)
		order, _ := Order(ask.Config, m.Provider, all, usage, now)
		s := standing(ask, plan, chain, i, all, order, usage, now)
		s.ProbeUsed = probed[m.Provider]
		c := Candidacy{Model: m, Verdict: Visit(s, now)}
		probed[m.Provider] = probed[m.Provider] || c.Verdict.Transient
		tried := map[ProfileID]bool{}
		add := func(p Profile, willTry bool) {
			w, _ := usage[p.ID].Blocking(m.Name, now)
			if Bypasses(m.Provider) {
				w = Window{}
			}
			tried[p.ID] = true
			c.Profiles = append(c.Profiles, ProfileStanding{Profile: p, Pinned: s.Pin.Profile == p.ID, Window: w, Tried: willTry})
		}
		if c.Verdict.Do != Skip {
			for _, p := range Rotate(order, usage, s.Pin, m.Name, c.Verdict.Do == Probe, now) {
				add(p, true)
			}
		}
		for _, p := range order {
			if !tried[p.ID] {
				add(p, false)
			}
		}
		e.Candidates = append(e.Candidates, c)
	}
	return e
}

// standing is what a candidate's place in the chain, the session and its
// provider's credentials say of it: all stored ones, and those that can be used
// in their order. What only a run knows (skip markers, used probes) is for the
// caller to add.
func standing(ask Ask, plan Plan, chain []Model, i int, all, order []Profile, usage map[ProfileID]Usage, now time.Time) Standing {
	m := chain[i]
	s := Standing{Model: m, Position: i + 1, Total: len(chain), Order: order, Usage: usage, Stored: len(order) > 0,
		Off: off(m.Provider, all, usage)}
	if pin := plan.Pin; pin.Profile.serves(m.Provider) {
		s.Pin = pin.Among(m.Provider, all) // a pin concerns its own provider only (9.7)
	}
	if s.Pin.Source != ByUser {
		s.Pin = Stick(s.Pin, order, usage, ask.Compactions, ask.NewSession, now)
	}
	return s
}
