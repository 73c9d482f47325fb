package policy

import (
	"fmt"
	"regexp"
	"strings"

	"standin/channels"
	"standin/fallback"
)

// Addressed tells whether a message that was let in speaks to the agent, and if
// not, why [SL12, D6]; Unasked says why of a message that counts as addressed
// only because its room asks for no mention [S36]. names are the agent's: as a word they are a mention too.
func (r Rules) Addressed(in channels.Inbound, agent fallback.AgentID, names ...string) (addressed bool, why string) {
	s, known := r.Surface(in.To)
	switch {
	case in.Chat == channels.Direct, in.Command, in.Mentioned:
		return true, ""
	case !known:
		return false, "ambient" // the adapter's word stands
	}
	rule := s.rule(in)
	switch {
	case r.matches(in.Text, agent, names):
		return true, ""
	case in.MentionsOthers && rule.IgnoreOthers != nil && *rule.IgnoreOthers:
		return false, "speaks to somebody else"
	case in.Implicit && !s.ThreadsAsk:
		return true, ""
	case rule.Mention != nil && !*rule.Mention:
		return true, Unasked
	}
	return false, "ambient"
}

// Unasked is said of what was not said to the agent in a room without
// requireMention.
const Unasked = "no mention is asked for"

// matches tells whether a pattern or a name of the agent stands in the text.
func (r Rules) matches(text string, agent fallback.AgentID, names []string) bool {
	patterns := r.AgentPatterns[agent]
	if patterns == nil {
		patterns = r.Patterns
	}
	for _, p := range patterns {
		if p.MatchString(text) {
			return true
		}
	}
	for _, name := range names {
		if hasWord(text, strings.TrimSpace(name)) {
			return true
		}
	}
	return false
}

// hasWord tells whether a name stands in a text by itself, whatever its case.
func hasWord(text, name string) bool {
	if name == "" {
		return false
	}
	text, name = strings.ToLower(text), strings.ToLower(name)
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(name)
		if !letterBefore(text[:start]) && !letterAfter(text[end:]) {
			return true
		}
		from = end
	}
}

// Patterns compiles mention patterns, which match whatever the case. The error
// names the first that is no regular expression.
func Patterns(list []string) (compiled []*regexp.Regexp, err error) {
	for _, text := range list {
		p, err := regexp.Compile("(?i)" + text)
		if err != nil {
			return nil, fmt.Errorf("mention pattern %q: %w", text, err)
		}
		compiled = append(compiled, p)
	}
	return compiled, nil
}
