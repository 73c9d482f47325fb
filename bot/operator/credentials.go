package operator

import (
	"encoding/json"
	"slices"

	"standin/bot"
	"standin/fallback"
)

// credentialStory is a credential with what was done to it by hand.
type credentialStory struct {
	bot.CredentialStory
}

// jobSpec is a job as it is written, or a part of one.
type jobSpec json.RawMessage

// credentials are those of an agent.
func (s *Server) credentials(c *call) (any, error) {
	a, err := s.agent(c.r.FormValue("agent"))
	if err != nil {
		return nil, err
	}
	list, err := bot.Credentials(c.ctx, s.Keyring, s.Config().Fallback, a, c.now)
	return Credentials{Agent: string(a), Credentials: append([]bot.CredentialView{}, list...)}, err
}

// mostDeeds bounds what is told of a credential's past.
const mostDeeds = 50

// credential is one with its past.
func (s *Server) credential(c *call) (any, error) {
	a, err := s.agent(c.r.FormValue("agent"))
	if err != nil {
		return nil, err
	}
	return s.story(c, a)
}

func (s *Server) story(c *call, a fallback.AgentID) (credentialStory, error) {
	id := fallback.ProfileID(c.r.PathValue("id"))
	one, found, err := bot.OneCredential(c.ctx, s.Keyring, s.Config().Fallback, a, id, mostDeeds, c.now)
	if err == nil && !found {
		err = notFound("agent %s has no credential %s; %s/credentials lists them", a, clip(string(id), 100), base)
	}
	return credentialStory{one}, err
}

// changeCredential reads whose credential is meant, has do change it, and shows
// how it stands then.
func (s *Server) changeCredential(c *call, what string, do func(a fallback.AgentID, p fallback.ProfileID) (says string, changed, known bool, err error)) (any, error) {
	in, err := read[ForAgent](c)
	if err != nil {
		return nil, err
	}
	a, err := s.agent(in.Agent)
	if err != nil {
		return nil, err
	}
	p := fallback.ProfileID(c.r.PathValue("id"))
	if _, err := s.story(c, a); err != nil {
		return nil, err
	}
	out := CredentialChanged{}
	err = s.act(c, "credential."+what, string(p), "agent "+string(a), func() error {
		says, changed, known, err := do(a, p)
		out.Says, out.Changed = says, changed
		if err == nil && !known {
			return notFound("agent %s has no credential %s any more", a, p)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	s.changed("credentials", "")
	one, err := s.story(c, a)
	out.Credential = one.CredentialView
	return out, err
}

// clearCredential ends a credential's windows.
func (s *Server) clearCredential(c *call) (any, error) {
	return s.changeCredential(c, "clear", func(a fallback.AgentID, p fallback.ProfileID) (string, bool, bool, error) {
		was, known, err := s.Keyring.Clear(c.ctx, a, p, c.who.deed(c, ""))
		after := was.Clear(c.now)
		return bot.SayCleared(p, was, c.now), was.LastUsed.Equal(after.LastUsed) && hadWindows(was), known, err
	})
}

// hadWindows tells whether there was something to clear.
func hadWindows(u fallback.Usage) bool {
	zero := fallback.Window{}
	return u.Disabled != zero || u.Blocked != zero || u.Whole.Window != zero || len(u.Scopes) > 0 || len(u.Failures) > 0
}

func (s *Server) disableCredential(c *call) (any, error) { return s.switchCredential(c, true) }
func (s *Server) enableCredential(c *call) (any, error)  { return s.switchCredential(c, false) }

func (s *Server) switchCredential(c *call, off bool) (any, error) {
	what := "enable"
	if off {
		what = "disable"
	}
	return s.changeCredential(c, what, func(a fallback.AgentID, p fallback.ProfileID) (string, bool, bool, error) {
		changed, known, err := s.Keyring.Switch(c.ctx, a, p, off, c.who.deed(c, ""))
		return bot.SaySwitched(p, off, changed), changed, known, err
	})
}

// orders are those of an agent's providers.
func (s *Server) orders(c *call) (any, error) {
	a, err := s.agent(c.r.FormValue("agent"))
	if err != nil {
		return nil, err
	}
	all, err := bot.Credentials(c.ctx, s.Keyring, s.Config().Fallback, a, c.now)
	if err != nil {
		return nil, err
	}
	out := Orders{Agent: string(a), Orders: []Order{}}
	seen := map[string]bool{}
	for _, v := range all {
		if seen[v.Provider] {
			continue
		}
		seen[v.Provider] = true
		one, err := s.order(c, a, v.Provider, all)
		if err != nil {
			return nil, err
		}
		out.Orders = append(out.Orders, one)
	}
	return out, nil
}

func (s *Server) order(c *call, a fallback.AgentID, provider string, all []bot.CredentialView) (Order, error) {
	kept, owner, found, err := s.Keyring.Order(c.ctx, a, provider)
	out := Order{Provider: provider, Profiles: []string{}, Now: []string{}}
	if found {
		out.Owner = string(owner)
		for _, id := range kept {
			out.Profiles = append(out.Profiles, string(id))
		}
	}
	for _, v := range all {
		if v.Provider == provider && v.Place > 0 {
			out.Now = append(out.Now, v.Profile)
		}
	}
	return out, err
}

// setOrder keeps an order.
func (s *Server) setOrder(c *call) (any, error) {
	in, err := read[SetOrder](c)
	if err != nil {
		return nil, err
	}
	return s.changeOrder(c, in.Agent, func(provider string, all []bot.CredentialView) ([]fallback.ProfileID, error) {
		if len(in.Profiles) == 0 {
			return nil, &Wrong{"profiles is empty: list credentials in the order of trying, or DELETE the order"}
		}
		ids, err := bot.ReadOrder(provider, in.Profiles, all)
		if err != nil {
			return nil, &Wrong{err.Error()}
		}
		return ids, nil
	})
}

// clearOrder keeps none any more.
func (s *Server) clearOrder(c *call) (any, error) {
	return s.changeOrder(c, c.r.FormValue("agent"), func(string, []bot.CredentialView) ([]fallback.ProfileID, error) { return nil, nil })
}

func (s *Server) changeOrder(c *call, agent string, want func(provider string, all []bot.CredentialView) ([]fallback.ProfileID, error)) (any, error) {
	a, err := s.agent(agent)
	if err != nil {
		return nil, err
	}
	provider := fallback.NormalProvider(c.r.PathValue("provider"))
	cfg := s.Config().Fallback
	all, err := bot.Credentials(c.ctx, s.Keyring, cfg, a, c.now)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(all, func(v bot.CredentialView) bool { return v.Provider == provider }) {
		return nil, notFound("agent %s has no credentials of a provider %s", a, clip(provider, 100))
	}
	ids, err := want(provider, all)
	if err != nil {
		return nil, err
	}
	what := "order.set"
	if ids == nil {
		what = "order.clear"
	}
	said := bot.SayIDs(ids)
	if err := s.act(c, what, provider, said, func() error { return s.Keyring.SetOrder(c.ctx, a, provider, ids, c.who.deed(c, said)) }); err != nil {
		return nil, err
	}
	s.changed("orders", "")
	if all, err = bot.Credentials(c.ctx, s.Keyring, cfg, a, c.now); err != nil {
		return nil, err
	}
	return s.order(c, a, provider, all)
}
