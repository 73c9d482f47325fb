package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"standin/bot/operator/rows"
	"standin/fallback"
)

// What the operator looks at: steps, runs and stretches, found by indexes and
// read a page at a time. Pages go backwards: Before is the id of the last row of
// the page in front.

// StepsBack gives a page of steps, the latest first. What this process recorded
// before the call is among them.
func (d *DB) StepsBack(ctx context.Context, of rows.StepsOf) (list []rows.KeptStep, err error) {
	d.settleJournal(ctx)
	w := where{}
	w.is("run", of.Run)
	w.is("session", string(of.Session))
	if of.Reason != "" {
		w.add("reason = ? AND reason <> ''", of.Reason)
	}
	switch {
	case of.Model != "" && of.Reason != "":
		w.add("+model = ?", of.Model) // failures are fewer than a model's steps: their index has both
	case of.Model != "":
		w.add("model = ? AND model <> ''", of.Model)
	}
	if of.What != "" {
		w.add("what = ?", string(of.What))
		if of.What != fallback.StepAttempt && of.What != fallback.StepDecision {
			w.add("what NOT IN ('attempt', 'decision')") // what its index is about
		}
	}
	if err := d.within(ctx, &w, "steps", "id", "at", of.From, of.To); err != nil {
		return nil, err
	}
	w.before("id", of.Before)
	err = d.main.each(ctx, `SELECT id, step FROM steps`+w.sql()+` ORDER BY id DESC LIMIT ?`, append(w.args, of.Limit), func(scan func(...any) error) error {
		var one rows.KeptStep
		var text []byte
		if err := scan(&one.ID, &text); err != nil {
			return err
		}
		if err := json.Unmarshal(text, &one.Step); err != nil {
			return fmt.Errorf("step %d: %w", one.ID, err)
		}
		list = append(list, one)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read steps: %w", err)
	}
	return list, nil
}

// RunsBack gives a page of the run log, the latest first.
func (d *DB) RunsBack(ctx context.Context, of rows.RunsOf) (list []rows.LoggedRun, err error) {
	d.settleJournal(ctx)
	w := where{}
	w.is("run", of.Run)
	w.is("session", string(of.Session))
	w.is("agent", string(of.Agent))
	w.is("answered", of.Answered)
	if of.Reason != "" {
		w.add("reason = ? AND reason <> ''", of.Reason)
	}
	if of.Outcome != "" {
		w.add("outcome = ?", of.Outcome)
		if of.Outcome != runAnswered {
			w.add("outcome <> 'answered'")
		}
	}
	if of.Kind != "" {
		w.add("kind = ?", string(of.Kind))
		if of.Kind != fallback.Chat {
			w.add("kind <> 'chat'")
		}
	}
	if err := d.within(ctx, &w, "run_log", "seq", "began", of.From, of.To); err != nil {
		return nil, err
	}
	w.before("seq", of.Before)
	err = d.main.each(ctx, `SELECT seq, run, session, agent, kind, began, ended, outcome, requested, answered, reason, attempts, skips, probes FROM run_log`+w.sql()+` ORDER BY seq DESC LIMIT ?`,
		append(w.args, of.Limit), func(scan func(...any) error) error {
			var r rows.LoggedRun
			var began, ended int64
			err := scan(&r.Seq, &r.Run, &r.Session, &r.Agent, &r.Kind, &began, &ended, &r.Outcome, &r.Requested, &r.Answered, &r.Reason, &r.Attempts, &r.Skips, &r.Probes)
			r.Began, r.Ended = moment(began), moment(ended)
			list = append(list, r)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("read the run log: %w", err)
	}
	return list, nil
}

// settleJournal has what was recorded so far stand in rows. On a full disk the
// older rows are still told.
func (d *DB) settleJournal(ctx context.Context) {
	if d.journal != nil {
		d.journal.report(d.journal.flush(ctx))
	}
}

// unsettled is how much earlier a row may have been dated than one that was
// written before it: runs go on side by side.
const unsettled = int64(time.Minute / time.Millisecond)

// within narrows rows to those dated from from until before to. Ids grow with
// time, so the bounds become bounds of ids, which every index has: without that
// the planner would choose between the order and the time.
func (d *DB) within(ctx context.Context, w *where, table, id, at string, from, to time.Time) error {
	edge := func(bound int64, compare string) error {
		var first int64
		found, err := d.main.row(ctx, `SELECT `+id+` FROM `+table+` WHERE `+at+` >= ? ORDER BY `+at+`, `+id+` LIMIT 1`, []any{bound}, &first)
		switch {
		case err != nil:
			return fmt.Errorf("find a time in %s: %w", table, err)
		case found:
			w.add(id+compare, first)
		case compare == " >= ?":
			w.add("FALSE")
		}
		return nil
	}
	if !from.IsZero() {
		if err := edge(millis(from)-unsettled, " >= ?"); err != nil {
			return err
		}
		w.add("+"+at+" >= ?", millis(from))
	}
	if !to.IsZero() {
		if err := edge(millis(to)+unsettled, " < ?"); err != nil {
			return err
		}
		w.add("+"+at+" < ?", millis(to))
	}
	return nil
}

// where is a condition in the making.
type where struct {
	parts []string
	args  []any
}

func (w *where) add(part string, args ...any) {
	w.parts, w.args = append(w.parts, part), append(w.args, args...)
}

// is asks for a value, unless it is "".
func (w *where) is(column, value string) {
	if value != "" {
		w.add(column+" = ?", value)
	}
}

func (w *where) before(column string, id int64) {
	if id > 0 {
		w.add(column+" < ?", id)
	}
}

func (w *where) sql() string {
	if len(w.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.parts, " AND ")
}
