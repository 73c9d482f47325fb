package cronjobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"standin/bot"
	"standin/bot/tools"
	"standin/channels"
)

// mostOfChat bounds the jobs that agents keep for one chat: a model that makes
// jobs which make jobs must come to an end.
const mostOfChat = 50

// toolShown is how many next times and runs a model is shown.
const toolShown = 3

// toolInput is what the cron tool is asked.
type toolInput struct {
	Action    string
	Job       string
	Name      *string
	Message   *string
	At        string
	Every     string
	Cron      string
	TZ        string
	Model     *string
	Fallbacks *[]string
	Text      string
}

const toolSchema = `{"type":"object","properties":{
"action":{"type":"string","enum":["add","list","show","update","enable","disable","remove","run","runs","status","wake"]},
"job":{"type":"string","description":"show, update, enable, disable, remove, run, runs: its id or name."},
"name":{"type":"string","description":"add: a few words to know it by."},
"message":{"type":"string","description":"add: what you will be asked to do then. You will see this and nothing of today's conversation, so write all that is needed; for a reminder write whom to remind of what."},
"at":{"type":"string","description":"add: once. From now (20m, 2h, 1d), or a time with its zone (2026-12-24T18:00:00+01:00), or with tz beside it."},
"every":{"type":"string","description":"add: again and again (30m, 2h, 1d)."},
"cron":{"type":"string","description":"add: by a cron expression, minute hour day month weekday."},
"tz":{"type":"string","description":"The zone of at or cron, such as Europe/Berlin."},
"model":{"type":"string","description":"add, update: asked first. Default: what you run on."},
"fallbacks":{"type":"array","items":{"type":"string"},"description":"add, update: exactly these behind it; [] for none."},
"text":{"type":"string","description":"wake: what the agent's main session is told."}},
"required":["action"],"additionalProperties":false}`

// desk is the cron tool at work for one place.
type desk struct {
	*Book
	s  *Scheduler
	at tools.Place
}

// Tool is cron [R70]: an agent keeps jobs and reminders. A job that it makes in
// a chat belongs to that chat and answers there. In rooms it is for the owner
// [R71]; elsewhere others have the jobs that were made for them, and what these
// run has no more rights than they.
func Tool(book func() *Book, s *Scheduler) tools.Tool {
	return tools.Tool{
		Name: "cron", Acts: true, RoomOwner: true, Schema: toolSchema,
		Description: "Reminders and jobs: things that you are to do at a time, or again and again. Use it when somebody asks to be reminded, or for something later or regular; a promise alone does nothing. Tell the person the time that it gives back.",
		Run: func(ctx context.Context, at tools.Place, input json.RawMessage) (tools.Result, error) {
			in, err := tools.Read[toolInput](input)
			if err != nil {
				return tools.Result{}, err
			}
			return desk{book(), s, at}.do(ctx, in)
		},
	}
}

func (d desk) do(ctx context.Context, in toolInput) (tools.Result, error) {
	switch in.Action {
	case "add":
		return d.add(ctx, in)
	case "list":
		return d.list(ctx)
	case "status":
		if !d.private() {
			return tools.Result{}, errOwners
		}
		h, err := d.s.Status(ctx)
		return tools.Result{Text: SayHealth(h), Idle: true}, err
	case "wake":
		return d.wake(ctx, in.Text)
	case "show", "update", "enable", "disable", "remove", "run", "runs":
		j, err := d.find(ctx, in.Job)
		if err != nil {
			return tools.Result{}, err
		}
		return d.with(ctx, j, in)
	}
	return tools.Result{}, fmt.Errorf("there is no action %q: add, list, show, update, enable, disable, remove, run, runs, status or wake", in.Action)
}

// errOwners refuses what reaches beyond the jobs of a chat.
var errOwners = errors.New("this is for the owner, in a direct chat")

// private tells whether the place sees the jobs of all chats.
func (d desk) private() bool { return d.at.Owner && !d.at.Shared() }

