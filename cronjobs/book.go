package cronjobs

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"standin/fallback"
)

// Book is where jobs are added and edited: by the command line, beside a running
// daemon or without one, and by people in a chat.
type Book struct {
	Store  Store
	Config *Config
	Rules  Rules
	Now    func() time.Time
	ID     func() JobID // nil: random
}

func (b *Book) id() JobID {
	if b.ID != nil {
		return b.ID()
	}
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails
	raw[6], raw[8] = raw[6]&0x0f|0x40, raw[8]&0x3f|0x80
	h := hex.EncodeToString(raw[:])
	return JobID(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
}

// Add keeps a new job. chat is the session that makes it, "" for none: the
// target current becomes it. The error names each field that is wrong.
func (b *Book) Add(ctx context.Context, j Job, chat fallback.SessionID) (Job, error) {
	now := b.Now()
	if j.ID == "" {
		j.ID = b.id()
	}
	if j.Target == "" {
		j.Target = Isolated
		if j.Payload.Kind == SystemEvent {
			j.Target = Main
		}
	}
	if j.Payload.Kind == SystemEvent && j.Wake == "" {
		j.Wake = WakeNow
	}
	j.settleCurrent(chat)
	j.CreatedAt, j.UpdatedAt, j.State = At(now), At(now), State{}
	if err := b.Rules.Check(j, true, now); err != nil {
		return j, err
	}
	if err := b.plan(&j, now); err != nil {
		return j, err
	}
	if err := b.Store.AddJob(ctx, j); err != nil {
		return j, fmt.Errorf("keep the job: %w", err)
	}
	return j, nil
}

// plan gives an enabled job its next time, a disabled one none.
func (b *Book) plan(j *Job, now time.Time) error {
	st := &j.State
	st.Next, st.Slot, st.Attempt, st.Trigger = 0, 0, 0, ""
	if !j.Enabled {
		return nil
	}
	st.Leaving = "" // somebody wants it again
	t, err := j.ready(b.Config.Home)
	if err != nil {
		return err
	}
	after := now
	if t.kind == KindAt && !t.at.After(now) && now.Sub(t.at) <= latest {
		after = t.at.Add(-1) // a moment ago still counts [R14]
	}
	if err := j.plan(t, after); err != nil {
		return fault("schedule", "has no next time", "give one that is still to come")
	}
	return nil
}

// Edit changes a job. A changed schedule, and being switched on, plan it anew;
// any other change leaves its next time alone [R13].
func (b *Book) Edit(ctx context.Context, id JobID, change func(*Job) error) (Job, error) {
	now := b.Now()
	return b.Store.ChangeJob(ctx, id, func(j *Job) (Change, error) {
		was := *j
		if err := change(j); err != nil {
			return Change{}, err
		}
		j.settleCurrent("")
		j.ID, j.CreatedAt, j.State, j.UpdatedAt = was.ID, was.CreatedAt, was.State, At(now)
		moved := !sameSchedule(was.Schedule, j.Schedule)
		if err := b.Rules.Check(*j, moved, now); err != nil {
			return Change{}, err
		}
		if moved || j.Enabled != was.Enabled {
			if moved {
				j.State.ScheduleErrors = 0
			}
			if j.Enabled && !was.Enabled {
				j.State.Errors, j.State.Skips, j.State.FailingSince, j.State.LastAlert = 0, 0, 0, 0
			}
			j.State.OffWhy = ""
			if err := b.plan(j, now); err != nil {
				return Change{}, err
			}
		}
		return Change{Write: true}, nil
	})
}

func sameSchedule(a, b Schedule) bool {
	stagger := func(s Schedule) int64 {
		if s.StaggerMs == nil {
			return -1
		}
		return *s.StaggerMs
	}
	sa, sb := stagger(a), stagger(b)
	a.StaggerMs, b.StaggerMs = nil, nil
	return a == b && sa == sb
}

// Switch switches a job on or off and leaves the rest alone: a job that the
// config of today would not take can be switched off all the same.
func (b *Book) Switch(ctx context.Context, id JobID, on bool) (Job, error) {
	if on {
		return b.Edit(ctx, id, func(j *Job) error { j.Enabled = true; return nil })
	}
	return b.Store.ChangeJob(ctx, id, func(j *Job) (Change, error) {
		j.Enabled, j.UpdatedAt, j.State.OffWhy = false, At(b.Now()), ""
		return Change{Write: true}, b.plan(j, b.Now())
	})
}

// Remove takes a job away; its lines of the log stay.
func (b *Book) Remove(ctx context.Context, id JobID) (Job, error) {
	return b.Store.ChangeJob(ctx, id, func(*Job) (Change, error) { return Change{Remove: true}, nil })
}

// Find gives the job with that id, the beginning of an id, or that exact name
// [R66].
func (b *Book) Find(ctx context.Context, ref string) (Job, error) {
	ref = strings.TrimSpace(ref)
	all, err := b.Store.Jobs(ctx)
	if err != nil {
		return Job{}, err
	}
	var begins, named []Job
	for _, j := range all {
		switch {
		case string(j.ID) == ref:
			return j, nil
		case len(ref) >= 4 && strings.HasPrefix(string(j.ID), ref):
			begins = append(begins, j)
		}
		if j.Name == ref {
			named = append(named, j)
		}
	}
	for _, found := range [][]Job{named, begins} {
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return Job{}, fmt.Errorf("%q is %d jobs: %s; give an id", ref, len(found), ids(found))
		}
	}
	var names []string
	for _, j := range all {
		names = append(names, j.Name)
	}
	why := fmt.Sprintf("there is no job %q", ref)
	if near := fallback.Nearest(ref, names); len(near) > 0 {
		return Job{}, &missing{why + fmt.Sprintf("; did you mean %q?", near[0])}
	}
	return Job{}, &missing{why + "; standin cron list --all shows all"}
}

// missing is ErrNoJob with what people want to read.
type missing struct{ says string }

func (m *missing) Error() string        { return m.says }
func (m *missing) Is(target error) bool { return errors.Is(target, ErrNoJob) }

func ids(jobs []Job) string {
	var all []string
	for _, j := range jobs {
		all = append(all, string(j.ID))
	}
	return strings.Join(all, ", ")
}
