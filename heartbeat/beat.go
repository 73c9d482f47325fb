package heartbeat

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"time"

	"standin/bot"
	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// turnID names the beat of one slot: short enough for every platform, the same
// each time.
func turnID(seed string, a fallback.AgentID, slot time.Time) string {
	sum := sha256.Sum256([]byte(seed + "\x00" + string(a) + "\x00" + strconv.FormatInt(slot.UnixMilli(), 10)))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
}

// beat is one beat with what it knows.
type beat struct {
	*Runner
	s      *Settings
	c      Config
	agent  fallback.AgentID
	reason Reason
	id     string
	row    Row
	base   fallback.SessionID
	sess   bot.Session // of base
	events []bot.SystemEvent
	file   File
	place  Place
	seen   Visibility
	start  time.Time
}

// beat runs one beat, or finds why it may not run, and writes down which.
func (r *Runner) beat(ctx context.Context, s *Settings, a fallback.AgentID, why Reason, id string) Report {
	b := &beat{Runner: r, s: s, c: s.For(a), agent: a, reason: why, id: id, start: r.Now()}
	rep := Report{Agent: a, Reason: why, Then: why, At: b.start, Turn: id}
	d, err := b.look(ctx)
	switch {
	case err != nil:
		return b.broken(rep, err)
	case d.Why != "":
		rep.Status, rep.Why, rep.Next = Skipped, d.Why, d.Again
		if b.file.Err != nil {
			rep.Detail = b.file.Err.Error()
		}
		return b.skipped(ctx, rep)
	}
	if b.tells() && (why == Interval || why == Retry) {
		// What happened is told by itself, and the usual beat follows [IL-301].
		b.reason, rep.Reason, rep.Then, d.Tasks = Event, Event, Interval, nil
		rep = b.run(ctx, rep, nil)
		if rep.Status == Ran {
			rep.Next = b.Now().Add(busyRetry)
		}
		return rep
	}
	return b.run(ctx, rep, d.Tasks)
}

// look gathers what speaks for and against the beat and decides.
func (b *beat) look(ctx context.Context) (Decision, error) {
	var err error
	if b.row, err = b.Rows.Heartbeat(ctx, b.agent); err != nil {
		return Decision{}, err
	}
	b.base = b.c.BaseSession(b.agent)
	if b.sess, err = b.Rows.Session(ctx, b.base); err != nil {
		return Decision{}, fmt.Errorf("read session %s: %w", b.base, err)
	}
	if b.events, err = b.Rows.Noted(ctx, b.base); err != nil {
		return Decision{}, fmt.Errorf("read the events of %s: %w", b.base, err)
	}
	b.file = ReadFile(b.c.File, b.ReadFile)
	for _, fault := range b.file.Faults {
		b.Log.Warn("HEARTBEAT.md: "+fault, "agent", b.agent, "file", b.c.File)
	}
	chat := func(to channels.Address) channels.ChatType {
		kind, wrong := b.Rows.ChatOf(ctx, to)
		err = errors.Join(err, wrong)
		return kind
	}
	if b.reason == Cron { // a job's text is answered where the agent was last spoken to [R26]
		b.c.Target, b.c.To, b.c.Account = TargetLast, "", ""
	}
	b.place = b.c.place(b.sess.Route, chat, func(to channels.Address) bool { return b.Known == nil || b.Known(to) })
	if err != nil {
		return Decision{}, err
	}
	if b.reason == Trial {
		b.place, b.c.Isolated = Place{Why: WhyTrial}, true
	}
	b.seen = b.s.Seen.At(b.place.To)
	owes := false
	if b.sess.Route.Channel != "" {
		if owes, err = b.Rows.OwedTo(ctx, b.sess.Route, b.start.Add(-owedLately)); err != nil {
			return Decision{}, err
		}
	}
	st := Standing{
		Reason: b.reason, Off: b.row.Off, Tells: b.tells(), File: b.file, Stamps: b.row.Tasks,
		Place: b.place, Seen: b.seen, Spoke: b.sess.LastInteraction,
		Busy: owes,
		Cron: b.JobRuns != nil && b.JobRuns(),
	}
	if b.Bot != nil {
		st.Busy = owes || b.Bot.Busy(b.base) || b.Bot.Busy(b.session())
		st.Others = b.Bot.BusyBeside(b.agent, b.base)
	}
	d := Decide(b.c, st, b.start)
	if d.Why != "" || b.reason.byHand() {
		return d, nil
	}
	// Only a beat that would run needs to know of its chain.
	if _, st.Rests, err = b.Engine.Foresee(ctx, b.ask(b.session())); err != nil {
		return Decision{}, err
	}
	return Decide(b.c, st, b.start), nil
}

