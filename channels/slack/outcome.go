package slack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	slackapi "github.com/slack-go/slack"

	"standin/channels"
)

// newHTTPClient wraps the client of the options, or makes one. There is no
// timeout of its own: every call has a context with one.
func newHTTPClient(given *http.Client) *http.Client {
	c := &http.Client{}
	if given != nil {
		*c = *given
	}
	next := c.Transport
	if next == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = 8 // as many as sends run side by side
		next = t
	}
	c.Transport = wholeSeconds{next}
	return c
}

// wholeSeconds makes every 429 one that slack-go understands: it reads only a
// whole number of seconds, and without the header it forgets the limit.
type wholeSeconds struct{ next http.RoundTripper }

func (w wholeSeconds) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(r)
	if err == nil && resp.StatusCode == http.StatusTooManyRequests {
		s, err := strconv.ParseFloat(strings.TrimSpace(resp.Header.Get("Retry-After")), 64)
		if err != nil || s < 1 || math.IsNaN(s) {
			s = 1
		}
		resp.Header.Set("Retry-After", strconv.Itoa(int(math.Ceil(min(s, 86400)))))
	}
	return resp, err
}

// CloseIdleConnections lets http.Client reach the wrapped transport.
func (w wholeSeconds) CloseIdleConnections() {
	if c, ok := w.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// writing runs one call that changes something. The error, if any, says how
// sure we are that nothing was changed.
func (c *Channel) writing(ctx context.Context, call func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return &channels.SendError{Outcome: channels.NotSent, Err: err}
	}
	var wrote atomic.Bool
	ctx, cancel := context.WithTimeout(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { wrote.Store(true) },
	}), c.pace.call)
	defer cancel()
	return sendError(call(ctx), wrote.Load())
}

// sendError reads the error of a call as an outcome [I2]. wrote says that Slack
// may have seen the request.
func sendError(err error, wrote bool) error {
	if err == nil {
		return nil
	}
	known := func(o channels.Outcome, wait time.Duration) error {
		return &channels.SendError{Outcome: o, RetryAfter: wait, Err: plainError(err)}
	}
	var limited *slackapi.RateLimitedError
	var status slackapi.StatusCodeError
	switch code := codeOf(err); {
	case errors.As(err, &limited):
		return known(channels.NotSent, limited.RetryAfter)
	case code != "":
		return known(outcomeOfCode(code))
	case errors.As(err, &status):
		switch {
		case status.Code == http.StatusRequestEntityTooLarge, status.Code == http.StatusBadRequest:
			return known(channels.Refused, 0)
		case status.Code >= 500, status.Code == http.StatusRequestTimeout:
			return known(channels.Unknown, 0)
		}
		return known(channels.NotSent, 0) // a proxy or a wrong address: Slack has not seen it
	case wrote:
		return known(channels.Unknown, 0) // a lost or unreadable answer
	}
	return known(channels.NotSent, 0)
}

// outcomeOfCode reads one of Slack's error codes.
func outcomeOfCode(code string) (channels.Outcome, time.Duration) {
	switch code {
	case "ratelimited", "rate_limited":
		return channels.NotSent, time.Second
	case "request_timeout", "accesslimited", "team_added_to_org":
		return channels.NotSent, 0
	case "internal_error", "fatal_error", "service_unavailable":
		// Slack's own words: some of it may have been done.
		return channels.Unknown, 0
	}
	if _, credential := mends[code]; credential {
		// The message is sound; somebody has to mend the app first.
		return channels.NotSent, time.Minute
	}
	return channels.Refused, 0
}

// retryAfter gives the wait that Slack asked for, 0 for none.
func retryAfter(err error) time.Duration {
	var limited *slackapi.RateLimitedError
	if errors.As(err, &limited) {
		return limited.RetryAfter
	}
	return 0
}

// reasonOf names an error for people: Slack's code if it has one.
func reasonOf(err error) string {
	if err == nil {
		return "closed"
	}
	if code := codeOf(err); code != "" {
		return code
	}
	return plainError(err).Error()
}

// plainError drops the URL from an error of net/http: response URLs and
// download links are as good as keys [I12].
func plainError(err error) error {
	var ue *url.Error
	if !errors.As(err, &ue) {
		return err
	}
	host := "?"
	if u, perr := url.Parse(ue.URL); perr == nil {
		host = u.Host
	}
	inner := ue.Err
	if errors.Is(inner, io.EOF) {
		inner = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s %s: %w", strings.ToUpper(ue.Op), host, inner)
}
