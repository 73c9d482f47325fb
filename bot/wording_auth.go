package bot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
)

// SayState is how a credential stands, with the time that is left and the clock
// time at which it comes back.
func SayState(v CredentialView, now time.Time) string {
	back := ""
	if !v.Until.IsZero() {
		back = ", back " + Moment(v.Until, now)
	}
	why := ""
	if v.Reason != "" {
		why = " (" + word(fallback.Reason(v.Reason)) + ")"
	}
	switch v.State {
	case CredentialUsable:
		return "usable"
	case CredentialPartly:
		var models []string
		for _, w := range v.Windows {
			models = append(models, w.Model)
		}
		return "rests for " + strings.Join(models, ", ") + why + back
	case CredentialResting:
		return "rests" + why + back
	case CredentialDisabled:
		return "disabled" + why + back
	case CredentialBlocked:
		return "at its usage limit" + back
	case CredentialOff:
		return "switched off by hand since " + Clock(v.Since, now)
	case CredentialUnlisted:
		return "left out by the order"
	}
	switch v.Reason {
	case fallback.Expired:
		return "expired"
	case fallback.MissingCredential:
		return "holds no secret"
	case fallback.ModeMismatch:
		return "of another type than auth.profiles says"
	}
	return "cannot be used (" + strings.ReplaceAll(v.Reason, "_", " ") + ")"
}

// SayTurn says which credential is next, and which was used last.
func SayTurn(v CredentialView) string {
	switch {
	case v.Next && v.Latest:
		return "next, used last"
	case v.Next:
		return "next"
	case v.Latest:
		return "used last"
	}
	return ""
}

// kindOfCredential is a type for people.
func kindOfCredential(t string) string {
	switch fallback.CredentialType(t) {
	case fallback.OAuth:
		return "login"
	case fallback.APIKey:
		return "API key"
	}
	return t
}

// sayCredentials lists them for a chat: ids and types, no part of a secret.
func sayCredentials(all []CredentialView, now time.Time) string {
	if len(all) == 0 {
		return "I have no credential. Whoever runs this bot gives me one with: standin auth add openai"
	}
	var lines []string
	vendor := ""
	for _, v := range all {
		if of := fallback.CredentialProviders(v.Provider)[0]; of != vendor {
			vendor = of
			lines = append(lines, of+":")
		}
		line := fmt.Sprintf("- %s (%s): %s", v.Profile, kindOfCredential(v.Type), SayState(v, now))
		if turn := SayTurn(v); turn != "" {
			line += "; " + turn
		}
		lines = append(lines, line)
	}
	return strings.Join(append(lines, "/auth show <profile> tells more of one."), "\n")
}

// SayCredential tells all of one credential but its secret.
func SayCredential(s CredentialStory, now time.Time) string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	head := fmt.Sprintf("%s: %s", s.Profile, kindOfCredential(s.Type))
	if s.Account != "" {
		head += " of " + s.Account
	}
	switch {
	case s.From == "stored":
		head += ", stored"
	case strings.HasPrefix(s.From, "agent "):
		head += ", stored for " + s.From
	default:
		head += ", from " + strings.TrimPrefix(s.From, "no key needed")
	}
	add("%s", head)
	add("State: %s", SayState(s.CredentialView, now))
	for _, w := range s.Windows {
		of := "all models"
		if w.Model != "" {
			of = w.Model
		}
		add("  %s for %s: %s, until %s", w.Kind, of, word(fallback.Reason(w.Reason)), Moment(w.Until, now))
	}
	switch {
	case s.Place == 0:
		add("Turn: it is not tried")
	case s.Ordered:
		add("Turn: %s%s in the order of %s", nextWords(s.CredentialView), nth(s.Place), s.Provider)
	default:
		add("Turn: %s%s; credentials of %s take turns", nextWords(s.CredentialView), nth(s.Place), s.Provider)
	}
	if len(s.Order) > 0 {
		add("Order kept for agent %s: %s", s.OrderOf, SayIDs(s.Order))
	}
	if s.LastUsed.IsZero() {
		add("Last answer: none yet")
	} else {
		add("Last answer: %s", Moment(s.LastUsed, now))
	}
	if s.Usage.ErrorCount > 0 {
		add("Failures: %s", sayCounts(s.CredentialView, now))
	}
	switch {
	case s.Expires.IsZero():
	case s.Renews:
		add("Access token: until %s; it renews itself", Moment(s.Expires, now))
	default:
		add("Token: until %s; it cannot renew itself", Moment(s.Expires, now))
	}
	if len(s.Sessions) > 0 {
		add("Sessions that keep to it: %s", saySessions(s.Sessions))
	}
	for i, d := range s.Deeds {
		if i == 0 {
			add("By hand:")
		}
		add("  %s %s", Clock(d.At, now), SayDeed(d))
	}
	return strings.Join(lines, "\n")
}