// owedLately is how long an answer that is not sent yet keeps a beat back [H12].
const owedLately = 30 * time.Second

// session is the one that the beat runs in [H15].
func (b *beat) session() fallback.SessionID {
	if !b.c.Isolated || strings.HasSuffix(string(b.base), isolated) {
		return b.base
	}
	return b.base + isolated
}

const isolated = ":heartbeat"

// ask is the run as the rule book sees it.
func (b *beat) ask(s fallback.SessionID) fallback.Ask {
	return fallback.Ask{
		Run: b.id, Session: s, Agent: b.agent, Kind: fallback.Heartbeat, Config: b.s.Fallback,
		Model: b.c.Model, Fallbacks: b.c.Fallbacks, Listed: b.c.Listed,
		Parent: b.sess.ParentOf(), Channel: b.channelModel(),
	}
}

// channelModel is the model that the config gives the place where the session
// is, zero for none.
func (b *beat) channelModel() fallback.Model {
	if b.Model == nil || b.sess.Route.Channel == "" {
		return fallback.Model{}
	}
	return b.Model(b.sess.Route)
}

// tells tells whether something waits that a wake is to tell: what only
// accompanies the next message does not count [H10].
func (b *beat) tells() bool {
	for _, e := range b.events {
		if Wakes(e.Key) {
			return true
		}
	}
	return false
}

// Wakes tells whether a system event under this key is one that a beat tells by
// itself: a job's (cron:), a command's (exec:), a hook's (hook:), a person's
// (wake:).
func Wakes(key string) bool {
	kind, _, ok := strings.Cut(key, ":")
	return ok && (kind == "cron" || kind == "exec" || kind == "hook" || kind == "wake")
}

// run asks the model and ends the beat.
func (b *beat) run(ctx context.Context, rep Report, tasks []Task) Report {
	if b.id == "" {
		b.id = strings.ToLower(rand.Text()[:16])
	}
	rep.Turn = b.id
	if b.reason == Trial {
		return b.try(ctx, rep, tasks)
	}
	b.row.Turn, b.row.Reason, b.row.Began, b.row.Running = b.id, b.reason, b.start, names(tasks)
	if err := b.Rows.PutHeartbeat(ctx, b.row); err != nil {
		return b.broken(rep, err)
	}
	session := b.session()
	if session != b.base && b.c.Model.IsZero() {
		// The run itself never sees the base session's row [H21].
		if _, err := b.Engine.ClearStale(ctx, b.ask(b.base)); err != nil {
			b.Log.Error("clearing rule not applied", "session", b.base, "err", err)
		}
	}
	text, system := prompt(b.c, b.reason, b.tells(), tasks, b.file, b.start)
	if session != b.base {
		text = policy.WithEvents(lines(b.events), text)
	}
	var v Verdict
	res, err := b.Bot.Turn(ctx, bot.Turn{
		ID: b.id, Session: session, Agent: b.agent, Kind: fallback.Heartbeat, Text: text, System: system, Recall: Mark,
		Model: b.c.Model, Fallbacks: b.c.Fallbacks, Listed: b.c.Listed, Channel: b.channelModel(),
		Fresh: session != b.base, Light: b.c.Light, Timeout: b.c.timeout(), To: b.place.To,
		Typing: b.seen.Indicator && b.place.To == b.sess.Route, // where the session's own turns show it [H24]
		Acting: func(ctx context.Context) error { return b.acting(ctx, tasks) },
		Judge: func(res bot.Result) bot.Verdict {
			v = Judge(b.c, b.seen, b.row, res.Text, b.Now())
			return bot.Verdict{Text: v.Text, Why: string(v.Why), Forget: v.Forget}
		},
	})
	rep.Took = b.Now().Sub(b.start)
	if err != nil {
		return b.failed(ctx, rep, err)
	}
	if session != b.base && len(b.events) > 0 {
		if err := b.Rows.TakeEvents(ctx, b.base, b.events[len(b.events)-1].ID); err != nil {
			b.Log.Error("events that were told are told again", "session", b.base, "err", err)
		}
	}
	return b.answered(ctx, rep, res, v, tasks)
}

