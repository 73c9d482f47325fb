package daemon

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"standin/bot/incidents"
	"standin/bot/mcp"
	"standin/channels"
	"standin/cronjobs"
	"standin/fallback"
)

const (
	// connectionHold is how long a channel or a tool server may be away before
	// anybody is told: both come back by themselves.
	connectionHold = time.Minute
	// beatsFailed is how many heartbeats in a row fail before it is told [IL-020].
	beatsFailed = 3
)

// signs finds what is wrong at the moment. A source that cannot be read says
// nothing of its kind, neither that it is well nor that it is not.
func (a *App) signs(ctx context.Context, now time.Time) (all []incidents.Sign, looked func(incidents.Kind) bool) {
	blind := map[incidents.Kind]bool{}
	find := func(do func(context.Context, time.Time) ([]incidents.Sign, error), kinds ...incidents.Kind) {
		found, err := do(ctx, now)
		if err != nil && ctx.Err() == nil {
			a.parts.Log.Warn("it was not looked at what is wrong", "with", kinds, "err", err)
		}
		for _, k := range kinds {
			blind[k] = err != nil
		}
		if err == nil {
			all = append(all, found...)
		}
	}
	find(a.outageSigns, incidents.Models)
	find(a.standInSigns, incidents.Fallback)
	find(a.credentialSigns, incidents.Auth, incidents.Billing, incidents.Login)
	find(a.channelSigns, incidents.Channel)
	find(a.jobSigns, incidents.Job)
	find(a.beatSigns, incidents.Heartbeat)
	find(a.budgetSigns, incidents.Budget)
	find(a.serverSigns, incidents.MCP)
	if a.draining.Load() {
		blind[incidents.Channel], blind[incidents.MCP] = true, true // we hang up ourselves
	}
	return all, func(k incidents.Kind) bool { return !blind[k] }
}

func (a *App) outageSigns(_ context.Context, _ time.Time) (list []incidents.Sign, err error) {
	agents := a.current.Load().Bot.Agents
	for id, o := range a.incidents.outages.all() {
		if _, there := agents[id]; !there {
			continue
		}
		s := incidents.Sign{
			Kind: incidents.Models, Subject: string(id), Since: o.since,
			Title: "no model of agent " + string(id) + " answers", Was: "no model of agent " + string(id) + " answered",
			Meanwhile: "Whoever writes is told so; the next message asks those again that may be asked.",
			Mend:      "standin status says which model rests until when, standin auth list shows the credentials.",
		}
		if o.models > 0 {
			s.Detail = fmt.Sprintf("of %d the last failed with %s", o.models, wordOf(o.reason))
		}
		list = append(list, s)
	}
	return list, nil
}

func wordOf(reason string) string { return strings.ReplaceAll(reason, "_", " ") }

// standIn is one incident of its kind: an agent away from one of its models.
type standIn struct {
	agent  fallback.AgentID
	origin fallback.Model
}

