package bot

import (
	"context"
	"slices"
	"strings"
	"time"

	"standin/fallback"
)

// view is what a session's model looks like to people. Selected is the origin
// of an automatic override, not the override [C13]; Active differs from it
// while a fallback stands in.
type view struct {
	Plan     fallback.Plan
	Chain    []fallback.Model
	Selected fallback.Model
	Active   fallback.Model
	Reason   string    // why Active stands in, as the room was told; "" unknown
	Since    time.Time // since when it does
	Probe    time.Time // next look at Selected; zero: with the next message
	Probing  bool      // the engine can tell Probe
}

// view reads the session's selection as a chat turn would now.
func (o *order) view() view {
	v := view{Plan: o.plan(o.goes)}
	v.Chain = fallback.Chain(o.cfg.Fallback, v.Plan)
	v.Selected, v.Active = v.Plan.Selected, v.Plan.Requested
	if v.Active != v.Selected {
		v.Since = o.sel.Since
		if o.sel.Told.Selected == v.Selected && o.sel.Told.Active == v.Active {
			v.Reason = o.sel.Told.Reason
		}
		if prober, ok := o.Engine.(Prober); ok {
			v.Probe, v.Probing = prober.NextProbe(o.row.Session, v.Selected), true
		}
	}
	return v
}

// status is all that /status tells.
type status struct {
	view
	Primary fallback.Model
	Sel     fallback.Selection
	Sess    Session
	Key     fallback.SessionID
	Running bool
	Waiting int
	History int    // turns that a model sees again
	Ends    string // when a session of this kind is over by itself, "" never [S12]
	Windows []window
	Costs   []string // lines on money
	Uptime  time.Duration
	Version string
	Now     time.Time
}

// window is one credential that is not usable now.
type window struct {
	Profile fallback.ProfileID
	Model   string // the only model that is blocked, "" for all
	Reason  fallback.Reason
	Until   time.Time
}

// obeyStatus tells what is going on in the session [C12, C13, M31].
func obeyStatus(ctx context.Context, o *order) (reply, error) {
	s := status{
		view: o.explained(ctx), Primary: o.primary(), Sel: o.sel, Sess: o.sess, Key: o.row.Session,
		History: o.cfg.HistoryTurns, Uptime: o.now.Sub(o.started), Version: o.cfg.Version, Now: o.now,
	}
	s.Running, s.Waiting = o.lanes.Depth(o.row.Session)
	s.Ends = o.cfg.Rules.Resets.Say(o.row.In, o.row.Session)
	s.Windows = o.windows(ctx, s.Chain)
	s.Costs = o.costs(ctx)
	return say(sayStatus(s))
}

// windows lists the credentials of the chain's providers that are blocked for
// one of its models. What cannot be read is left out: a status is no place to fail.
func (o *order) windows(ctx context.Context, chain []fallback.Model) (list []window) {
	if o.Credentials == nil {
		return nil
	}
	usages := map[string]map[fallback.ProfileID]fallback.Usage{}
	for _, m := range chain {
		usage, read := usages[m.Provider]
		if !read {
			var err error
			if usage, err = o.Credentials.Usage(ctx, o.row.Agent, m.Provider); err != nil {
				o.Log.Error("windows not read for a status", "provider", m.Provider, "err", err)
			}
			usages[m.Provider] = usage
		}
		for id, u := range usage {
			if off := (window{Profile: id, Reason: fallback.Operator}); !u.SwitchedOff.IsZero() {
				if !slices.Contains(list, off) {
					list = append(list, off)
				}
				continue
			}
			w, blocked := u.Blocking(m.Name, o.now)
			if !blocked {
				continue
			}
			entry := window{Profile: id, Reason: w.Reason, Until: w.Until}
			if scope, ok := u.Scopes[m.Name]; ok && scope.Until.Equal(w.Until) {
				entry.Model = m.Name
			}
			if !slices.Contains(list, entry) {
				list = append(list, entry)
			}
		}
	}
	slices.SortFunc(list, func(a, b window) int {
		if c := strings.Compare(string(a.Profile), string(b.Profile)); c != 0 {
			return c
		}
		return strings.Compare(a.Model, b.Model)
	})
	return list
}

// providerStatus is one provider in /model status.
type providerStatus struct {
	Name     string
	URL      string
	API      string
	Profiles []string // ids, never more
	Models   []string
}

// modelStatus gathers default, agent and providers with their endpoint and
// credentials; ids only, no part of a secret [IL-030].
func (o *order) modelStatus(ctx context.Context) (view, fallback.Model, fallback.AgentID, []providerStatus) {
	var list []providerStatus
	c := o.cfg.Fallback
	for _, m := range c.Models() {
		i := slices.IndexFunc(list, func(p providerStatus) bool { return p.Name == m.Provider })
		if i < 0 {
			end := c.Providers[m.Provider]
			p := providerStatus{Name: m.Provider, URL: end.BaseURL, API: string(end.API)}
			if o.Credentials != nil {
				profiles, err := o.Credentials.Profiles(ctx, o.row.Agent, m.Provider)
				if err != nil {
					o.Log.Error("profiles not read for a status", "provider", m.Provider, "err", err)
				}
				for _, pr := range profiles {
					p.Profiles = append(p.Profiles, string(pr.ID)+" ("+string(pr.Type)+")")
				}
			}
			list, i = append(list, p), len(list)
		}
		name := m.Name
		if aliases := o.aliases(m); len(aliases) > 0 {
			name += " (" + strings.Join(aliases, ", ") + ")"
		}
		list[i].Models = append(list[i].Models, name)
	}
	return o.explained(ctx), o.primary(), o.row.Agent, list
}