// acting writes down that the beat is about to do something outside: if it is cut
// short from here on, the next start does not take it up, since that would do it
// twice [I8], and its tasks count as done.
func (b *beat) acting(ctx context.Context, tasks []Task) error {
	row := b.row
	row.Turn, row.Running = "", nil
	row.Tasks = stamped(row.Tasks, b.file.Tasks, names(tasks), b.start)
	return b.Rows.PutHeartbeat(ctx, row)
}

// try asks the model and leaves nothing behind but the record of the call. It
// runs beside the session, whose events stay for those who are to hear of them.
func (b *beat) try(ctx context.Context, rep Report, tasks []Task) Report {
	text, system := prompt(b.c, b.reason, b.tells(), tasks, b.file, b.start)
	res, err := b.Bot.Turn(ctx, bot.Turn{
		ID: b.id, Session: b.session(), Agent: b.agent, Kind: fallback.Heartbeat, Text: policy.WithEvents(lines(b.events), text), System: system,
		Model: b.c.Model, Fallbacks: b.c.Fallbacks, Listed: b.c.Listed, Channel: b.channelModel(),
		Fresh: true, Light: b.c.Light, Timeout: b.c.timeout(), Dry: true,
		Judge: func(bot.Result) bot.Verdict { return bot.Verdict{Why: string(WhyTrial), Forget: true} },
	})
	rep.Took = b.Now().Sub(b.start)
	if err != nil {
		rep.Status, rep.Why, rep.Detail = Failed, WhyFailed, provider.Redact(err.Error())
		return rep
	}
	rep.Status, rep.Why, rep.Text, rep.Model = Ran, WhyTrial, res.Text, res.Outcome.Used
	return rep
}

// answered writes down a beat that a model answered.
func (b *beat) answered(ctx context.Context, rep Report, res bot.Result, v Verdict, tasks []Task) Report {
	rep.Status, rep.Why, rep.Text, rep.Posted, rep.Model = Ran, v.Why, v.Text, res.Posted, res.Outcome.Used
	if v.Text != "" && res.Posted == "" {
		rep.Why = b.place.Why
	}
	if rep.Why == WhyPosted {
		b.row.Text, b.row.TextAt = hash(v.Text), b.Now()
	}
	b.row.Failures, b.row.Failed, b.row.FailedAt = 0, "", time.Time{}
	b.row.Tasks = stamped(b.row.Tasks, b.file.Tasks, names(tasks), b.start)
	b.write(ctx, rep)
	b.Log.Info("heartbeat", "agent", b.agent, "reason", b.reason, "status", rep.Status, "why", rep.Why, "model", rep.Model, "turn", rep.Turn, "took", rep.Took)
	return rep
}

// failed writes down a beat that no model answered, and tells the room, once
// for each trouble in a day [H22].
func (b *beat) failed(ctx context.Context, rep Report, err error) Report {
	switch {
	case errors.Is(err, bot.ErrShutdown):
		// The row keeps the beat: the next start takes it up.
		rep.Status, rep.Why, rep.Detail = Skipped, WhyInterrupted, "standin was stopped"
		return rep
	case errors.Is(err, bot.ErrAborted):
		rep.Status, rep.Why, rep.Detail = Skipped, WhyInterrupted, "somebody stopped it"
		return b.skipped(ctx, rep)
	case fallback.CauseOf(err, b.Now()).Kind == fallback.CauseBudget:
		// The operator's own limit is no trouble: rooms are not told of it [D20].
		rep.Status, rep.Why, rep.Detail = Skipped, WhyBudget, provider.Redact(err.Error())
		return b.skipped(ctx, rep)
	}
	rep.Status, rep.Why, rep.Detail = Failed, WhyFailed, provider.Redact(err.Error())
	b.row.Failures++
	key, line := bot.SayBeatFailed(err, b.Now())
	b.Log.Warn("heartbeat failed", "agent", b.agent, "reason", b.reason, "failures", b.row.Failures, "err", rep.Detail)
	again := b.row.Failed == key && b.Now().Sub(b.row.FailedAt).Abs() < sameTrouble
	if b.seen.Alerts && b.place.To.Channel != "" && !again {
		out := channels.Outbound{ID: b.id + "-f", To: b.place.To, Kind: channels.Failure, Text: line}
		if err := b.Bot.Post(ctx, out); err != nil {
			b.Log.Error("failure of a heartbeat not told", "agent", b.agent, "err", err)
		} else {
			rep.Posted, rep.Text = out.ID, line
			b.row.Failed, b.row.FailedAt = key, b.Now()
		}
	}
	b.write(ctx, rep)
	return rep
}

