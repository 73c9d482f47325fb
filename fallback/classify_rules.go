package fallback

// textRule is one row of the message rules.
type textRule struct {
	name   string
	source string
	reason Reason
	when   clue
	quiet  bool // known and deliberately without a reason: no label either
}

// textRules say what a text means; the first hit wins (failover.md 5.D, whose
// numbers the rows keep). The order is the meaning: money before rate [D13],
// limits before faults, and the broad family of timeouts last. Two of its rows
// are steps of precedence instead, since they speak before any status: overflow
// (5.D 4) and the status that a text begins with (5.D 12, by 5.B.8).
var textRules = []textRule{
	{name: "image too large", source: "5.D 1", when: imageLimit, quiet: true},
	{name: "session gone", source: "5.D 2", reason: SessionExpired, when: sessionGone},
	{name: "model missing", source: "5.D 3, V12", reason: ModelNotFound, when: modelMissing},
	{name: "payment", source: "5.D 5, 5.F", reason: RateLimit, when: paymentIs(RateLimit)},
	{name: "payment", source: "5.D 5, 5.F", reason: Billing, when: paymentIs(Billing)},
	{name: "key budget", source: "5.D 6", reason: Billing, when: keyBudget},
	{name: "billing text", source: "5.D 7", reason: Billing, when: billing},
	{name: "periodic limit", source: "5.D 8", reason: RateLimit, when: periodic},
	{name: "rate limit text", source: "5.D 9, 5.D 24", reason: RateLimit, when: rateWords},
	{name: "overloaded text", source: "5.D 10, 5.D 24", reason: Overloaded, when: busyWords},
	{name: "server error type", source: "5.D 11", reason: ServerError, when: but(structuredServer, lockedOut, authWords)},
	{name: "certificate", source: "V4", when: certificate},
	{name: "lost login", source: "5.D 14", reason: AuthPermanent, when: lostLogin},
	{name: "locked out", source: "5.D 15", reason: AuthPermanent, when: lockedOut},
	{name: "auth text", source: "5.D 16, V4, V13", reason: AuthFailed, when: authWords},
	{name: "unknown error of OpenRouter", source: "5.D 18, M20", reason: Timeout, when: from("openrouter", say("provider returned error"))},
	{name: "server text", source: "5.D 13, 5.D 19", reason: Timeout, when: serverWords},
	{name: "api_error", source: "5.D 20", reason: Timeout, when: apiError},
	{name: "format text", source: "5.D 21, V11", reason: Format, when: some(requestWords, outputLimit)},
	{name: "no details", source: "5.D 22, V16", reason: NoErrorDetails, when: noDetails},
	{name: "timeout text", source: "5.D 17, 5.D 23, V8", reason: Timeout, when: timeoutWords},
	{name: "likely overflow", source: "5.H.4, V9", reason: ContextOverflow, when: likelyOverflow},
}

// imageLimit is about the size of a picture: no other model or key helps, and
// the turn's own answer to it is not a fallback (5.D 1).
var imageLimit = say("image dimensions|dimension .. exceed~", "image dimensions|dimension .. limit|max|maximum|allowed",
	"image exceeds|exceed|exceeded * mb", "image .. exceeds|exceed * mb", "image size exceeds|exceed * mb")

// noDetails is the whole of the text.
var noDetails = say("^ unknown error no error details in response $$")

// paymentIs is the clue that a text states 402 and that this means reason.
func paymentIs(reason Reason) clue {
	return func(e *facts, t *text) string {
		n, marked, _ := t.leading()
		bare := n == 402 && !marked
		if !bare && !t.stated(402) {
			return ""
		}
		if got, why := payment(e, t, bare); got == reason {
			return why
		}
		return ""
	}
}

// verdict is what one text or field says.
type verdict struct {
	reason Reason
	rule   string // "" when nothing was recognised
	quiet  bool
}

func (v verdict) known() bool { return v.rule != "" }

// judge gives the first rule that a text fits.
func (e *facts) judge(t *text) verdict {
	if t.empty() {
		return verdict{}
	}
	for i := range textRules {
		r := &textRules[i]
		if why := r.when(e, t); why != "" {
			return verdict{r.reason, r.name + ": " + why, r.quiet}
		}
	}
	return verdict{}
}
