package fallback

// refuse asks the ask's own rule about a candidate that would be tried: what it
// may cost, whether its server is up. Its verdict stands for this run alone
// [D20, R39].
func (w *walk) refuse(c candidate, v Verdict) Verdict {
	if v.Do == Skip || w.ask.Refuse == nil {
		return v
	}
	if no := w.ask.Refuse(c.model); no != nil {
		return *no
	}
	return v
}
