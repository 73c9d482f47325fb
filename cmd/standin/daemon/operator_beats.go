package daemon

import (
	"context"
	"slices"
	"time"

	"standin/bot/operator"
	"standin/fallback"
	"standin/heartbeat"
)

// deskBeats are the heartbeats in the operator's words. It implements
// operator.Beats.
type deskBeats struct{ a *App }

// Heartbeats tells how those are that agents have.
func (d deskBeats) Heartbeats(ctx context.Context) (list []operator.Heartbeat, err error) {
	for _, a := range d.a.current.Load().Heartbeats.Agents {
		one, err := d.view(ctx, a)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

func (d deskBeats) view(ctx context.Context, a fallback.AgentID) (v operator.Heartbeat, err error) {
	settings := d.a.current.Load().Heartbeats
	row, err := d.a.DB.Heartbeat(ctx, a)
	if err != nil {
		return v, err
	}
	c, forecast := settings.For(a), heartbeat.ForecastOf(settings, a, d.a.parts.Now())
	v = operator.Heartbeat{Agent: string(a), Off: row.Off, Last: row.Last, Status: string(row.Status), Why: string(row.Why), Model: row.Model, Failures: row.Failures, Goes: forecast.Goes, PerDay: forecast.PerDay}
	if c.Every > 0 {
		v.Every = heartbeat.Span(c.Every)
		if !row.Off {
			v.Due = d.a.beats.Due(a)
		}
	}
	if row.Turn != "" {
		v.Running = row.Began
	}
	if row.Why != "" {
		v.Says = row.Why.Says()
	}
	if row.Detail != "" {
		v.Says = row.Detail
	}
	return v, nil
}

// Beat runs one and waits for it.
func (d deskBeats) Beat(ctx context.Context, a fallback.AgentID, trial bool) (operator.Beaten, error) {
	why := heartbeat.Manual
	if trial {
		why = heartbeat.Trial
	}
	rep := d.a.beats.Beat(ctx, a, why)
	out := operator.Beaten{Status: string(rep.Status), Why: string(rep.Why), Says: rep.Why.Says(), Model: rep.Model.String(), Text: rep.Text, Posted: rep.Posted != "", TookMs: rep.Took.Milliseconds()}
	if rep.Detail != "" {
		out.Says = rep.Detail
	}
	return out, nil
}

// Switch switches an agent's schedule off or on.
func (d deskBeats) Switch(ctx context.Context, a fallback.AgentID, off bool) (operator.Heartbeat, error) {
	if err := d.a.DB.SwitchHeartbeat(ctx, a, off); err != nil {
		return operator.Heartbeat{}, err
	}
	d.a.beats.Reload()
	return d.view(ctx, a)
}

// Fires gives when heartbeats are due in a time.
func (d deskBeats) Fires(ctx context.Context, from, to time.Time, limit int) (list []operator.Fire, err error) {
	settings := d.a.current.Load().Heartbeats
	seed, err := d.a.DB.HeartbeatSeed(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range settings.Agents {
		row, err := d.a.DB.Heartbeat(ctx, a)
		if err != nil {
			return nil, err
		}
		c := settings.For(a)
		if row.Off || c.Every <= 0 {
			continue
		}
		at := latest(from, d.a.parts.Now())
		for n := 0; n < limit; n++ {
			slot, some := heartbeat.Next(at, c.Every, heartbeat.Phase(seed, a, c.Every), c.Hours)
			if !some || !slot.Before(to) {
				break
			}
			list, at = append(list, operator.Fire{At: slot, Kind: "heartbeat", ID: string(a), Name: "heartbeat of " + string(a), Model: c.Model.String()}), slot
		}
	}
	slices.SortStableFunc(list, func(a, b operator.Fire) int { return a.At.Compare(b.At) })
	return list[:min(len(list), limit)], nil
}