// theirs tells whether a job may be seen and changed from here. A job of the
// owner is not a guest's, though they share a conversation (dmScope main).
func (d desk) theirs(j Job) bool {
	return d.private() || j.SessionKey == string(d.at.Session) && (d.at.Owner || j.Guest)
}

func (d desk) find(ctx context.Context, ref string) (Job, error) {
	if strings.TrimSpace(ref) == "" {
		return Job{}, errors.New("which job? Give its id or name; list shows them")
	}
	j, err := d.Find(ctx, ref)
	if err != nil && d.private() {
		return j, err
	}
	if err != nil || !d.theirs(j) {
		return Job{}, fmt.Errorf("this chat has no job %q; list shows those that it has", ref)
	}
	return j, nil
}

// add makes a job of this chat.
func (d desk) add(ctx context.Context, in toolInput) (tools.Result, error) {
	all, err := d.Store.Jobs(ctx)
	if err != nil {
		return tools.Result{}, err
	}
	n := 0
	for _, j := range all {
		if j.SessionKey == string(d.at.Session) {
			n++
		}
	}
	if n >= mostOfChat {
		return tools.Result{}, fmt.Errorf("this chat has %d jobs already, which is as many as it may; remove some first", n)
	}
	j := Job{Enabled: true, Agent: d.at.Agent, SessionKey: string(d.at.Session), Guest: !d.at.Owner, Target: Isolated,
		Delivery: &Delivery{Place: here(d.at.To)}}
	if in.Message == nil || strings.TrimSpace(*in.Message) == "" {
		return tools.Result{}, errors.New("what is to be done then? Give message")
	}
	if in.Name == nil || strings.TrimSpace(*in.Name) == "" {
		name := cut(oneLine(*in.Message), 40)
		in.Name = &name
	}
	if in.At+in.Every+in.Cron == "" {
		return tools.Result{}, errors.New("when? Give one of at, every and cron")
	}
	if err := in.apply(&j, d.Now()); err != nil {
		return tools.Result{}, err
	}
	if j, err = d.Add(ctx, j, d.at.Session); err != nil {
		return tools.Result{}, err
	}
	d.s.Nudge()
	return d.tell(ctx, "Added", j)
}

// here is the chat of the tool's use, or where the agent was last spoken to.
func here(to channels.Address) Place {
	if to == (channels.Address{}) {
		return Place{Mode: Announce, Channel: Last}
	}
	return Place{Mode: Announce, Channel: to.Channel, To: "conversation:" + to.Conversation, Thread: to.Thread, Account: to.Account}
}

// apply changes the job as the input says.
func (in toolInput) apply(j *Job, now time.Time) error {
	if in.Name != nil {
		j.Name = *in.Name
	}
	if in.Message != nil {
		j.Payload.Kind, j.Payload.Message = AgentTurn, *in.Message
	}
	if in.Model != nil {
		j.Payload.Model = *in.Model
	}
	if in.Fallbacks != nil {
		j.Payload.Fallbacks = in.Fallbacks
	}
	given := 0
	for _, s := range []string{in.At, in.Every, in.Cron} {
		if s != "" {
			given++
		}
	}
	switch {
	case given > 1:
		return errors.New("at, every and cron say different things; give one of them")
	case in.At != "":
		at, err := moment(in.At, in.TZ, now)
		j.Schedule = Schedule{Kind: KindAt, At: at.UTC().Format(time.RFC3339), Zone: in.TZ}
		return err
	case in.Every != "":
		every, err := duration(in.Every)
		j.Schedule = Schedule{Kind: KindEvery, EveryMs: every.Milliseconds()}
		return err
	case in.Cron != "":
		j.Schedule = Schedule{Kind: KindCron, Expr: in.Cron, Zone: in.TZ}
	}
	return nil
}

// moment reads a time that may be counted from now.
func moment(text, zone string, now time.Time) (time.Time, error) {
	if d, err := duration(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(text), "in "), "+")); err == nil {
		return now.Add(d), nil
	}
	return ParseMoment(text, zone)
}

