package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"standin/channels"
	"standin/fallback"
)

const wordDefault = "default"

// obeyModel shows or changes the session's model [C4–C10].
func obeyModel(ctx context.Context, o *order) (reply, error) {
	switch strings.ToLower(o.args) {
	case "":
		return reply{text: sayModel(o.explained(ctx), o.primary()), choices: o.choices(o.cfg.Fallback.Models())}, nil
	case "list":
		all := *o
		all.args = ""
		return obeyModels(ctx, &all)
	case "status":
		return say(sayModelStatus(o.modelStatus(ctx)))
	}
	m, profile, err := o.pick(ctx, o.args)
	var no refusal
	switch {
	case errors.As(err, &no):
		return say(no.Error())
	case err != nil:
		return reply{}, err // what broke is for the log, not for the room
	}
	chosen := o.choose(m, profile)
	listed := m == o.primary() || slices.Contains(o.cfg.Fallback.Models(), m)
	return reply{choose: &chosen, text: sayChosen(o.plan(chosen), o.chain(chosen), profile, listed)}, nil
}

// refusal says in a sentence for people why a choice is not taken.
type refusal string

func (r refusal) Error() string { return string(r) }

// RefusalOf gives the sentence with which a choice was refused; false for an error
// that is no answer to what was asked.
func RefusalOf(err error) (says string, refused bool) {
	var no refusal
	refused = errors.As(err, &no)
	return string(no), refused
}

// chain is what a chat turn under sel would walk.
func (o *order) chain(sel fallback.Selection) []fallback.Model {
	return fallback.Chain(o.cfg.Fallback, o.plan(sel))
}

// pick finds the model that a person means: a number of the list, "default", an
// alias, a reference, each but the number with an optional profile. The error is
// a refusal, or the store's.
func (o *order) pick(ctx context.Context, ref string) (fallback.Model, fallback.ProfileID, error) {
	ref = strings.TrimSpace(ref)
	if n, err := strconv.Atoi(ref); err == nil {
		list := o.cfg.Fallback.Models()
		if n < 1 || n > len(list) {
			return fallback.Model{}, "", refusal(sayOutOfRange(n, len(list)))
		}
		return list[n-1], "", o.permitted(list[n-1])
	}
	if bare, profile := fallback.ParseRef(ref); bare.Provider == "" && strings.EqualFold(bare.Name, wordDefault) {
		return o.withProfile(ctx, o.primary(), profile)
	}
	m, profile, err := o.cfg.Fallback.ResolveRef(ref)
	if err != nil {
		return fallback.Model{}, "", refusal(sayRefused(err))
	}
	if err := o.permitted(m); err != nil {
		return fallback.Model{}, "", err
	}
	return o.withProfile(ctx, m, profile)
}

// permitted checks the allowlist; the session's own primary is always allowed [C9].
func (o *order) permitted(m fallback.Model) error {
	if m != o.primary() && !o.cfg.Fallback.Permits(m) {
		return refusal(sayNotAllowed(m))
	}
	return nil
}

