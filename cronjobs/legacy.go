package cronjobs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"standin/fallback"
)

// Decode reads a job as people and older programs write it. Older spellings are
// brought to today's form and named in notes [R12]; a field that means nothing is
// refused.
func Decode(data []byte) (j Job, notes []string, err error) {
	var tree map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return j, nil, fmt.Errorf("the job is no JSON object: %w", err)
	}
	n := normaliser{tree: tree}
	n.job()
	clean, err := json.Marshal(tree)
	if err != nil {
		return j, nil, err
	}
	j.Enabled = true
	if err := strict(clean, &j); err != nil {
		return j, n.notes, err
	}
	return j, n.notes, nil
}

// strict reads JSON and refuses fields that mean nothing.
func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		return fault(kind.Field, "is "+kind.Value, "it should be "+strings.TrimPrefix(kind.Type.String(), "*"))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the job ends in the middle")
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name = strings.Trim(name, `"`)
		return fault(name, "is no field of a job", "see standin cron add --help for what there is")
	}
	return err
}

// normaliser brings older spellings to today's form.
type normaliser struct {
	tree  map[string]any
	notes []string
}

func (n *normaliser) note(from, to string) { n.notes = append(n.notes, from+" is now "+to) }

func object(in map[string]any, key string) map[string]any {
	m, _ := in[key].(map[string]any)
	return m
}

// move renames a key of one object into another, unless that is set already.
func (n *normaliser) move(from map[string]any, key, spelled string, to map[string]any, name, means string) bool {
	v, there := from[key]
	if !there {
		return false
	}
	delete(from, key)
	if _, set := to[name]; !set {
		to[name] = v
	}
	n.note(spelled, means)
	return true
}

func (n *normaliser) job() {
	t := n.tree
	n.move(t, "jobId", "jobId", t, "id", "id")
	n.schedule()
	p := object(t, "payload")
	if p == nil {
		p = map[string]any{}
		for _, key := range []string{"message", "text", "model", "thinking", "timeoutSeconds"} {
			if _, there := t[key]; there {
				n.move(t, key, key, p, key, "payload."+key)
			}
		}
		if len(p) > 0 {
			t["payload"] = p
		}
	}
	n.payload(p)
	n.delivery(p)
	if _, there := t["sessionTarget"]; !there {
		t["sessionTarget"] = string(Isolated)
		if kind, _ := p["kind"].(string); kind == string(SystemEvent) {
			t["sessionTarget"] = string(Main)
		}
	}
}

func (n *normaliser) schedule() {
	t := n.tree
	switch s := t["schedule"].(type) {
	case string:
		t["schedule"] = map[string]any{"kind": "cron", "expr": s}
		n.note("a schedule of one text", "schedule.kind cron with expr")
	case map[string]any:
		n.move(s, "cron", "schedule.cron", s, "expr", "schedule.expr")
		n.move(s, "timezone", "schedule.timezone", s, "tz", "schedule.tz")
		n.move(s, "every", "schedule.every", s, "everyMs", "schedule.everyMs")
		if n.move(s, "atMs", "schedule.atMs", s, "at", "schedule.at") {
			if ms, ok := s["at"].(json.Number); ok {
				s["at"] = ms.String()
			}
		}
		if ms, ok := s["at"].(json.Number); ok {
			s["at"] = ms.String()
		}
		if _, there := s["kind"]; !there {
			for key, kind := range map[string]Kind{"expr": KindCron, "everyMs": KindEvery, "at": KindAt} {
				if _, has := s[key]; has {
					s["kind"] = string(kind)
					n.note("a schedule without kind", "schedule.kind "+string(kind))
				}
			}
		}
	}
}

func (n *normaliser) payload(p map[string]any) {
	if p == nil {
		return
	}
	switch kind, _ := p["kind"].(string); strings.ToLower(kind) {
	case "agentturn", "agent_turn":
		p["kind"] = string(AgentTurn)
	case "systemevent", "system_event":
		p["kind"] = string(SystemEvent)
	case "":
		kind := AgentTurn
		if _, has := p["text"]; has && p["message"] == nil {
			kind = SystemEvent
		}
		p["kind"] = string(kind)
	}
}

// delivery gathers what used to stand in the payload, or beside it.
func (n *normaliser) delivery(p map[string]any) {
	t := n.tree
	d := object(t, "delivery")
	made := d == nil
	if made {
		d = map[string]any{}
	}
	for _, from := range []struct {
		in   map[string]any
		name string
	}{{p, "payload."}, {t, ""}} {
		if from.in == nil {
			continue
		}
		if v, there := from.in["deliver"]; there {
			delete(from.in, "deliver")
			mode := Announce
			if v == false || v == "false" {
				mode = None
			}
			if _, set := d["mode"]; !set {
				d["mode"] = string(mode)
			}
			n.note(from.name+"deliver", "delivery.mode")
		}
		for _, key := range []string{"channel", "to", "threadId", "accountId"} {
			n.move(from.in, key, from.name+key, d, key, "delivery."+key)
		}
		n.move(from.in, "bestEffortDeliver", from.name+"bestEffortDeliver", d, "bestEffort", "delivery.bestEffort")
	}
	for _, from := range []map[string]any{p, t} {
		if from != nil { // a channel by the name of its provider
			n.move(from, "provider", "provider", d, "channel", "delivery.channel")
		}
	}
	if made && len(d) > 0 {
		if _, set := d["mode"]; !set {
			d["mode"] = string(Announce)
		}
		t["delivery"] = d
	}
}

// settleCurrent fixes the target "current" for the chat that makes the job, if
// there is one [R3].
func (j *Job) settleCurrent(chat fallback.SessionID) {
	if j.Target != Current {
		return
	}
	j.Target = Isolated
	if chat != "" {
		j.Target = Target("session:" + string(chat))
	}
}
