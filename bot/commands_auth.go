package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// obeyAuth is /auth: what standin auth does at a terminal, without secrets. Who
// may give commands may look; to change something is for owners and for those
// whom commands.allowFrom names [C1], since credentials are everybody's.
func obeyAuth(ctx context.Context, o *order) (reply, error) {
	words := strings.Fields(o.args)
	verb := "list"
	if len(words) > 0 {
		verb, words = strings.ToLower(words[0]), words[1:]
	}
	if refused := refuseSecret(verb, words); refused != "" {
		return say(refused)
	}
	if o.Keyring == nil {
		return say(sayNoKeyring())
	}
	switch verb {
	case "list":
		return o.authList(ctx)
	case "show":
		return o.authShow(ctx, words)
	case "order":
		return o.authOrder(ctx, words)
	case "clear", "disable", "enable", "probe":
		if !o.operates(ctx) {
			return say(sayNotOperator())
		}
		return o.authChange(ctx, verb, words)
	}
	return say(sayAuthHelp(verb))
}

// operates tells whether the sender may change credentials.
func (o *order) operates(ctx context.Context) bool {
	known, err := o.Store.Known(ctx, o.row.In.To, o.row.In.From.ID)
	if err != nil {
		o.Log.Error("owner not looked up", "user", o.row.In.From.ID, "err", err)
		return false
	}
	return o.cfg.Rules.Owns(o.row.In, known) || o.row.In.Authorized && o.cfg.Rules.Trusts(o.row.In)
}

// refuseSecret answers what would put a secret into a chat, or just has.
func refuseSecret(verb string, words []string) string {
	pasted := slices.ContainsFunc(append([]string{verb}, words...), looksSecret)
	switch verb {
	case "add", "login", "remove", "seal", "unseal":
		return sayAtTerminal(verb, pasted || verb == "add" && len(words) > 1)
	}
	if pasted {
		return sayPasted()
	}
	return ""
}

