package heartbeat

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf8"

	"standin/bot/policy"
)

// Verdict is what becomes of an answer.
type Verdict struct {
	Text   string // to be posted, where there is a place for it
	Why    Why
	Forget bool // the exchange is kept out of later requests [H16]
}

// Judge decides what becomes of a beat's answer: nothing when it is nothing, or
// what the room has read already [H7, H8, H14]. In doubt nothing is posted
// [IL-062].
func Judge(c Config, seen Visibility, row Row, answer string, now time.Time) Verdict {
	answer = strings.TrimSpace(answer)
	rest, acknowledged := policy.StripOK(answer)
	switch {
	case answer == "":
		return Verdict{Why: WhyEmpty, Forget: true}
	case acknowledged && utf8.RuneCountInString(rest) <= c.AckMax:
		if seen.OK {
			return Verdict{Text: policy.OKToken, Why: WhyShownOK, Forget: true}
		}
		return Verdict{Why: WhyOK, Forget: true}
	case !seen.Alerts:
		return Verdict{Why: WhyHidden}
	case c.Dedupe > 0 && row.Text == hash(rest) && now.Sub(row.TextAt).Abs() < c.Dedupe:
		return Verdict{Why: WhyDuplicate, Forget: true}
	}
	return Verdict{Text: rest, Why: WhyPosted}
}

// hash is how a text is remembered: the same words, however they are spaced.
func hash(text string) string {
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(text), " ")))
	return hex.EncodeToString(sum[:12])
}
