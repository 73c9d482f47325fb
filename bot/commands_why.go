package bot

import (
	"cmp"
	"context"

	"standin/fallback"
)

// PastSteps is how many of a session's latest steps tell its story: some hundred
// messages. The last change is found even when it is older.
const PastSteps = 600

// obeyWhy tells the story of the session's last change of model [I10].
func obeyWhy(ctx context.Context, o *order) (reply, error) {
	if o.Past == nil {
		return say(sayNoPast())
	}
	steps, err := o.Past.Steps(ctx, o.row.Session, PastSteps)
	if err != nil {
		return reply{}, err
	}
	v := o.view()
	about := About{Session: o.row.Session, Selection: o.goes, From: o.from, Plan: v.Plan, Notices: o.cfg.Notices}
	if v.Probing {
		about.Next = &v.Probe
	}
	if o.Keyring != nil {
		if about.Deeds, err = o.Keyring.Deeds(ctx, o.row.Agent, "", PastDeeds); err != nil {
			o.Log.Error("record of credentials not read for a story", "err", err)
		}
	}
	return say(SayWhy(Tell(about, steps), o.now))
}

// explained is a view whose reason says what it was: on a sticky turn the stored
// one becomes a word that says nothing [19.7], while the record still knows
// what the room was told when the fallback began.
func (o *order) explained(ctx context.Context) view {
	v := o.view()
	if v.Selected == v.Active || v.Reason != "" && v.Reason != fallback.Unexplained || o.Past == nil {
		return v
	}
	steps, err := o.Past.Steps(ctx, o.row.Session, PastSteps)
	if err != nil {
		o.Log.Error("record not read for a status", "session", o.row.Session, "err", err)
		return v
	}
	story := Tell(About{Session: o.row.Session, Selection: o.goes, From: o.from, Plan: v.Plan}, steps)
	if c := story.Change; c != nil && c.Kind == ChangedFallback && c.To == v.Active.String() {
		v.Reason = cmp.Or(c.Reason, v.Reason)
	}
	return v
}

// change is what a command's reply changes in the stored selection, nil when
// that is nothing that people care for.
func (o *order) change(r reply) *fallback.Step {
	now := o.sel
	switch {
	case r.choose != nil:
		now = *r.choose
	case r.renew != nil:
		now = renewed(o.sel, r.renew.Drop)
	}
	if !differ(o.sel, now) {
		return nil
	}
	w := fallback.Write{Act: fallback.ActSet, Was: o.sel, Now: now,
		By: &fallback.Person{Name: cmp.Or(o.row.In.From.Name, o.row.In.From.ID), Command: o.name}}
	if now.Model.IsZero() && !now.Pin.ByPerson() {
		w.Act = fallback.ActClear
	}
	if o.row.ID != 0 {
		w.By.Command = "/" + o.name
	}
	return &fallback.Step{Run: o.ID(), Session: o.row.Session, Agent: o.row.Agent, Kind: fallback.Chat, What: fallback.StepOverride, Write: &w}
}

// record tells the journal of a person's change once it is written, and before
// the answer leaves [I10, M8].
func (b *Bot) record(ctx context.Context, e Ending) {
	if e.change == nil || b.Journal == nil {
		return
	}
	e.change.At = e.At
	b.Journal.Record(context.WithoutCancel(ctx), *e.change)
}