// looksSecret tells whether a word may be a key: it has a key's shape, or it is
// long and of letters and digits mixed, as no profile id is.
func looksSecret(word string) bool {
	if word == secretMark || provider.Redact(word) != word {
		return true
	}
	if len(word) < 24 || strings.ContainsAny(word, ":@") {
		return false
	}
	return strings.ContainsAny(word, "0123456789") && strings.ContainsFunc(word, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' })
}

// secretMark stands in the record where somebody pasted a key.
const secretMark = "[secret]"

// withoutPasted is a message as it may be kept: /auth with a key in it loses the
// key before the message becomes a row [I12].
func withoutPasted(in channels.Inbound) channels.Inbound {
	name, args, ok := parseCommand(in.Text)
	if !ok || name != "auth" {
		return in
	}
	words := strings.Fields(args)
	clean := false
	for i, w := range words {
		if looksSecret(w) || i >= 2 && strings.EqualFold(words[0], "add") {
			words[i], clean = secretMark, true
		}
	}
	if clean {
		in.Text = "/auth " + strings.Join(words, " ")
	}
	return in
}

// deed is who gave the command.
func (o *order) deed(detail string) fallback.Deed {
	from := o.row.In.From
	who := from.ID
	if from.Name != "" && from.Name != from.ID {
		who = fmt.Sprintf("%s (%s)", from.Name, from.ID)
	}
	return fallback.Deed{At: o.now, Who: who, Via: "/auth on " + o.row.In.To.Channel, Detail: detail}
}

func (o *order) authList(ctx context.Context) (reply, error) {
	all, err := Credentials(ctx, o.Keyring, o.cfg.Fallback, o.row.Agent, o.now)
	if err != nil {
		return reply{}, err
	}
	return say(sayCredentials(all, o.now))
}

func (o *order) authShow(ctx context.Context, words []string) (reply, error) {
	if len(words) != 1 {
		return say(sayAuthUsage("show <profile>"))
	}
	s, found, err := OneCredential(ctx, o.Keyring, o.cfg.Fallback, o.row.Agent, fallback.ProfileID(words[0]), 5, o.now)
	if err != nil {
		return reply{}, err
	}
	if !found {
		return o.noSuch(ctx, words[0])
	}
	s.Account = "" // ids and types, never more, in a chat [IL-030]
	return say(SayCredential(s, o.now))
}

// noSuch says that there is no such credential, and what there is.
func (o *order) noSuch(ctx context.Context, id string) (reply, error) {
	all, err := Credentials(ctx, o.Keyring, o.cfg.Fallback, o.row.Agent, o.now)
	if err != nil {
		return reply{}, err
	}
	return say(SayNoCredential(id, all))
}

// authOrder shows the order of a provider, or changes it.
func (o *order) authOrder(ctx context.Context, words []string) (reply, error) {
	if len(words) < 2 || !slices.Contains([]string{"get", "set", "clear"}, words[0]) || words[0] != "set" && len(words) > 2 {
		return say(sayAuthUsage("order get <provider>, /auth order set <provider> <profile> ... or /auth order clear <provider>"))
	}
	vendor := fallback.NormalProvider(words[1])
	all, err := Credentials(ctx, o.Keyring, o.cfg.Fallback, o.row.Agent, o.now)
	if err != nil {
		return reply{}, err
	}
	if words[0] == "get" {
		kept, owner, _, err := o.Keyring.Order(ctx, o.row.Agent, vendor)
		if err != nil {
			return reply{}, err
		}
		return say(SayOrder(vendor, kept, owner, o.cfg.Fallback, all))
	}
	if !o.operates(ctx) {
		return say(sayNotOperator())
	}
	var ids []fallback.ProfileID
	if words[0] == "set" {
		if ids, err = ReadOrder(vendor, words[2:], all); err != nil {
			return say(err.Error())
		}
	}
	if err := o.Keyring.SetOrder(ctx, o.row.Agent, vendor, ids, o.deed(SayIDs(ids))); err != nil {
		return reply{}, err
	}
	return say(SayOrdered(vendor, ids, o.cfg.Fallback))
}

// authChange does what concerns one credential.
func (o *order) authChange(ctx context.Context, verb string, words []string) (reply, error) {
	sure := verb == "probe" && len(words) == 2 && strings.EqualFold(words[1], "yes")
	if len(words) != 1 && !sure {
		return say(sayAuthUsage(verb + " <profile>"))
	}
	id := fallback.ProfileID(words[0])
	switch verb {
	case "clear":
		was, known, err := o.Keyring.Clear(ctx, o.row.Agent, id, o.deed(""))
		if err != nil || !known {
			return o.unknownOr(ctx, err, words[0])
		}
		return say(SayCleared(id, was, o.now))
	case "disable", "enable":
		changed, known, err := o.Keyring.Switch(ctx, o.row.Agent, id, verb == "disable", o.deed(""))
		if err != nil || !known {
			return o.unknownOr(ctx, err, words[0])
		}
		return say(SaySwitched(id, verb == "disable", changed))
	}
	return o.authProbe(ctx, id, sure)
}

func (o *order) unknownOr(ctx context.Context, err error, id string) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	return o.noSuch(ctx, id)
}

// Prover makes one small call with a credential. *fallback.Runner is one.
type Prover interface {
	Trial(ctx context.Context, t fallback.Trial) (fallback.Model, fallback.Profile, error)
	Try(ctx context.Context, t fallback.Trial) (fallback.Proof, error)
}

// chatProbeLimit is how long a probe in a chat may take: the message is only
// acknowledged when its command is answered.
const chatProbeLimit = 12 * time.Second

// authProbe says what a probe would do, and does it for somebody who is sure.
func (o *order) authProbe(ctx context.Context, id fallback.ProfileID, sure bool) (reply, error) {
	prover, can := o.Engine.(Prover)
	if !can {
		return say(sayNoKeyring())
	}
	t := fallback.Trial{Run: o.ID(), Agent: o.row.Agent, Profile: id, Config: o.cfg.Fallback}
	m, p, err := prover.Trial(ctx, t)
	if err != nil {
		return say(sentence(err))
	}
	if !sure {
		return say(SayProbe(m, p) + fmt.Sprintf(" To go on: /auth probe %s yes", id))
	}
	ctx, cancel := context.WithTimeout(ctx, chatProbeLimit)
	defer cancel()
	proof, err := prover.Try(ctx, t)
	if ctx.Err() != nil {
		return say(sayProbeTooLong(id, m))
	}
	if err != nil {
		return say(sentence(err))
	}
	d := o.deed(SayProofShort(proof))
	d.Profile, d.What = id, fallback.DeedProbe
	if err := o.Keyring.Note(ctx, o.row.Agent, d); err != nil {
		o.Log.Error("probe not recorded", "profile", id, "err", err)
	}
	return say(SayProof(id, proof, o.now))
}
