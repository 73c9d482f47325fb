package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"standin/fallback"
)

// schedule gives the jobs, where some run.
func (s *Server) schedule() (Schedule, error) {
	if s.Schedule == nil {
		return nil, unavailable("no jobs run in this process")
	}
	return s.Schedule, nil
}

func (s *Server) jobs(c *call) (any, error) {
	jobs, err := s.schedule()
	if err != nil {
		return nil, err
	}
	return jobs.All(c.ctx)
}

func (s *Server) job(c *call) (any, error) {
	jobs, err := s.schedule()
	if err != nil {
		return nil, err
	}
	return jobs.Job(c.ctx, c.r.PathValue("id"))
}

// spec reads the body as a job, or the part of one, that the schedule will judge.
func spec(c *call) (json.RawMessage, error) {
	raw, err := read[json.RawMessage](c)
	if err == nil && (len(raw) == 0 || raw[0] != '{') {
		err = &Wrong{"the request's body must be a job, or the fields of one that change, as a JSON object"}
	}
	return raw, err
}

func (s *Server) addJob(c *call) (any, error) {
	return s.writeJob(c, "job.add", "a new job", func(jobs Schedule, raw json.RawMessage) (JobDetail, error) { return jobs.Add(c.ctx, raw) })
}

func (s *Server) editJob(c *call) (any, error) {
	id := c.r.PathValue("id")
	return s.writeJob(c, "job.edit", id, func(jobs Schedule, raw json.RawMessage) (JobDetail, error) { return jobs.Edit(c.ctx, id, raw) })
}

func (s *Server) writeJob(c *call, what, about string, do func(Schedule, json.RawMessage) (JobDetail, error)) (any, error) {
	jobs, err := s.schedule()
	if err != nil {
		return nil, err
	}
	raw, err := spec(c)
	if err != nil {
		return nil, err
	}
	var out JobDetail
	err = s.act(c, what, about, string(raw), func() error {
		out, err = do(jobs, raw)
		return err
	})
	if err == nil {
		s.changed("cron", "")
	}
	return out, err
}

func (s *Server) enableJob(c *call) (any, error)  { return s.switchJob(c, true) }
func (s *Server) disableJob(c *call) (any, error) { return s.switchJob(c, false) }

func (s *Server) switchJob(c *call, on bool) (any, error) {
	jobs, err := s.schedule()
	if err != nil {
		return nil, err
	}
	id, what := c.r.PathValue("id"), "job.enable"
	if !on {
		what = "job.disable"
	}
	var out JobDetail
	err = s.act(c, what, id, "", func() error {
		out, err = jobs.Switch(c.ctx, id, on)
		return err
	})
	if err == nil {
		s.changed("cron", "")
	}
	return out, err
}

func (s *Server) removeJob(c *call) (any, error) {
	jobs, err := s.schedule()
	if err != nil {
		return nil, err
	}
	id := c.r.PathValue("id")
	var name string
	err = s.act(c, "job.remove", id, "", func() error {
		name, err = jobs.Remove(c.ctx, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.changed("cron", "")
	return Done{fmt.Sprintf("The job %s is taken away. Its log stays.", name)}, nil
}

func (s *Server) runJob(c *call) (any, error) {
	jobs, err := s.schedule()
	if err != nil {
		return nil, err
	}
	in, err := read[RunJob](c)
	if err != nil {
		return nil, err
	}
	id := c.r.PathValue("id")
	var out JobAsked
	err = s.act(c, "job.run", id, "", func() error {
		out, err = jobs.Run(c.ctx, id, in.Due)
		return err
	})
	if err == nil {
		s.changed("cron", "")
	}
	return out, err
}

func (s *Server) jobRuns(c *call) (any, error) {
	jobs, err := s.schedule()
	if err != nil {
		return nil, err
	}
	most, err := c.limit()
	if err != nil {
		return nil, err
	}
	return jobs.Runs(c.ctx, c.r.PathValue("id"), c.r.FormValue("cursor"), most)
}

const (
	mostFires = 500
	mostAhead = 62 * 24 * time.Hour
)

// calendar is when jobs and heartbeats fire.
func (s *Server) calendar(c *call) (any, error) {
	from, err := c.moment("from", c.now)
	if err != nil {
		return nil, err
	}
	to, err := c.moment("to", from.Add(7*24*time.Hour))
	if err != nil {
		return nil, err
	}
	if err := ordered(from, to); err != nil {
		return nil, err
	}
	if to.Sub(from) > mostAhead {
		return nil, &Wrong{"the calendar shows 62 days at a time: bring from and to closer together"}
	}
	out := Calendar{From: from, To: to, Fires: []Fire{}}
	for _, part := range []func(context.Context, time.Time, time.Time, int) ([]Fire, error){s.jobFires, s.beatFires} {
		fires, err := part(c.ctx, from, to, mostFires+1)
		if err != nil {
			return nil, err
		}
		out.Fires = append(out.Fires, fires...)
	}
	slices.SortStableFunc(out.Fires, func(a, b Fire) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Name, b.Name)) })
	out.More = len(out.Fires) > mostFires
	out.Fires = out.Fires[:min(len(out.Fires), mostFires)]
	return out, nil
}

func (s *Server) jobFires(ctx context.Context, from, to time.Time, most int) ([]Fire, error) {
	if s.Schedule == nil {
		return nil, nil
	}
	return s.Schedule.Fires(ctx, from, to, most)
}

func (s *Server) beatFires(ctx context.Context, from, to time.Time, most int) ([]Fire, error) {
	if s.Beats == nil {
		return nil, nil
	}
	return s.Beats.Fires(ctx, from, to, most)
}

func (s *Server) heartbeats(c *call) (any, error) {
	out := Heartbeats{Heartbeats: []Heartbeat{}}
	if s.Beats == nil {
		return out, nil
	}
	list, err := s.Beats.Heartbeats(c.ctx)
	out.Heartbeats = append(out.Heartbeats, list...)
	return out, err
}

// beating is the agent of a path whose heartbeat is meant.
func (s *Server) beating(c *call) (fallback.AgentID, error) {
	if s.Beats == nil {
		return "", unavailable("no heartbeats run in this process")
	}
	return s.agent(c.r.PathValue("agent"))
}

// beat runs one and waits for it, whether or not the page still does.
func (s *Server) beat(c *call) (any, error) {
	a, err := s.beating(c)
	if err != nil {
		return nil, err
	}
	in, err := read[Beat](c)
	if err != nil {
		return nil, err
	}
	var out Beaten
	err = s.act(c, "heartbeat.run", string(a), "", func() error {
		out, err = s.Beats.Beat(context.WithoutCancel(c.ctx), a, in.Trial)
		return err
	})
	if err == nil {
		s.changed("heartbeats", "")
	}
	return out, err
}

func (s *Server) enableHeartbeat(c *call) (any, error)  { return s.switchHeartbeat(c, false) }
func (s *Server) disableHeartbeat(c *call) (any, error) { return s.switchHeartbeat(c, true) }

func (s *Server) switchHeartbeat(c *call, off bool) (any, error) {
	a, err := s.beating(c)
	if err != nil {
		return nil, err
	}
	what := "heartbeat.enable"
	if off {
		what = "heartbeat.disable"
	}
	var out Heartbeat
	err = s.act(c, what, string(a), "", func() error {
		out, err = s.Beats.Switch(c.ctx, a, off)
		return err
	})
	if err == nil {
		s.changed("heartbeats", "")
	}
	return out, err
}
