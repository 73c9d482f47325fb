package provider

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrInAnswer is the cause of an Error that the vendor reported inside a 200
// answer: an error event of a stream, an error envelope, a finish reason that
// means failure. Its Status is the one the envelope names, 0 when it names none.
var ErrInAnswer = errors.New("reported inside a successful answer")

// maxMessage bounds Error.Message, in bytes.
const maxMessage = 2 << 10

// ErrorFrom makes the evidence of a vendor's answer, whatever envelope the
// vendor wrapped it in. A status of 0 or 2xx means an error inside an
// otherwise successful answer: the status is then the envelope's own. Nothing
// that looks like a secret survives in the result.
func ErrorFrom(provider, model string, status int, header http.Header, body []byte) *Error {
	return errorFrom(provider, model, status, header, body, nil)
}

// errorFrom also takes the secrets of the call out of what is kept.
func errorFrom(provider, model string, status int, header http.Header, body []byte, secrets []string) *Error {
	e := &Error{
		Provider: provider,
		Model:    model,
		Status:   status,
		Header:   keepHeader(header, secrets),
		Body:     cut(scrub(string(body), secrets), MaxBody),
	}
	env, isEnvelope := readEnvelope(body)
	switch {
	case isEnvelope:
		e.Code, e.Type, e.Message = scrub(env.code, secrets), scrub(env.kind, secrets), env.message
	case looksLikeHTML(body):
		e.Message = pageTitle(body)
	default:
		e.Message = strings.TrimSpace(string(body))
	}
	e.Message = cut(scrub(e.Message, secrets), maxMessage)
	if status/100 == 2 || status == 0 {
		if isEnvelope {
			e.Status = env.status
		}
		e.Err = ErrInAnswer
	}
	wait, ok := RetryAfter(header, time.Now())
	if !ok {
		wait = env.retry
	}
	if wait == 0 && !ok && e.Status == http.StatusTooManyRequests {
		wait = limitReset(header, time.Now())
	}
	e.RetryAfter = wait
	e.Windows = usageWindows(body, header)
	return e
}

// cut shortens s to at most n bytes without splitting a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

var (
	htmlStart = regexp.MustCompile(`(?i)^\s*(?:<!doctype\s+html|<html|<head|<body|<!--|<\?xml)`)
	htmlTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	htmlHead  = regexp.MustCompile(`(?is)<h1[^>]*>(.*?)</h1>`)
	htmlTag   = regexp.MustCompile(`<[^>]*>`)
)

func looksLikeHTML(body []byte) bool { return htmlStart.Match(body) }

// pageTitle gives the title of a page, or its first heading: what a person
// would read first of an error page of a proxy.
func pageTitle(body []byte) string {
	for _, part := range []*regexp.Regexp{htmlTitle, htmlHead} {
		if m := part.FindSubmatch(body); m != nil {
			if text := strings.Join(strings.Fields(htmlTag.ReplaceAllString(string(m[1]), " ")), " "); text != "" {
				return text
			}
		}
	}
	return "HTML page instead of an answer"
}