// standInSigns tells of agents whose sessions are on a stand-in, one for each
// model that is stood in for; what lasts too long is told. A session that nobody has written in
// since that model came back is not counted: its next message asks it [M12].
func (a *App) standInSigns(ctx context.Context, now time.Time) ([]incidents.Sign, error) {
	longer := a.current.Load().Operators.FallbackLongerThan
	if longer <= 0 {
		return nil, nil
	}
	sessions, err := a.DB.StandInsSince(ctx)
	if err != nil {
		return nil, err
	}
	back := map[fallback.Model]time.Time{} // when it answered last
	count, first, reason := map[standIn]int{}, map[standIn]int{}, map[standIn]string{}
	var order []standIn
	for i, s := range sessions {
		at, known := back[s.Origin]
		if !known {
			if at, err = a.DB.LastAnswer(ctx, s.Origin.String()); err != nil {
				return nil, err
			}
			back[s.Origin] = at
		}
		latest := s.Since // when it was last seen that the stand-in is needed
		if s.Last.After(latest) {
			latest = s.Last
		}
		inUse := s.Last.Sub(s.Since) >= longer && now.Sub(s.Last) < longer
		if !inUse && at.After(latest) {
			continue
		}
		g := standIn{s.Agent, s.Origin}
		if count[g]++; count[g] == 1 {
			first[g], order = i, append(order, g)
		}
		// What a room was told when the model rested already says for how long it did.
		if reason[g] == "" && !strings.Contains(s.Reason, " is in cooldown ") {
			reason[g] = wordOf(s.Reason)
		}
	}
	kept := map[standIn]string{}
	var list []incidents.Sign
	for _, g := range order {
		s := sessions[first[g]]
		if reason[g] == "" {
			reason[g] = a.standInWhy[g]
		}
		kept[g] = reason[g]
		detail := fmt.Sprintf("in %d conversations", count[g])
		if count[g] == 1 {
			detail = "in one conversation"
		}
		if why := reason[g]; why != "" {
			detail += ", " + why
		}
		list = append(list, incidents.Sign{
			Kind: incidents.Fallback, Subject: string(g.agent) + " " + g.origin.String(), Since: s.Since, Hold: longer,
			Title:     fmt.Sprintf("agent %s answers with %s in place of %s", g.agent, s.Model, g.origin),
			Was:       fmt.Sprintf("agent %s answered with %s in place of %s", g.agent, s.Model, g.origin),
			Detail:    detail,
			Meanwhile: fmt.Sprintf("Everybody is answered; %s is asked again when its rest is over.", g.origin),
			Mend:      "standin status says when that is, standin auth list shows the credentials.",
		})
	}
	a.standInWhy = kept
	return list, nil
}

func (a *App) channelSigns(_ context.Context, _ time.Time) (list []incidents.Sign, err error) {
	for _, s := range a.fleet.standings() {
		if s.State == channels.Ready {
			continue
		}
		name := s.Place.String()
		meanwhile := "Nobody is heard or answered there; it is tried again by itself, and what is owed is posted then."
		if s.State == channels.Down {
			meanwhile = "Nobody is heard or answered there, and it does not come back by itself."
		}
		list = append(list, incidents.Sign{
			Kind: incidents.Channel, Subject: name, Since: s.Since, Hold: connectionHold, Channel: s.Channel, Account: s.Account,
			Title: "channel " + name + " is not connected", Was: "channel " + name + " was not connected", Detail: s.Reason, Meanwhile: meanwhile,
			Mend: cmp.Or(sentence(s.Mend), fmt.Sprintf("standin channels status shows it, standin %s check looks at its tokens.", s.Channel)),
		})
	}
	return list, nil
}

