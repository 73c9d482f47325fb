package provider

import (
	"regexp"
	"slices"
	"sort"
	"strings"
)

// mark stands where a secret was.
const mark = "[secret]"

// secretShapes are the texts that are taken for secrets wherever they stand.
// Each has one group at most; what a group matched is kept in front of the mark.
var secretShapes = []*regexp.Regexp{
	// Keys with a prefix of their vendor: OpenAI, Anthropic and many gateways
	// (sk-), Slack (xox?-, xapp-), Google (AIza, ya29.), Groq, xAI, Hugging
	// Face, Replicate, GitHub, GitLab, AWS. Vendors echo keys with asterisks.
	regexp.MustCompile(`\b(?:sk|pk|rk)-[A-Za-z0-9_*.-]{4,}`),
	regexp.MustCompile(`\b(?:xox[a-z]|xapp)-[A-Za-z0-9-]{6,}`),
	regexp.MustCompile(`\b(?:AIza[A-Za-z0-9_-]{16,}|ya29\.[A-Za-z0-9_-]{16,}|gsk_[A-Za-z0-9]{16,}|xai-[A-Za-z0-9]{16,}|hf_[A-Za-z0-9]{16,}|r8_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{16,}|(?:AKIA|ASIA)[A-Z0-9]{16})`),
	// Tokens with a shape: JSON Web Tokens, Discord bot tokens.
	regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*`),
	regexp.MustCompile(`\b[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}`),
	// Places where secrets stand: headers, query strings, user information.
	regexp.MustCompile(`(?i)(\b(?:bearer|basic)[ ]+)[A-Za-z0-9._~+/=-]{16,}`),
	regexp.MustCompile(`(?i)(\b(?:x-api-key|api-key|authorization|x-goog-api-key)"?[ ]*[:=][ ]*"?)[A-Za-z0-9._~+/=-]{8,}`),
	regexp.MustCompile(`(?i)([?&](?:key|api_key|apikey|api-key|access_token|refresh_token|token|client_secret|code)=)[^&\s"'<>]+`),
	regexp.MustCompile(`(\b[a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s@"'<>]+@`),
}

// suspicious are the fixed parts of the shapes above, lower case. A text
// without any of them, and without two dots in one word, needs no search.
var suspicious = []string{
	"sk-", "pk-", "rk-", "xox", "xapp-", "aiza", "ya29.", "gsk_", "xai-", "hf_", "r8_", "gh", "glpat-",
	"akia", "asia", "eyj", "bearer", "basic", "api-key", "authorization", "key=", "token=", "secret=", "code=", "@",
}

// Redact replaces everything that looks like a secret by a mark: keys with a
// known prefix, bearer tokens, credentials in query strings and the user
// information of URLs. It is idempotent and safe on any text, JSON included.
func Redact(s string) string {
	if !mayHoldSecret(s) {
		return s
	}
	for i, shape := range secretShapes {
		with := mark
		if shape.NumSubexp() == 1 {
			with = "${1}" + mark
		}
		if i == len(secretShapes)-1 {
			with += "@"
		}
		s = shape.ReplaceAllString(s, with)
	}
	return s
}

func mayHoldSecret(s string) bool {
	lower := strings.ToLower(s)
	for _, part := range suspicious {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return strings.Count(s, ".") >= 2 && len(s) >= 50
}

// RedactThese is Redact that also knows some secrets by their value, as those
// which a program or a server was given and may repeat. A value of two words,
// such as Bearer and a token, is known by the second as well.
func RedactThese(s string, secrets []Key) string {
	var list []string
	for _, one := range secrets {
		value := one.Reveal()
		list = append(list, value)
		if _, token, found := strings.Cut(value, " "); found {
			list = append(list, token)
		}
	}
	list = slices.DeleteFunc(list, func(v string) bool { return len(v) < 4 })
	sort.Slice(list, func(i, j int) bool { return len(list[i]) > len(list[j]) })
	return scrub(s, list)
}

// scrub removes the given secrets of a call, then what looks like one.
func scrub(s string, secrets []string) string {
	for _, secret := range secrets {
		s = strings.ReplaceAll(s, secret, mark)
	}
	return Redact(s)
}

// secrets lists what a call must not show: its key, and the values of the
// operator's headers, which often are keys of a gateway. Very short values are
// left out: they are no secrets, and replacing them would garble the text. The
// longest come first, since one may contain another.
func (c *Call) secrets() []string {
	var list []string
	if key := c.Key.Reveal(); len(key) >= 4 {
		list = append(list, key)
	}
	for _, value := range c.Endpoint.Headers {
		if len(value) >= 8 {
			list = append(list, value)
		}
	}
	sort.Slice(list, func(i, j int) bool { return len(list[i]) > len(list[j]) })
	return list
}
