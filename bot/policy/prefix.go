package policy

import (
	"regexp"
	"strings"

	"standin/fallback"
)

// Answerer is who answers, for the variables of a prefix.
type Answerer struct {
	Model fallback.Model
	Name  string // of the agent
}

var prefixVariable = regexp.MustCompile(`(?i)\{[a-z.]+\}`)

// Prefixed puts the response prefix in front of an answer [S38]. "auto" is the
// agent's name in brackets; the variables are {model}, {provider}, {modelFull}
// and {identity.name}, and a word in braces that is none stays as it is. Notices
// are not prefixed: their form is fixed [M12].
func Prefixed(prefix, text string, a Answerer) string {
	if prefix == "auto" {
		if prefix = ""; a.Name != "" {
			prefix = "[" + a.Name + "]"
		}
	}
	prefix = prefixVariable.ReplaceAllStringFunc(prefix, func(v string) string {
		switch strings.ToLower(v) {
		case "{model}":
			return a.Model.Name
		case "{provider}":
			return a.Model.Provider
		case "{modelfull}":
			return a.Model.String()
		case "{identity.name}", "{identityname}":
			return a.Name
		}
		return v
	})
	if prefix == "" || text == "" || strings.HasPrefix(text, prefix) {
		return text
	}
	if strings.HasSuffix(prefix, " ") || strings.HasSuffix(prefix, "\n") {
		return prefix + text
	}
	return prefix + " " + text
}

// PrefixOf is the response prefix of a surface, else the general one.
func (r Rules) PrefixOf(s Surface) string {
	if s.Prefix != nil {
		return *s.Prefix
	}
	return r.Prefix
}
