package store

import (
	"standin/fallback"
)

// The run log has a row for each run of the journal, and stretches say which
// model answered a session from when to when. Both are made of steps, in the
// transaction that writes these: a list over a million of them reads rows.

// How a run came out, as far as its steps tell.
const (
	runAnswered = "answered"
	runFailed   = "failed"  // the chain came to its end
	runChanged  = "changed" // a person changed the choice, no model was thought of
	runOpen     = "open"
)

// logged is what one step, or the steps of one run in a batch, say of the run.
type logged struct {
	run, session, agent, kind string
	model, failure            string // of an attempt or a skip: what the step's row is found by
	began, ended              int64
	outcome                   string // "": nothing new
	requested, answered       string
	reason                    string // of the first failure
	attempts, skips, probes   int
}

// loggedOf reads a step.
func loggedOf(s fallback.Step) logged {
	l := logged{run: s.Run, session: string(s.Session), agent: string(s.Agent), kind: string(s.Kind), began: millis(s.At), ended: millis(s.At)}
	switch a := s.Attempt; {
	case a != nil:
		l.model = a.Model.String()
		if a.Position == 1 {
			l.requested = l.model
		}
		switch {
		case a.OK && a.Asks: // the run goes on, and may come to nothing
			l.attempts = 1
		case a.OK:
			l.attempts, l.outcome, l.answered = 1, runAnswered, l.model
		case a.Skipped != "":
			l.skips, l.failure = 1, string(a.Reason)
		default:
			l.attempts, l.failure = 1, reasonOf(a)
		}
		if a.Probe != fallback.NoProbe {
			l.probes = 1
		}
		l.reason = l.failure
	case s.Record != nil && s.Record.Exhausted():
		l.outcome = runFailed
	}
	return l
}

// reasonOf is the class of a failure, or the label where there is no class.
func reasonOf(a *fallback.Attempt) string {
	if a.Reason != "" {
		return string(a.Reason)
	}
	return string(a.Label)
}

// add puts a later step's word to the others of its run.
func (l *logged) add(o logged) {
	l.ended = max(l.ended, o.ended)
	l.attempts, l.skips, l.probes = l.attempts+o.attempts, l.skips+o.skips, l.probes+o.probes
	if l.requested == "" {
		l.requested = o.requested
	}
	if l.reason == "" {
		l.reason = o.reason
	}
	if o.outcome != "" {
		l.outcome, l.answered = o.outcome, o.answered
	}
}

// logRuns writes what the steps of a batch say of their runs, in the order in
// which these appear.
func (t *tx) logRuns(batch []logged) error {
	var order []string
	runs := map[string]*logged{}
	for _, one := range batch {
		if one.run == "" {
			continue
		}
		if l := runs[one.run]; l != nil {
			l.add(one)
			continue
		}
		runs[one.run], order = &one, append(order, one.run)
	}
	for _, run := range order {
		if err := t.logRun(runs[run]); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) logRun(l *logged) error {
	var outcome, answered, reason, requested string
	known, err := t.row(`SELECT outcome, answered, reason, requested FROM run_log WHERE run = ?`, []any{l.run}, &outcome, &answered, &reason, &requested)
	if err != nil {
		return err
	}
	news := l.outcome
	switch {
	case news != "":
	case outcome == runAnswered || outcome == runFailed:
		news, l.answered = outcome, answered
	case l.attempts+l.skips > 0 || outcome == runOpen:
		news = runOpen
	default:
		news = runChanged
	}
	if reason == "" {
		reason = l.reason
	}
	if requested == "" {
		requested = l.requested
	}
	if !known {
		_, err = t.exec(`INSERT INTO run_log (run, session, agent, kind, began, ended, outcome, requested, answered, reason, attempts, skips, probes) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)`,
			l.run, l.session, l.agent, l.kind, l.began, l.ended, news, requested, l.answered, reason, l.attempts, l.skips, l.probes)
	} else {
		_, err = t.exec(`UPDATE run_log SET ended = max(ended, ?), outcome = ?, requested = ?, answered = ?, reason = ?, attempts = attempts + ?, skips = skips + ?, probes = probes + ? WHERE run = ?`,
			l.ended, news, requested, l.answered, reason, l.attempts, l.skips, l.probes, l.run)
	}
	if err != nil || l.outcome == "" || l.session == "" || l.kind == string(fallback.ProbeRun) || l.kind == string(fallback.Compaction) {
		return err
	}
	turns := 1
	if known && outcome == l.outcome && answered == l.answered {
		turns = 0 // one that is told twice
	}
	if l.answered == requested && l.outcome == runAnswered {
		reason = ""
	}
	return t.stretch(l, reason, turns)
}

// stretch lengthens the session's last stretch, or begins another.
func (t *tx) stretch(l *logged, reason string, turns int) error {
	var id int64
	var model string
	found, err := t.row(`SELECT id, model FROM stretches WHERE session = ? ORDER BY id DESC LIMIT 1`, []any{l.session}, &id, &model)
	switch {
	case err != nil:
		return err
	case found && model == l.answered:
		_, err = t.exec(`UPDATE stretches SET ended = max(ended, ?), turns = turns + ? WHERE id = ?`, l.ended, turns, id)
	default:
		_, err = t.exec(`INSERT INTO stretches (session, agent, model, reason, began, ended, turns) VALUES (?,?,?,?,?,?,1)`,
			l.session, l.agent, l.answered, reason, l.ended, l.ended)
	}
	return err
}