// sentence makes a mend that others wrote one.
func sentence(s string) string {
	if s = strings.TrimSpace(s); s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

func (a *App) serverSigns(_ context.Context, _ time.Time) (list []incidents.Sign, err error) {
	if a.hub == nil {
		return nil, nil
	}
	for _, s := range a.hub.Status() {
		if s.State == mcp.Ready {
			continue
		}
		list = append(list, incidents.Sign{
			// No Since: its state changes with each try, the trouble does not.
			Kind: incidents.MCP, Subject: s.Name, Hold: connectionHold,
			Title: "tool server " + s.Name + " does not run", Was: "tool server " + s.Name + " did not run", Detail: s.Error,
			Meanwhile: "Agents answer without its tools; it is started again by itself.", Mend: "standin check starts it once and says what is wrong.",
		})
	}
	return list, nil
}

func (a *App) jobSigns(ctx context.Context, now time.Time) ([]incidents.Sign, error) {
	jobs, err := a.DB.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	var list []incidents.Sign
	for _, j := range jobs {
		if s, bad := jobSign(j, now); bad {
			list = append(list, s)
		}
	}
	return list, nil
}

// jobSign tells of a job whose failures people are told of [R47], that was
// switched off over them, or whose answer did not arrive.
func jobSign(j cronjobs.Job, now time.Time) (s incidents.Sign, bad bool) {
	st := j.State
	name := fmt.Sprintf("job %q", cmp.Or(j.Name, string(j.ID)))
	s = incidents.Sign{
		Kind: incidents.Job, Subject: string(j.ID), Since: st.FailingSince.Time(),
		Title: name + " fails", Was: name + " failed", Meanwhile: "It does not run again by itself.",
		Mend: fmt.Sprintf("standin cron show %s shows its last runs, standin cron run %s runs it now.", j.ID, j.ID),
	}
	why := cmp.Or(st.LastError, wordOf(st.LastReason))
	switch {
	case !j.Enabled && st.OffWhy != "" && st.LastStatus != cronjobs.OK:
		s.Detail = st.OffWhy + "; " + why
	case j.Enabled && st.Errors > 0 && st.LastAlert != 0:
		s.Detail = fmt.Sprintf("%d times in a row, the last time with: %s", st.Errors, why)
	case st.LastDelivery == cronjobs.NotDelivered:
		s.Since = time.Time{}
		s.Title, s.Was, s.Detail = "the answer of "+name+" did not arrive", "answers of "+name+" did not arrive", st.DeliveryError
		s.Mend = fmt.Sprintf("standin cron show %s shows where it goes, standin cron edit %s changes that.", j.ID, j.ID)
	default:
		return s, false
	}
	if next := st.Next.Time(); j.Enabled && !next.IsZero() {
		s.Meanwhile = "It runs again at " + incidents.Clock(next, now) + "."
	}
	return s, true
}

func (a *App) beatSigns(ctx context.Context, _ time.Time) (list []incidents.Sign, err error) {
	c := a.current.Load()
	for id := range c.Bot.Agents {
		row, err := a.DB.Heartbeat(ctx, id)
		if err != nil {
			return nil, err
		}
		if row.Failures < beatsFailed || row.Off {
			continue
		}
		list = append(list, incidents.Sign{
			Kind: incidents.Heartbeat, Subject: string(id),
			Title: "heartbeats of agent " + string(id) + " fail", Was: "heartbeats of agent " + string(id) + " failed",
			Detail:    strings.TrimSuffix(fmt.Sprintf("%d in a row: %s", row.Failures, row.Detail), ": "),
			Meanwhile: "What they look after is not looked after; the next one tries again.",
			Mend:      "standin heartbeat status says why, standin heartbeat run tries one.",
		})
	}
	return list, nil
}

// budgetSigns tells of budgets that fill up, one step for each share [IL-220], and
// of those that are spent.
func (a *App) budgetSigns(ctx context.Context, now time.Time) (list []incidents.Sign, err error) {
	for _, c := range a.current.Load().Fallback.Budgets {
		if c.NoPaid {
			continue
		}
		start, end := c.Bounds(now)
		spent, err := a.DB.Spent(ctx, c, start)
		if err != nil {
			return nil, err
		}
		reached := c.Reached(spent)
		if len(reached) == 0 {
			continue
		}
		share := slices.Max(reached)
		s := incidents.Sign{
			// Another period is another incident.
			Kind: incidents.Budget, Subject: c.Name + " " + start.UTC().Format(time.RFC3339), Stage: share, Quiet: true,
			Title: fmt.Sprintf("budget %s has reached %d %%", c.Name, share), Was: "budget " + c.Name + " was filling up",
			Detail: fmt.Sprintf("%s of %s are spent, until %s", fallback.Dollars(spent.USD), fallback.Dollars(c.Allowed(spent)), incidents.Clock(end, now)),
			Mend:   "standin cost shows on what, /budget add gives it more.",
		}
		if share >= 100 {
			s.Subject, s.Quiet = "spent: "+s.Subject, false
			s.Title, s.Was = "budget "+c.Name+" is spent", "budget "+c.Name+" was spent"
			s.Meanwhile = "Models that cost money are passed over."
			if c.BackgroundOnly {
				s.Meanwhile = "Jobs and heartbeats pass over models that cost money; answers to people go on."
			}
		}
		list = append(list, s)
	}
	return list, nil
}