// sameTrouble is how long a room is not told of the same failure again [H22, H8].
const sameTrouble = 24 * time.Hour

// skipped writes down a beat that did not run. What passes in a moment is no
// news and is not written.
func (b *beat) skipped(ctx context.Context, rep Report) Report {
	if b.row.Turn == "" && (rep.Why.passes() || b.row.Status == Skipped && b.row.Why == rep.Why && b.row.Due.Equal(rep.Next) && rep.Why == WhyCooling) {
		return rep
	}
	b.write(ctx, rep)
	b.Log.Log(ctx, slog.LevelDebug, "heartbeat passed over", "agent", b.agent, "reason", b.reason, "why", rep.Why, "again", rep.Next)
	return rep
}

// broken is a beat that a fault of ours ended.
func (b *beat) broken(rep Report, err error) Report {
	b.Log.Error("heartbeat not run", "agent", b.agent, "err", err)
	rep.Status, rep.Why, rep.Detail = Failed, WhyFailed, provider.Redact(err.Error())
	return rep
}

// write brings the row up to date with a report.
func (b *beat) write(ctx context.Context, rep Report) {
	b.row.Turn, b.row.Reason, b.row.Began, b.row.Running = "", rep.Reason, time.Time{}, nil
	b.row.Status, b.row.Why, b.row.Detail, b.row.At = rep.Status, rep.Why, clip(rep.Detail, 500), b.start
	if rep.Status != Skipped {
		b.row.Last, b.row.Model = b.start, rep.Model.String()
	}
	b.row.Due = rep.Next
	if b.row.Due.IsZero() {
		b.row.Due, _ = Next(b.start, b.c.Every, Phase(b.planted(), b.agent, b.c.Every), b.c.Hours)
	}
	if err := b.Rows.PutHeartbeat(ctx, b.row); err != nil {
		b.Log.Error("heartbeat not written down", "agent", b.agent, "err", err)
	}
}

// resume takes up beats that a former process left: one whose post was written
// has run; another runs again, under the same turn id, so that nothing is said
// twice and nothing is lost [I2].
func (r *Runner) resume(ctx context.Context) {
	s := r.Settings()
	for _, a := range s.Agents {
		row, err := r.Rows.Heartbeat(ctx, a)
		if err != nil {
			r.Log.Error("heartbeat of a former process not read", "agent", a, "err", err)
			continue
		}
		if row.Turn == "" {
			continue
		}
		b := &beat{Runner: r, s: s, c: s.For(a), agent: a, reason: row.Reason, id: row.Turn, row: row, start: row.Began}
		text, at, found, err := r.Rows.Delivered(ctx, row.Turn+"-r")
		switch {
		case err != nil:
			r.Log.Error("post of a former process not looked up", "agent", a, "err", err)
		case found:
			b.row.Text, b.row.TextAt, b.row.Failures = hash(text), at, 0
			b.file = ReadFile(b.c.File, r.ReadFile)
			b.row.Tasks = stamped(row.Tasks, b.file.Tasks, row.Running, row.Began)
			b.write(ctx, Report{Agent: a, Reason: row.Reason, Status: Ran, Why: WhyPosted, Detail: "standin was stopped after it"})
		default:
			r.mu.Lock()
			p := r.pulseLocked(a, b.c, r.Now())
			p.again, p.from, p.resume = r.Now(), row.Reason, row.Turn
			r.mu.Unlock()
			r.Log.Info("heartbeat of a former process runs again", "agent", a, "turn", row.Turn)
		}
	}
}

// stamped moves the stamps of the tasks that were done, and forgets those of
// tasks that are not in the file any more [H9].
func stamped(stamps map[string]time.Time, tasks []Task, done []string, at time.Time) map[string]time.Time {
	kept := maps.Clone(stamps)
	if kept == nil {
		kept = map[string]time.Time{}
	}
	for _, name := range done {
		kept[name] = at
	}
	maps.DeleteFunc(kept, func(name string, _ time.Time) bool { return !hasTask(tasks, name) })
	return kept
}

func names(tasks []Task) (list []string) {
	for _, t := range tasks {
		list = append(list, t.Name)
	}
	return list
}

func lines(events []bot.SystemEvent) (list []policy.Line) {
	for _, e := range events {
		list = append(list, policy.Line{Text: e.Text, At: e.At})
	}
	return list
}
