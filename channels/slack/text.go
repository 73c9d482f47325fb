package slack

import (
	"regexp"
	"strings"
	"unicode/utf8"

	slackapi "github.com/slack-go/slack"

	"standin/channels/markdown"
)

// split cuts a text into posts of at most limit characters; fences that are cut
// are closed and opened again [SL23].
func split(text string, limit int) []string {
	return markdown.Split(text, markdown.Limit{Max: limit, Count: markdown.Runes})
}

// blocksFor shows a text as Slack's own Markdown: tables, nested lists and code
// need no translation of ours.
func blocksFor(text string) []slackapi.Block {
	return []slackapi.Block{slackapi.NewMarkdownBlock("", text)}
}

// summaryLength is how much of a post stands in its notification, in runes.
const summaryLength = 300

// summary is the text beside the blocks: what notifications show and what
// mentions notify by, so those of the rest are kept too.
func summary(text string) string {
	if utf8.RuneCountInString(text) <= summaryLength {
		return mrkdwn(text)
	}
	head := []rune(text)[:summaryLength]
	short := strings.TrimSpace(string(head))
	if i := strings.LastIndexAny(short, " \n"); i > summaryLength/2 {
		short = short[:i]
	}
	rest := text[len(short):]
	line := mrkdwn(strings.ReplaceAll(short, "```", "")) + " …"
	for user := range mentionsInOrder(rest, 10) {
		line += " <@" + user + ">"
	}
	return line
}

// mentionsInOrder gives the users that a text names, each once, at most max.
func mentionsInOrder(text string, max int) func(func(string) bool) {
	return func(yield func(string) bool) {
		told := map[string]bool{}
		for _, m := range userToken.FindAllStringSubmatch(text, -1) {
			if len(told) == max {
				return
			}
			if !told[m[1]] {
				told[m[1]] = true
				if !yield(m[1]) {
					return
				}
			}
		}
	}
}

// mrkdwn turns Markdown into Slack's older markup [SL24], for the text beside
// the blocks and for workspaces that refuse Markdown blocks. Code stays as it is.
func mrkdwn(text string) string {
	var out strings.Builder
	fence := ""
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		bare := strings.TrimLeft(line, " ")
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]+" ") == "" {
				fence = ""
				out.WriteString("```")
				continue
			}
			out.WriteString(escapeText.Replace(line))
		case strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "~~~"):
			fence = bare[:len(bare)-len(strings.TrimLeft(bare, bare[:1]))]
			out.WriteString("```") // Slack shows the language as code
		default:
			out.WriteString(mrkdwnLine(line))
		}
	}
	return out.String()
}

var (
	escapeText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

	heading  = regexp.MustCompile(`^ {0,3}#{1,6} +(.+?) *#*$`)
	bullet   = regexp.MustCompile(`^( *)[-*+] +`)
	quote    = regexp.MustCompile(`^ {0,3}> ?`)
	codeSpan = regexp.MustCompile("`+[^`]+`+")

	// slackToken is what may stand in angle brackets: Slack's own tokens [SL24].
	slackToken = regexp.MustCompile(`<(?:@[UW][A-Z0-9]+|#C[A-Z0-9]+|!(?:here|channel|everyone)|!subteam\^S[A-Z0-9]+|(?:https?://|mailto:|tel:)[^<>\s|]+)(?:\|[^<>]*)?>`)
	link       = regexp.MustCompile(`!?\[([^\[\]]*)\]\((https?://[^\s()<>]+|mailto:[^\s()<>]+)(?: "[^"]*")?\)`)
	bold       = regexp.MustCompile(`\*\*([^\s*](?:[^*]*[^\s*])?)\*\*|__([^\s_](?:[^_]*[^\s_])?)__`)
	italic     = regexp.MustCompile(`\*([^\s*](?:[^*]*[^\s*])?)\*`)
	strike     = regexp.MustCompile(`~~([^\s~](?:[^~]*[^\s~])?)~~`)
)

// mrkdwnLine translates one line outside of fences.
func mrkdwnLine(line string) string {
	prefix := ""
	if quote.MatchString(line) {
		prefix, line = "> ", quote.ReplaceAllString(line, "")
	}
	if m := heading.FindStringSubmatch(line); m != nil {
		return prefix + "*" + inline(bold.ReplaceAllString(m[1], "${1}${2}")) + "*"
	}
	if m := bullet.FindStringSubmatch(line); m != nil {
		return prefix + m[1] + "• " + inline(line[len(m[0]):])
	}
	return prefix + inline(line)
}

// inline translates what stands in a line. Finished pieces are put aside, so
// that no later rule touches them.
func inline(s string) string {
	var aside []string
	keep := func(done string) string {
		aside = append(aside, done)
		return "\x00" + string(rune(0xE000+len(aside)-1)) + "\x00"
	}
	s = strings.ReplaceAll(s, "\x00", "")
	s = codeSpan.ReplaceAllStringFunc(s, func(c string) string { return keep(escapeText.Replace(c)) })
	s = slackToken.ReplaceAllStringFunc(s, keep)
	s = link.ReplaceAllStringFunc(s, func(l string) string {
		m := link.FindStringSubmatch(l)
		if m[1] == "" || m[1] == m[2] {
			return keep("<" + m[2] + ">")
		}
		return keep("<" + m[2] + "|" + escapeText.Replace(strings.ReplaceAll(m[1], "|", "/")) + ">")
	})
	s = escapeText.Replace(s)
	const strong = "\x01"
	s = bold.ReplaceAllString(s, strong+"${1}${2}"+strong)
	s = italic.ReplaceAllString(s, "_${1}_")
	s = strike.ReplaceAllString(s, "~${1}~")
	s = strings.ReplaceAll(s, strong, "*")
	for i := len(aside) - 1; i >= 0; i-- {
		s = strings.ReplaceAll(s, "\x00"+string(rune(0xE000+i))+"\x00", aside[i])
	}
	return s
}
