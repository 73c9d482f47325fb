package bot

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"standin/channels"
	"standin/fallback"
)

// own is what one message asks for itself [C3]: it counts before what its session
// was told, for its turn alone.
type own struct {
	settings Settings
	model    fallback.Model // of /model; zero: none
	profile  fallback.ProfileID
}

// over is own with what a later message of the same turn asks for.
func (o own) over(later own) own {
	for _, name := range []SettingName{SetThink, SetVerbose, SetUsage} {
		if v := later.settings.Of(name); v != "" {
			o.settings = o.settings.With(Setting{name, v})
		}
	}
	if !later.model.IsZero() {
		o.model, o.profile = later.model, later.profile
	}
	return o
}

// of is what counts for a turn of a session: the message's own word, or else the
// session's; a setting that neither knows is "".
func (o own) of(sess Session, name SettingName) string {
	if v := o.settings.Of(name); v != "" {
		return v
	}
	return sess.Settings.Of(name)
}

// directiveNames are the directives that may stand inside a text.
var directiveNames = map[string]SettingName{"think": SetThink, "thinking": SetThink, "verbose": SetVerbose, "usage": SetUsage}

// directive is a directive with its value, where it may begin one.
var directive = regexp.MustCompile(`(?i)/(think|thinking|verbose|usage|model)(?:[ \t]*:[ \t]*|[ \t]+)([^\s/][^\s]*)`)

// directives finds what a text asks for itself, and the text without it. Only
// whole words with a value that means something count: who writes about /think
// has given none.
func directives(cfg *fallback.Config, text string) (o own, found []Setting, rest string) {
	var kept strings.Builder
	from := 0
	for _, at := range directive.FindAllStringSubmatchIndex(text, -1) {
		name, value := strings.ToLower(text[at[2]:at[3]]), text[at[4]:at[5]]
		if before, _ := utf8.DecodeLastRuneInString(text[:at[0]]); at[0] > 0 && !unicode.IsSpace(before) {
			continue
		}
		if name == "model" {
			m, profile, ok := namedModel(cfg, value)
			if !ok {
				continue
			}
			o.model, o.profile = m, profile
		} else {
			s, err := ParseSetting(directiveNames[name], value)
			if err != nil || s.Value == "" {
				continue
			}
			o.settings, found = o.settings.With(s), append(found, s)
		}
		kept.WriteString(text[from:at[0]])
		from = at[1]
		if from < len(text) && text[from] == ' ' && (kept.Len() == 0 || strings.HasSuffix(kept.String(), " ")) {
			from++ // the gap closes
		}
	}
	if from == 0 {
		return own{}, nil, text
	}
	kept.WriteString(text[from:])
	return o, found, strings.TrimSpace(kept.String())
}

// namedModel reads the model of an inline /model, which has to be one that may be
// chosen: any other word is a word of the text.
func namedModel(cfg *fallback.Config, ref string) (m fallback.Model, p fallback.ProfileID, ok bool) {
	m, p, err := cfg.ResolveRef(ref)
	return m, p, err == nil && slices.Contains(cfg.Models(), m)
}

// goesOn tells whether a message that begins with a directive says more: then it
// is no command, but a message with a wish of its own [C3].
func goesOn(cfg *fallback.Config, in channels.Inbound) bool {
	if in.Command {
		return false
	}
	o, found, rest := directives(cfg, in.Text)
	return rest != "" && rest != in.Text && (len(found) > 0 || !o.model.IsZero())
}

// wishes takes the directives out of an authorized person's text.
func wishes(cfg *Config, in channels.Inbound) (own, string) {
	if s, _ := cfg.Rules.Surface(in.To); !in.Authorized || s.NativeOnly || in.Command {
		return own{}, in.Text // plain text [C2]
	}
	o, _, rest := directives(cfg.Fallback, in.Text)
	if rest == "" && len(in.Files) == 0 {
		return own{}, in.Text
	}
	return o, rest
}
