package cronjobs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

// Older is a job of an older store as standin would keep it, or the reason why it
// cannot [R12, R63].
type Older struct {
	Name  string // or its id, for people
	Job   Job
	Notes []string // what is written otherwise today
	Err   error
}

// ReadOlder reads a jobs.json: a list of jobs, or an object that holds one.
// webhook is the URL that cron.webhook named, "" for none: jobs that asked for it
// by notify keep being told to it.
func ReadOlder(data []byte, webhook string) (all []Older, err error) {
	var file struct {
		Jobs []json.RawMessage `json:"jobs"`
	}
	if list := bytes.TrimSpace(data); len(list) > 0 && list[0] == '[' {
		err = json.Unmarshal(list, &file.Jobs)
	} else {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("it is no list of jobs: %w", err)
	}
	for _, raw := range file.Jobs {
		all = append(all, readOlder(raw, webhook))
	}
	return all, nil
}

// olderState is what is taken over of a job's past: what is needed to go on and
// to tell how it was.
type olderState struct {
	LastRun    Millis `json:"lastRunAtMs"`
	LastStatus Status `json:"lastRunStatus"`
	Last       Status `json:"lastStatus"` // an older name of it
	LastError  string `json:"lastError"`
	Errors     int    `json:"consecutiveErrors"`
}

func readOlder(raw json.RawMessage, webhook string) (o Older) {
	var tree map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if o.Err = d.Decode(&tree); o.Err != nil {
		o.Name, o.Err = "without a name", errors.New("it is no JSON object")
		return o
	}
	for _, key := range []string{"id", "jobId", "name"} {
		if s, ok := tree[key].(string); ok && s != "" {
			o.Name = s
		}
	}
	var was olderState
	if state, ok := tree["state"]; ok {
		text, _ := json.Marshal(state)
		_ = json.Unmarshal(text, &was) // what cannot be read of the past is left behind
		delete(tree, "state")
	}
	for _, key := range []string{"isolation", "configRevision", "declarationKey", "displayName", "owner"} {
		delete(tree, key) // of the other program's own housekeeping
	}
	if p := object(tree, "payload"); p != nil {
		delete(p, "allowUnsafeExternalContent") // of hooks, whose words are always held apart here [R30]
		delete(p, "externalContentSource")
	}
	if kind, _ := object(tree, "payload")["kind"].(string); strings.EqualFold(kind, "command") {
		o.Err = fault("payload.kind", "is command: standin's jobs run no programs by themselves", "have an agent run it: an agentTurn whose message says so")
		return o
	}
	asked := tree["notify"] == true
	delete(tree, "notify")
	text, _ := json.Marshal(tree)
	if o.Job, o.Notes, o.Err = Decode(text); o.Err != nil {
		return o
	}
	if asked {
		o.Notes = append(o.Notes, o.Job.notified(webhook))
	}
	j := &o.Job
	if j.Schedule.Kind == KindEvery && j.Schedule.AnchorMs == 0 {
		j.Schedule.AnchorMs = j.CreatedAt // its beat stays what it was [R17]
	}
	if was.LastStatus == "" {
		was.LastStatus = was.Last
	}
	j.State = State{LastRun: was.LastRun, LastStatus: was.LastStatus, LastError: was.LastError, Errors: was.Errors}
	return o
}

// notified has a job that asked for it told to the webhook of all jobs, and says
// what came of it.
func (j *Job) notified(webhook string) string {
	u, err := url.Parse(webhook)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "notify is left out: cron.webhook named no URL"
	}
	to := Place{Mode: Webhook, To: webhook}
	switch p := j.way(); {
	case p.Mode == Webhook:
		return "notify is left out: the job has a webhook of its own"
	case p.Mode == Announce:
		d := Delivery{Place: p}
		if j.Delivery != nil {
			d = *j.Delivery
		}
		d.Completion = &to
		j.Delivery = &d
		return "notify is now delivery.completionDestination"
	}
	j.Delivery = &Delivery{Place: to}
	return "notify is now delivery.mode webhook"
}

// olderRun is a line of an older record.
type olderRun struct {
	At       Millis         `json:"ts"`
	Job      JobID          `json:"jobId"`
	Action   string         `json:"action"`
	Status   Status         `json:"status"`
	Error    string         `json:"error"`
	Summary  string         `json:"summary"`
	Delivery DeliveryStatus `json:"deliveryStatus"`
	Session  string         `json:"sessionKey"`
	Began    Millis         `json:"runAtMs"`
	Took     int64          `json:"durationMs"`
	Next     Millis         `json:"nextRunAtMs"`
	Model    string         `json:"model"`
	Provider string         `json:"provider"`
	Usage    struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"usage"`
}

// ReadOlderRuns reads the newest most lines of a job's runs/<id>.jsonl, oldest
// first. Lines that cannot be read are left out.
func ReadOlderRuns(r io.Reader, j Job, most int) (runs []Run, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var was olderRun
		if json.Unmarshal(lines.Bytes(), &was) != nil || was.Action != "finished" || was.At == 0 {
			continue
		}
		if was.Began == 0 {
			was.Began = was.At
		}
		run := Run{ID: RunID(fmt.Sprintf("older:%s:%d", j.ID, was.At)), Job: j.ID, Name: j.Name, Agent: j.Agent, Session: was.Session, Trigger: OnSchedule,
			Started: was.Began, Ended: was.At, Took: was.Took, Status: was.Status, Error: was.Error, Summary: cut(was.Summary, summaryMost),
			Used: was.Model, Delivery: Delivers{Status: was.Delivery}, Next: was.Next}
		if was.Provider != "" && was.Model != "" && !strings.HasPrefix(was.Model, was.Provider+"/") {
			run.Used = was.Provider + "/" + was.Model
		}
		if run.Delivery.Status != Delivered && run.Delivery.Status != NotDelivered {
			run.Delivery.Status = NotRequested // nobody follows what another program has sent
		}
		if was.Usage.Input+was.Usage.Output > 0 {
			run.Tokens = &Tokens{Input: was.Usage.Input, Output: was.Usage.Output}
		}
		if runs = append(runs, run); len(runs) > most {
			runs = runs[1:]
		}
	}
	return runs, lines.Err()
}

// Passed tells whether a one-shot job's time is over, so that nothing is left to
// be taken over.
func (j *Job) Passed(now time.Time) bool {
	if j.Schedule.Kind != KindAt {
		return false
	}
	at, err := ParseMoment(j.Schedule.At, j.Schedule.Zone)
	return err == nil && now.Sub(at) > latest
}
