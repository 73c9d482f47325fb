package fallback

// see decides how a walk deals with the pictures of its ask. A walk of the image
// models writes nothing and probes nothing: the session is not concerned (21.A.3).
func (w *walk) see() error {
	w.sight = SightOf(w.ask.Config, w.plan, w.ask.Messages)
	switch w.sight {
	case SightLent:
		w.plan.Persist, w.plan.Probe = false, false
		w.chain = ImageChain(w.ask.Config, Model{})
		w.book.Total = len(w.chain)
	case SightTold:
		m := w.ask.Config.canonical(w.plan.Requested)
		if w.ask.Wordless {
			return &SummaryError{Plan: w.plan, Err: &BlindError{Model: m}}
		}
		w.ask.Messages = unseen(w.ask.Messages, m)
	}
	return nil
}

// blind passes over a candidate that cannot be shown the turn's pictures.
func (w *walk) blind(m Model) *Verdict {
	no := Verdict{Do: Skip, Why: SkipBlind, Reason: Blind, Detail: m.String() + " cannot be shown pictures"}
	switch {
	case w.sight == SightOwn && !w.ask.Config.FactsOf(m).Images,
		w.sight == SightLent && w.ask.Config.KnownBlind(m):
		return &no
	}
	return nil
}

// ungated is the visit of an image model: neither windows nor the skip cache keep
// it from being asked (21.A.3). Without a credential it cannot be.
func (w *walk) ungated(s Standing) Verdict {
	s.Stored, s.Cached = false, NoReason
	v := Visit(s, w.Now())
	if v.Do == Try && len(Rotate(s.Order, s.Usage, s.Pin, s.Model.Name, false, w.Now())) == 0 {
		v.Do = Probe // all of them rest: one attempt
	}
	return v
}

// advance is Advance, but for the image models: there every failure goes on (21.A.3).
func (w *walk) advance(class Class, left int) Move {
	if w.sight == SightLent && left > 0 {
		return GoOn
	}
	return Advance(class, left)
}