func nextWords(v CredentialView) string {
	if v.Next {
		return "next, "
	}
	return ""
}

func nth(n int) string {
	switch n {
	case 1:
		return "first"
	case 2:
		return "second"
	case 3:
		return "third"
	}
	return fmt.Sprintf("%dth", n)
}

// sayCounts tells the failures since the last answer, the most frequent first.
func sayCounts(v CredentialView, now time.Time) string {
	var reasons []fallback.Reason
	for r := range v.counts {
		reasons = append(reasons, r)
	}
	slices.SortFunc(reasons, func(a, b fallback.Reason) int {
		if v.counts[a] != v.counts[b] {
			return v.counts[b] - v.counts[a]
		}
		return strings.Compare(string(a), string(b))
	})
	var parts []string
	for _, r := range reasons {
		parts = append(parts, fmt.Sprintf("%d × %s", v.counts[r], word(r)))
	}
	s := strings.Join(parts, ", ")
	if s == "" {
		s = count(v.Usage.ErrorCount, "failure", "failures")
	}
	if v.Usage.LastFailureAt > 0 {
		s += ", the last " + Moment(time.UnixMilli(v.Usage.LastFailureAt), now)
	}
	return s
}

// shownSessions is how many sessions of a pin are named.
const shownSessions = 5

