package fallback

import "context"

// refuse asks the ask's own rule about a candidate that would be tried, whether
// its server is up for one, and then the caps of what may be spent. Their verdict
// stands for this run alone [D20, R39]. Where a cap leaves its logins alone, the
// candidate goes on with those.
func (w *walk) refuse(ctx context.Context, c *candidate, v Verdict) Verdict {
	if v.Do == Skip {
		return v
	}
	if w.ask.Refuse != nil {
		if no := w.ask.Refuse(c.model); no != nil {
			return *no
		}
	}
	if no := w.tooDear(ctx, *c); no != nil {
		if logins := c.logins(w.Now()); len(logins) > 0 {
			c.order = logins // their calls cost nothing more
			return v
		}
		return *no
	}
	return v
}
