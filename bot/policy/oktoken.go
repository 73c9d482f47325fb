package policy

import (
	"regexp"
	"strings"
)

// OKToken is the word by which an agent answers a heartbeat when nothing needs
// attention [H7].
const OKToken = "HEARTBEAT_OK"

// The token at an edge, in any case and in whatever Markdown or HTML it is
// wrapped; at the end at most four other characters may follow it.
var (
	okFirst = regexp.MustCompile("(?i)^(?:[*_~`>#]+|<[^<>]{1,40}>|&nbsp;|\\s)*" + OKToken + "(?:[*_~`]+|</[^<>]{1,40}>|&nbsp;|\\s)*(?:[^\\pL\\pN_]|$)[.,:;!–—-]*")
	okLast  = regexp.MustCompile("(?i)(^|[^\\pL\\pN_*~`>])(?:[*_~`]+|<[^<>/]{1,40}>)*" + OKToken + "(?:[*_~`]+|</[^<>]{1,40}>|\\s)*[^\\pL\\pN_]{0,4}$")
)

// StripOK takes the token off the edges of a text and tells whether it was
// there. In the middle of a text it is ordinary text.
func StripOK(text string) (rest string, found bool) {
	rest = strings.TrimSpace(text)
	if at := okFirst.FindStringIndex(rest); at != nil {
		rest, found = strings.TrimSpace(rest[at[1]:]), true
	}
	if at := okLast.FindStringSubmatchIndex(rest); at != nil {
		rest, found = strings.TrimSpace(rest[:at[3]]), true
	}
	return rest, found
}