// duration reads a duration that may be of days or weeks.
func duration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	for unit, d := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if n, ok := strings.CutSuffix(text, unit); ok {
			if days, err := strconv.ParseFloat(n, 64); err == nil && days > 0 && days < 4000 {
				return time.Duration(days * float64(d)), nil
			}
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is no duration; write it like 30s, 20m, 2h or 1d", text)
	}
	return d, nil
}

// with does something to a job that is theirs.
func (d desk) with(ctx context.Context, j Job, in toolInput) (res tools.Result, err error) {
	switch in.Action {
	case "show":
		return d.show(ctx, j)
	case "runs":
		return d.runs(ctx, j)
	case "run":
		asked, run, err := d.s.RunNow(ctx, j.ID, false)
		if err != nil {
			return res, err
		}
		return tools.Result{Text: SayAsked(j, asked, run), Idle: asked == AlreadyRunning}, nil
	case "remove":
		if _, err := d.Remove(ctx, j.ID); err != nil {
			return res, err
		}
		d.s.Cancel(j.ID)
		d.s.Nudge()
		return tools.Say("Removed %q.", j.Name)
	case "enable", "disable":
		j, err = d.Switch(ctx, j.ID, in.Action == "enable")
	default:
		j, err = d.Edit(ctx, j.ID, func(j *Job) error { return in.apply(j, d.Now()) })
	}
	if err != nil {
		return res, err
	}
	d.s.Nudge()
	return d.tell(ctx, "Changed", j)
}

// tell says what a new or changed job will do.
func (d desk) tell(ctx context.Context, done string, j Job) (tools.Result, error) {
	o, err := d.Look(ctx, j, toolShown)
	if err != nil {
		return tools.Say("%s %q (%s).", done, j.Name, short(j.ID))
	}
	return tools.Say("%s %q (%s).\n%s", done, j.Name, short(j.ID), SayAdded(o, d.Config.Home))
}

func (d desk) show(ctx context.Context, j Job) (tools.Result, error) {
	o, err := d.Look(ctx, j, toolShown)
	if err != nil {
		return tools.Result{}, err
	}
	return tools.Result{Text: fmt.Sprintf("%s (%s)\nIt asks: %s\n%s", j.Name, j.ID, j.Payload.said(), SayOutlook(o, d.Config.Home)), Idle: true}, nil
}

func (d desk) runs(ctx context.Context, j Job) (tools.Result, error) {
	list, err := d.Store.Runs(ctx, RunsOf{Job: j.ID, Limit: toolShown})
	if err != nil || len(list) == 0 {
		return tools.Result{Text: fmt.Sprintf("%q has not run yet.", j.Name), Idle: true}, err
	}
	var out strings.Builder
	for _, r := range list {
		fmt.Fprintf(&out, "%s ", r.Started.Time().In(zoneOf(j, d.Config.Home)).Format(clockFormat))
		out.WriteString(SayRun(r))
	}
	return tools.Result{Text: out.String(), Idle: true}, nil
}

func (d desk) list(ctx context.Context) (tools.Result, error) {
	all, err := d.Store.Jobs(ctx)
	if err != nil {
		return tools.Result{}, err
	}
	var theirs []Job
	for _, j := range all {
		if d.theirs(j) {
			theirs = append(theirs, j)
		}
	}
	if len(theirs) == 0 {
		return tools.Result{Text: "There is no job.", Idle: true}, nil
	}
	var out strings.Builder
	err = ListJobs(&out, theirs, d.Config.Home, d.Now())
	return tools.Result{Text: out.String(), Idle: true}, err
}

// wake tells the agent's main session something and has it look at it.
func (d desk) wake(ctx context.Context, text string) (tools.Result, error) {
	if !d.private() {
		return tools.Result{}, errOwners
	}
	if strings.TrimSpace(text) == "" {
		return tools.Result{}, errors.New("what is the agent to be told? Give text")
	}
	d.s.note(ctx, d.at.Agent, fmt.Sprintf("%s%d", bot.WakeKey, At(d.Now())), oneLine(text))
	if d.s.Waker != nil {
		d.s.Waker.Request(d.at.Agent, "the cron tool")
	}
	return tools.Say("The agent hears of it with its next heartbeat or turn.")
}
