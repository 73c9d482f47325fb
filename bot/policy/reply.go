package policy

import (
	"regexp"
	"strings"

	"standin/channels"
)

// Tag is what a model says about the reference of its answer: the message it
// answers, or another one.
type Tag struct {
	Current bool   // [[reply_to_current]]
	To      string // [[reply_to:<id>]]
}

var tagPattern = regexp.MustCompile(`(?i)\[\[\s*reply_to(?:_current|\s*:\s*([^\]\s]+))\s*\]\]`)

// Untag takes the reply tags out of an answer. The last one counts.
func Untag(text string) (clean string, tag Tag) {
	if !strings.Contains(text, "[[") {
		return text, tag
	}
	for _, m := range tagPattern.FindAllStringSubmatch(text, -1) {
		tag = Tag{Current: m[1] == "", To: m[1]}
	}
	if tag == (Tag{}) {
		return text, tag
	}
	return strings.TrimSpace(tagPattern.ReplaceAllString(text, "")), tag
}

// Settled cuts a tag that is not finished yet from the end of a growing answer,
// so that nobody reads half of it.
func Settled(text string) string {
	i := strings.LastIndex(text, "[[")
	if i < 0 {
		return strings.TrimSuffix(text, "[")
	}
	open := strings.ToLower(strings.ReplaceAll(text[i:], " ", ""))
	const word = "[[reply_to"
	if !strings.Contains(open, "]]") && (strings.HasPrefix(word, open) || strings.HasPrefix(open, word)) {
		return strings.TrimSpace(text[:i])
	}
	return text
}

// References gives each post of a turn its reference by the surface's reply
// mode [N25–N29], then honours the answer's own tag: it counts in every mode but
// off, and there where the surface lets it [N27]. posts refer to the message as
// they come in; a notice never follows a tag.
func (s Surface) References(in channels.Inbound, batch bool, tag Tag, posts []channels.Outbound) []channels.Outbound {
	if in.Command {
		return posts // the id is the platform's handle of the command itself
	}
	mode := s.ReplyMode(in.Chat)
	placed := channels.Place(mode, batch, posts)
	if tag == (Tag{}) || mode == channels.ReplyOff && !s.TagsInOff {
		return placed
	}
	target := in.ID
	if tag.To != "" {
		target = tag.To
	}
	for i := range placed {
		if placed[i].Kind == channels.Reply {
			placed[i].ReplyTo = target
			break
		}
	}
	return placed
}
