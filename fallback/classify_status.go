package fallback

// statusRule is one row of the HTTP status table (failover.md 5.C). It sees
// what the texts said; an unknown verdict leaves the decision to what follows.
type statusRule struct {
	statuses []int
	source   string
	decide   func(e *facts) verdict
}

var statusRules = []statusRule{
	{[]int{402}, "5.F", func(e *facts) verdict {
		reason, why := payment(e, e.message, e.bare)
		if reason == NoReason {
			return verdict{}
		}
		return verdict{reason: reason, rule: "status 402: " + why}
	}},
	{[]int{429}, "5.C, 5.I", func(e *facts) verdict {
		if w := e.money(); w != "" {
			return e.at(Billing, w)
		}
		return e.at(RateLimit, "")
	}},
	{[]int{401, 403}, "5.C, M24, V14", func(e *facts) verdict {
		if e.said.reason == AuthPermanent {
			return e.at(AuthPermanent, e.said.rule)
		}
		return e.unless(AuthFailed, Billing)
	}},
	{[]int{408}, "5.C", func(e *facts) verdict { return e.at(Timeout, "") }},
	{[]int{410}, "5.C", func(e *facts) verdict {
		return e.unless(Timeout, SessionExpired, Billing, AuthFailed, AuthPermanent)
	}},
	{[]int{404}, "5.C", func(e *facts) verdict {
		return e.unless(ModelNotFound, SessionExpired, Billing, AuthFailed, AuthPermanent)
	}},
	{[]int{499, 503}, "5.C", func(e *facts) verdict { return e.unless(Timeout, Overloaded) }},
	{[]int{500, 502, 504}, "5.C, V2", func(e *facts) verdict { return e.unless(Timeout, Overloaded, ServerError) }},
	{[]int{529}, "5.C", func(e *facts) verdict { return e.at(Overloaded, "") }},
	{[]int{400, 422}, "5.C, 5.C.2", func(e *facts) verdict {
		switch {
		case e.said.known() && e.said.reason != ServerError:
			return e.said
		case noBody(e.message) && !e.details.given:
			return verdict{} // the number alone says nothing
		}
		return e.at(Format, "")
	}},
	// Cloudflare's own statuses: its origin is away. 525 and 526 are faults of
	// TLS and stay without a reason (V4, V7, IL-239).
	{[]int{520, 521, 522, 523, 524, 527, 530}, "V7, IL-239", func(e *facts) verdict {
		if e.said.known() {
			return e.said
		}
		return e.at(Timeout, "")
	}},
}

// at is a verdict of the status, with what else contributed.
func (e *facts) at(r Reason, why string) verdict {
	rule := "status " + itoa(e.status)
	if why != "" {
		rule += ": " + why
	}
	return verdict{reason: r, rule: rule}
}

// unless is the status's own reason, unless the texts said one of these.
func (e *facts) unless(own Reason, texts ...Reason) verdict {
	for _, r := range texts {
		if e.said.reason == r {
			return e.at(r, e.said.rule)
		}
	}
	return e.at(own, "")
}

// money tells what says that a 429 is a bill: clear words, a structured type,
// or the generic balance text of a vendor that means it (5.C, row 429).
func (e *facts) money() string {
	if w := e.structuredMoney(); w != "" {
		return w
	}
	if e.said.reason != Billing {
		return ""
	}
	for _, t := range []*text{e.message, e.details} {
		if !t.empty() {
			if w := some(clearBilling, keyBudget, from("xai moonshot kimi", genericBalance))(e, t); w != "" {
				return w
			}
		}
	}
	return ""
}

// outagePage is an HTML page of a gateway under 408, 499 or 5xx: its words are
// a template's, so the status alone counts (5.B.1, V2).
func (e *facts) outagePage() verdict {
	if !e.html || e.status != 408 && e.status != 499 && e.status < 500 {
		return verdict{}
	}
	if e.status == 529 {
		return e.at(Overloaded, "page")
	}
	if e.status == 525 || e.status == 526 {
		return verdict{}
	}
	return e.at(Timeout, "page")
}
