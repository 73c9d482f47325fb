package operator

import (
	"cmp"
	"fmt"
	"time"

	"standin/bot"
	"standin/fallback"
	"standin/fallback/provider"
)

// viewStep shows a step of a run, in fields and in a sentence.
func viewStep(id int64, s fallback.Step) Decision {
	d := Decision{ID: id, At: s.At, Run: s.Run, Session: string(s.Session), Agent: string(s.Agent), Kind: string(s.Kind), What: string(s.What)}
	switch {
	case s.Attempt != nil:
		d.attempt(*s.Attempt)
	case s.Window != nil:
		w := s.Window
		d.Credential, d.Model, d.Reason, d.Until = string(w.Profile), w.Model, string(w.Window.Reason), w.Window.Until
		d.Text = fmt.Sprintf("%s rests until %s (%s%s)", d.Credential, bot.Clock(w.Window.Until, s.At), bot.Word(w.Window.Reason), onlyFor(w))
	case s.Write != nil:
		d.write(*s.Write)
	case s.Record != nil:
		d.record(*s.Record)
	case s.Tool != nil:
		d.tool(*s.Tool)
	}
	d.Detail, d.Text = provider.Redact(d.Detail), provider.Redact(d.Text)
	return d
}

func (d *Decision) attempt(a fallback.Attempt) {
	d.Model, d.Credential, d.Position, d.Total, d.Probe = a.Model.String(), string(a.Profile), a.Position, a.Total, string(a.Probe)
	d.Reason, d.Why, d.Status, d.Code = cmp.Or(string(a.Reason), string(a.Label)), string(a.Skipped), a.Status, a.Code
	d.Detail, d.Request, d.TookMs = a.Detail, a.Request, a.Took.Milliseconds()
	with := ""
	if a.Profile != "" {
		with = " with " + d.Credential
	}
	switch a.Probe {
	case fallback.PrimaryProbe:
		with += " (looking whether it is back)"
	case fallback.CooldownProbe:
		with += " (a single try although its credentials rest)"
	}
	switch {
	case a.Asks:
		d.Outcome, d.Text = "ok", fmt.Sprintf("%s%s asked for tools after %s", d.Model, with, rounded(a.Took))
	case a.OK:
		d.Outcome, d.Text = "ok", fmt.Sprintf("%s%s answered after %s", d.Model, with, rounded(a.Took))
	case a.Skipped != "":
		d.Outcome, d.Text = "skipped", fmt.Sprintf("%s%s was passed over, no request was made: %s", d.Model, with, bot.PassedOver(a.Skipped, a.Reason))
	default:
		d.Outcome, d.Text = "failed", fmt.Sprintf("%s%s failed: %s", d.Model, with, bot.Failing(a))
	}
}

func (d *Decision) write(w fallback.Write) {
	d.Act, d.From, d.To = string(w.Act), w.Was.Model.String(), w.Now.Model.String()
	if w.By != nil {
		d.By, d.Command = w.By.Name, w.By.Command
	}
	who := cmp.Or(d.By, "Somebody")
	switch {
	case w.By != nil && w.Now.Model.IsZero():
		d.Text = fmt.Sprintf("%s freed the session with %s: the configured model answers", who, d.Command)
	case w.By != nil:
		d.Text = fmt.Sprintf("%s chose %s with %s", who, d.To, d.Command)
	case w.Act == fallback.ActRollback && w.Now.Model.IsZero():
		d.Text = fmt.Sprintf("%s did not answer: the session went back to the configured model", d.From)
	case w.Act == fallback.ActRollback:
		d.Text = fmt.Sprintf("%s did not answer: the session went back to %s", d.From, d.To)
	case w.Rule != "":
		d.Text = fmt.Sprintf("the session's choice %s was cleared: %s", d.From, bot.Stale(w.Rule))
	case w.Act == fallback.ActClear:
		d.Text = fmt.Sprintf("the session's choice %s was cleared: %s is back", d.From, w.Was.Origin)
	case d.From == d.To:
		d.Text = fmt.Sprintf("the session keeps %s", d.To)
	default:
		d.Text = fmt.Sprintf("the session moved to %s in place of %s", d.To, cmp.Or(w.Now.Origin.String(), d.From, "the configured model"))
	}
}

func (d *Decision) record(r fallback.Decision) {
	d.Model = r.CandidateProvider + "/" + r.CandidateModel
	d.Reason, d.Why, d.Status, d.Code, d.Detail = r.Reason, r.Why, r.Status, r.Code, r.ErrorPreview
	d.Position, d.Total = r.Attempt, r.Total
	d.Text = r.Decision + " " + d.Model
	if r.StepOutcome != "" {
		d.Text += ", then " + r.StepOutcome
	}
	if r.NextModel != "" {
		d.Text += " " + r.NextProvider + "/" + r.NextModel
	}
}

func (d *Decision) tool(t fallback.ToolUse) {
	d.Model, d.TookMs = t.Model.String(), t.Took.Milliseconds()
	d.Outcome, d.Text = "ok", fmt.Sprintf("%s used the tool %s", d.Model, t.Name)
	if t.Failed {
		d.Outcome, d.Text = "failed", d.Text+", which failed"
	}
}

func onlyFor(w *fallback.WindowEvent) string {
	if w.Model == "" {
		return ", for all models of " + w.Profile.Provider()
	}
	return ", for " + w.Model + " only"
}

func rounded(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