// withProfile checks that a named profile exists and is the provider's [C8].
func (o *order) withProfile(ctx context.Context, m fallback.Model, p fallback.ProfileID) (fallback.Model, fallback.ProfileID, error) {
	if p == "" {
		return m, "", nil
	}
	var known []string
	if o.Credentials != nil {
		stored, err := o.Credentials.Profiles(ctx, o.row.Agent, m.Provider)
		if err != nil {
			return fallback.Model{}, "", fmt.Errorf("read the profiles of %s: %w", m.Provider, err)
		}
		for _, s := range stored {
			known = append(known, string(s.ID))
		}
	}
	for id, meta := range o.cfg.Fallback.Profiles {
		if fallback.NormalProvider(meta.Provider) == m.Provider {
			known = append(known, string(id))
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	if slices.Contains(known, string(p)) {
		return m, p, nil
	}
	if owner := p.Provider(); owner != m.Provider && strings.Contains(string(p), ":") {
		return fallback.Model{}, "", refusal(sayForeignProfile(p, owner, m))
	}
	return fallback.Model{}, "", refusal(sayNoProfile(p, m.Provider, known))
}

// obeyModels lists models: all of them by provider, or one provider's, in
// pages. The numbers are those that /model takes [C4, C5].
func obeyModels(_ context.Context, o *order) (reply, error) {
	type numbered struct {
		n int
		m fallback.Model
	}
	var list []numbered
	var providers []string
	for i, m := range o.cfg.Fallback.Models() {
		list = append(list, numbered{i + 1, m})
		if !slices.Contains(providers, m.Provider) {
			providers = append(providers, m.Provider)
		}
	}
	args, command := strings.Fields(o.args), "models"
	if len(args) > 0 {
		if _, err := strconv.Atoi(args[0]); err != nil {
			provider := fallback.NormalProvider(args[0])
			if !slices.Contains(providers, provider) {
				return say(sayNoSuchProvider(args[0], providers))
			}
			list = slices.DeleteFunc(list, func(x numbered) bool { return x.m.Provider != provider })
			args, command = args[1:], command+" "+provider
		}
	}
	shown, foot := page(list, strings.Join(args, " "), command)
	if len(shown) == 0 {
		return say(foot)
	}
	now := o.view()
	var lines []string
	var offered []fallback.Model
	for _, x := range list {
		offered = append(offered, x.m)
	}
	for _, x := range shown {
		lines = append(lines, sayListed(x.n, x.m, o.aliases(x.m), x.m == now.Selected, x.m == o.primary()))
	}
	return reply{text: sayModels(lines, foot), choices: o.choices(offered)}, nil
}

// choices are the models that a surface may offer as buttons or a menu, the
// default's first [D17]. A channel without rules of its own gets none.
func (o *order) choices(models []fallback.Model) (list []channels.Choice) {
	if _, known := o.cfg.Rules.Surface(o.row.In.To); !known {
		return nil
	}
	list = append(list, channels.Choice{Label: "Default (" + o.primary().String() + ")", Text: "/model " + wordDefault})
	for _, m := range models {
		if m != o.primary() && o.permitted(m) == nil && len(list) < mostChoices { // the primary stands first, as the default
			list = append(list, channels.Choice{Label: m.String(), Text: "/model " + m.String()})
		}
	}
	return list
}

// mostChoices is what the narrowest menu holds over its pages.
const mostChoices = 100

// aliases gives a model's other names, sorted.
func (o *order) aliases(m fallback.Model) (names []string) {
	for name, target := range o.cfg.Fallback.Aliases {
		if target == m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// pageSize is how many lines a list shows at once.
const pageSize = 20

// page gives one page of a list and the line that leads to the next, or, with
// nothing shown, the line that says why not.
func page[T any](list []T, arg, command string) (shown []T, foot string) {
	pages := max(1, (len(list)+pageSize-1)/pageSize)
	n := 1
	if arg = strings.TrimSpace(arg); arg != "" {
		var err error
		if n, err = strconv.Atoi(arg); err != nil || n < 1 || n > pages {
			return nil, sayNoPage(arg, pages)
		}
	}
	if n < pages {
		foot = sayMorePages(n, pages, command)
	}
	return list[(n-1)*pageSize : min(n*pageSize, len(list))], foot
}

// leadingModel reads the model that may stand in front of a text: "default", an
// alias, a reference, or a configured model's id. A word alone may also be the
// beginning of an id. refused says why a model that was clearly meant cannot be
// had; a word that means none belongs to the text [S10].
func (o *order) leadingModel(args string) (m fallback.Model, text, refused string) {
	word, rest, _ := strings.Cut(args, " ")
	if nl := strings.IndexAny(word, "\n\t"); nl >= 0 {
		word, rest = args[:nl], args[nl:]
	}
	rest = strings.TrimSpace(rest)
	m, ok := o.meant(word, rest == "")
	if !ok {
		return fallback.Model{}, args, ""
	}
	if err := o.permitted(m); err != nil {
		return fallback.Model{}, "", err.Error()
	}
	return m, rest, ""
}

// meant tells which model a word names, if it does.
func (o *order) meant(word string, alone bool) (fallback.Model, bool) {
	c := o.cfg.Fallback
	lower := strings.ToLower(word)
	if word == "" {
		return fallback.Model{}, false
	}
	if lower == wordDefault && alone {
		return o.primary(), true
	}
	if m, ok := c.Aliases[lower]; ok {
		return m, true
	}
	if ref, _ := fallback.ParseRef(word); ref.Provider != "" {
		m, _, err := c.ResolveRef(word)
		return m, err == nil // "and/or" names no provider
	}
	var begins []fallback.Model
	for _, m := range c.Models() {
		name := strings.ToLower(m.Name)
		if name == lower {
			return m, true
		}
		if len(word) >= 3 && strings.HasPrefix(name, lower) {
			begins = append(begins, m)
		}
	}
	if len(begins) == 1 && (alone || strings.ContainsAny(word, "-.0123456789")) {
		return begins[0], true
	}
	return fallback.Model{}, false
}