func saySessions(list []fallback.Pinned) string {
	var names []string
	for i, p := range list {
		if i == shownSessions {
			names = append(names, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		name := string(p.Session)
		if p.ByPerson {
			name += " (chosen there)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// SayDeed is one thing that was done by hand.
func SayDeed(d fallback.Deed) string {
	did := map[fallback.DeedKind]string{
		fallback.DeedAdd: "stored it", fallback.DeedReplace: "replaced its secret", fallback.DeedLogin: "logged in", fallback.DeedRemove: "removed it",
		fallback.DeedClear: "ended its rests", fallback.DeedDisable: "switched it off", fallback.DeedEnable: "switched it on",
		fallback.DeedOrder: "set the order", fallback.DeedClearOrder: "dropped the order", fallback.DeedProbe: "tried it",
		fallback.DeedSeal: "sealed the secrets", fallback.DeedUnseal: "unsealed the secrets", fallback.DeedImport: "took it over from an older file",
	}[d.What]
	if did == "" {
		did = string(d.What)
	}
	who := d.Who
	if who == "" {
		who = "somebody"
	}
	s := who + " " + did
	if d.Via != "" {
		s += " (" + d.Via + ")"
	}
	if d.Detail != "" {
		s += ": " + d.Detail
	}
	return s
}

// SayNoCredential says that there is none of an id, and what there is.
func SayNoCredential(id string, all []CredentialView) string {
	id = provider.Redact(id) // it may be a key that somebody typed in the wrong place [I12]
	var names []string
	for _, v := range all {
		names = append(names, v.Profile)
	}
	if len(names) == 0 {
		return fmt.Sprintf("There is no credential %s, nor any other.", id)
	}
	return fmt.Sprintf("There is no credential %s. There are: %s.", id, strings.Join(names, ", "))
}

// SayCleared says what a clear ended.
func SayCleared(id fallback.ProfileID, was fallback.Usage, now time.Time) string {
	if w, blocked := was.Blocking("", now); blocked {
		line := fmt.Sprintf("%s rests no more (it would have until %s, %s); its counts start afresh. It is used again from the next message on.", id, Clock(w.Until, now), windowWord(w))
		if !was.SwitchedOff.IsZero() {
			return strings.TrimSuffix(line, " It is used again from the next message on.") + fmt.Sprintf(" It stays switched off: standin auth enable %s, or /auth enable, switches it on.", id)
		}
		return line
	}
	if was.Errors > 0 {
		return fmt.Sprintf("%s did not rest; its counts start afresh.", id)
	}
	return fmt.Sprintf("%s did not rest, so there was nothing to end.", id)
}

func windowWord(w fallback.Window) string {
	if w.Reason == fallback.SubscriptionLimit {
		return "usage limit"
	}
	return word(w.Reason)
}

// SaySwitched says what a switch did.
func SaySwitched(id fallback.ProfileID, off, changed bool) string {
	switch {
	case off && changed:
		return fmt.Sprintf("%s is switched off: nobody uses it from the next message on, until it is switched on again.", id)
	case off:
		return fmt.Sprintf("%s was switched off already.", id)
	case changed:
		return fmt.Sprintf("%s is switched on: it is used again from the next message on, as far as it does not rest.", id)
	}
	return fmt.Sprintf("%s was switched on already.", id)
}

// SayIDs joins ids.
func SayIDs(ids []fallback.ProfileID) string {
	var names []string
	for _, id := range ids {
		names = append(names, string(id))
	}
	return strings.Join(names, ", ")
}

// SayOrder says in which order a provider's credentials are used, and who says so.
func SayOrder(vendor string, kept []fallback.ProfileID, owner fallback.AgentID, cfg *fallback.Config, all []CredentialView) string {
	var now []string
	for _, v := range all {
		if v.Place > 0 && fallback.CredentialProviders(v.Provider)[0] == fallback.CredentialProviders(vendor)[0] {
			now = append(now, v.Profile)
		}
	}
	state := " None of them can be tried now."
	if len(now) > 0 {
		state = " Now they would be tried as: " + strings.Join(now, ", ") + "."
	}
	switch {
	case len(kept) > 0:
		return fmt.Sprintf("The order of %s is kept for agent %s: %s.%s", vendor, owner, SayIDs(kept), state)
	case len(cfg.Order[vendor]) > 0:
		return fmt.Sprintf("The order of %s is the config's, auth.order: %s.%s", vendor, SayIDs(cfg.Order[vendor]), state)
	}
	return fmt.Sprintf("No order is kept for %s: its credentials take turns.%s", vendor, state)
}

// SayOrdered says that an order was set, or dropped.
func SayOrdered(vendor string, ids []fallback.ProfileID, cfg *fallback.Config) string {
	switch {
	case len(ids) > 0:
		return fmt.Sprintf("Credentials of %s are used in this order from the next message on: %s. Others of %s are not used.", vendor, SayIDs(ids), vendor)
	case len(cfg.Order[vendor]) > 0:
		return fmt.Sprintf("No order is kept for %s any more; the config's counts again: %s.", vendor, SayIDs(cfg.Order[vendor]))
	}
	return fmt.Sprintf("No order is kept for %s any more; its credentials take turns.", vendor)
}

// ReadOrder reads the ids of an order that somebody wants. Each must be there,
// be of the provider and stand once; the error is for people.
func ReadOrder(vendor string, words []string, all []CredentialView) (ids []fallback.ProfileID, err error) {
	if len(words) == 0 {
		return nil, refusal("An order needs at least one profile. To use none of " + vendor + ", switch them off; to drop the order, clear it.")
	}
	for _, w := range words {
		w = strings.TrimSuffix(w, ",")
		id := fallback.ProfileID(w)
		at := slices.IndexFunc(all, func(v CredentialView) bool { return v.Profile == w })
		switch {
		case at < 0:
			return nil, refusal(SayNoCredential(w, all) + " Nothing was changed.")
		case fallback.CredentialProviders(all[at].Provider)[0] != fallback.CredentialProviders(vendor)[0]:
			return nil, refusal(fmt.Sprintf("%s is a credential of %s, not of %s. Nothing was changed.", w, all[at].Provider, vendor))
		case slices.Contains(ids, id):
			return nil, refusal(fmt.Sprintf("%s stands twice. Nothing was changed.", w))
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// SayProbe says what a probe will do and cost.
func SayProbe(m fallback.Model, p fallback.Profile) string {
	cost := "a few tokens are charged to its account"
	if p.Type == fallback.OAuth {
		cost = "it counts as one message of its subscription"
	}
	return fmt.Sprintf("This sends one real request to %s with %s (%q; %s). An answer ends its rests, a refusal counts like any other.", m, p.ID, fallback.TrialText, cost)
}

// SayProof says what came of a probe.
func SayProof(id fallback.ProfileID, p fallback.Proof, now time.Time) string {
	a := p.Attempt
	if a.OK {
		return fmt.Sprintf("%s works: %s answered in %s (%d tokens).", id, a.Model, took(a.Took), a.Tokens.Input+a.Tokens.Output)
	}
	s := fmt.Sprintf("%s does not work with %s: %s.", id, a.Model, detail(a))
	for _, c := range p.Changes {
		of := ""
		if c.Model != "" {
			of = " for " + c.Model
		}
		s += fmt.Sprintf(" It rests%s until %s.", of, Moment(c.Window.Until, now))
	}
	if cmd := mendOf(a); cmd != "" {
		s += " A new one is stored with: " + cmd
	}
	return s
}

func mendOf(a fallback.Attempt) string {
	if a.Reason != fallback.AuthFailed && a.Reason != fallback.AuthPermanent {
		return ""
	}
	if a.Auth == fallback.OAuth {
		return "standin auth login " + a.Model.Provider
	}
	return fallback.MendCommand(a.Model.Provider)
}

// SayProofShort is a probe's result for the record.
func SayProofShort(p fallback.Proof) string {
	if p.Attempt.OK {
		return "works with " + p.Attempt.Model.String()
	}
	return reason(p.Attempt) + " with " + p.Attempt.Model.String()
}

func took(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func sayProbeTooLong(id fallback.ProfileID, m fallback.Model) string {
	return fmt.Sprintf("%s did not answer %s within %s, which says nothing about the credential. standin auth probe %s waits longer.", m, id, chatProbeLimit, id)
}

func sayNoKeyring() string {
	return "Credentials cannot be worked on from here. At a terminal: standin auth list"
}

func sayNotOperator() string {
	return "Only an owner may change credentials: somebody whom commands.ownerAllowFrom or commands.allowFrom names. /auth list and /auth show are for everybody who may give commands."
}

func sayAuthUsage(usage string) string { return "That is written /auth " + usage + "." }

func sayAuthHelp(verb string) string {
	return fmt.Sprintf("I do not know /auth %s. There are: list, show, order, clear, disable, enable, probe. Keys and logins are given at a terminal: standin auth --help", verb)
}

// sayAtTerminal answers what is not done in a chat.
func sayAtTerminal(verb string, pasted bool) string {
	s := fmt.Sprintf("I take no secret in a chat, where others and the platform can read it. At a terminal: standin auth %s.", verb)
	if pasted {
		s += " If the key in your message is a real one, revoke it at its provider now and make a new one: it has been seen here. I have not kept it."
	}
	return s
}

func sayPasted() string {
	return "That looks like a key. I take no secret in a chat, and I have not kept it; but it has been seen here: if it is a real one, revoke it at its provider now, make a new one, and give it to me at a terminal with: standin auth add"
}

// sentence makes an error of ours a sentence.
func sentence(err error) string {
	s := err.Error()
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}
