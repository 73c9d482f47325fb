package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
)

// api calls Discord's REST API through discordgo, with three of its habits taken
// away: its rate limiter sleeps under a lock and does not know contexts (ours is
// limits), it repeats a 429 without bound, and an answer that is not JSON hides
// the status it came with. What a call came to is read from the wire, not from
// discordgo's errors, which hold the request with its token.
type api struct {
	session *discordgo.Session
	base    *url.URL
	http    http.RoundTripper
	limits  *limits
	token   channels.Secret
	pace    pace
	now     func() time.Time
}

// newAPI makes the client; base is Config.APIURL, which Validate has seen.
func newAPI(base string, token channels.Secret, rt http.RoundTripper, p pace, now func() time.Time) (*api, error) {
	u, err := url.Parse(strings.TrimRight(base, "/"))
	if err != nil {
		return nil, errors.New("apiUrl is no URL")
	}
	s, err := discordgo.New("Bot " + strings.TrimPrefix(token.Reveal(), "Bot "))
	if err != nil {
		return nil, fmt.Errorf("discordgo: %w", err)
	}
	s.ShouldRetryOnRateLimit, s.MaxRestRetries, s.LogLevel = false, 0, -1
	s.StateEnabled = false
	s.UserAgent = "DiscordBot (standin)"
	return &api{session: s, base: u, http: rt, limits: newLimits(now), token: token, pace: p, now: now}, nil
}

// call is one request. Path is below the base, without its leading slash.
type call struct {
	method, path string
	query        url.Values
	body         any // sent as JSON
	files        []*discordgo.File
	free         bool // no limit is kept to: the answer to an interaction has three seconds
}

// callError is how a call failed. It holds no token, and no URL: those of
// interactions are secrets too.
type callError struct {
	Status     int           // HTTP status, 0: none came
	Code       int           // Discord's JSON error code, 0: none
	Message    string        // Discord's words
	Field      string        // of a 50035: the first field that was refused
	RetryAfter time.Duration // of a limit
	Reached    bool          // the request may have been taken
	Err        error         // of the transport
}

func (e *callError) Error() string {
	switch {
	case e.Status == 0 && e.RetryAfter > 0:
		return "rate limited, next call in " + e.RetryAfter.Round(time.Millisecond).String()
	case e.Status == 0:
		return e.Err.Error()
	}
	text := "HTTP " + strconv.Itoa(e.Status)
	if e.Code != 0 {
		text += ", code " + strconv.Itoa(e.Code)
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.Field != "" {
		text += " (" + e.Field + ")"
	}
	return text
}

// Unwrap gives the transport's error.
func (e *callError) Unwrap() error { return e.Err }

// codeOf gives Discord's error code of an error, 0 for others.
func codeOf(err error) int {
	var ce *callError
	if errors.As(err, &ce) {
		return ce.Code
	}
	return 0
}

func statusOf(err error) int {
	var ce *callError
	if errors.As(err, &ce) {
		return ce.Status
	}
	return 0
}

// tries are the attempts at a call that met a limit it could wait for [D14].
const tries = 3

// do makes the call and decodes the answer into into, unless that is nil. A
// limit is waited for when that is short; else the error says how long it lasts,
// and the outbox comes again. Its errors are *callError, or the context's.
func (a *api) do(ctx context.Context, c call, into any) error {
	key := routeOf(c.method, c.path)
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return &callError{Err: context.Cause(ctx)}
		}
		if wait := a.limits.take(key); wait > 0 && !c.free {
			if err := a.pause(ctx, wait); err != nil {
				return err
			}
		}
		x, err := a.once(ctx, c)
		a.limits.learn(key, x.status, x.header, x.body)
		if err == nil && x.status/100 == 2 {
			if into == nil || len(x.body) == 0 {
				return nil
			}
			if err := json.Unmarshal(x.body, into); err != nil {
				return &callError{Status: x.status, Message: "an answer that is not what was asked for", Reached: true, Err: err}
			}
			return nil
		}
		fault := a.fault(x, err)
		if fault.Status != http.StatusTooManyRequests || try == tries {
			return fault
		}
		if err := a.pause(ctx, fault.RetryAfter); err != nil {
			return fault
		}
	}
}

// pause waits for a limit, if it is worth it.
func (a *api) pause(ctx context.Context, wait time.Duration) error {
	limited := &callError{RetryAfter: wait}
	if wait > a.pace.patience {
		return limited
	}
	if channels.Sleep(ctx, wait) != nil {
		return limited
	}
	return nil
}

// once sends the request, without any retry.
func (a *api) once(ctx context.Context, c call) (*exchange, error) {
	ctx, cancel := context.WithTimeout(ctx, a.pace.call)
	defer cancel()
	x := &exchange{api: a}
	contentType, body := "application/json", []byte(nil)
	var err error
	switch {
	case c.files != nil:
		contentType, body, err = discordgo.MultipartBodyWithJSON(c.body, c.files)
	case c.body != nil:
		body, err = json.Marshal(c.body)
	}
	if err != nil {
		return x, fmt.Errorf("write the request: %w", err)
	}
	target := discordgo.EndpointAPI + c.path
	if len(c.query) > 0 {
		target += "?" + c.query.Encode()
	}
	bucket := &discordgo.Bucket{} // a new one each time: nobody waits for its lock
	bucket.Lock()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { x.reached.Store(true) }})
	_, err = a.session.RequestWithLockedBucket(c.method, target, contentType, body, bucket, 0,
		discordgo.WithContext(ctx), discordgo.WithClient(&http.Client{Transport: x, CheckRedirect: noRedirect}))
	if x.status != 0 && x.broken == nil {
		err = nil // the exchange says it better
	}
	return x, err
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// fault reads a failed exchange.
func (a *api) fault(x *exchange, err error) *callError {
	e := &callError{Status: x.status, Reached: x.reached.Load()}
	if x.status == 0 || x.broken != nil {
		e.Status, e.Err = 0, errors.New(a.clean(err))
		if errors.Is(err, context.DeadlineExceeded) {
			e.Err = context.DeadlineExceeded
		}
		return e
	}
	var said struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Errors  json.RawMessage `json:"errors"`
	}
	if json.Unmarshal(x.body, &said) == nil {
		e.Code, e.Message, e.Field = said.Code, a.cleanText(said.Message), firstField(said.Errors)
	}
	if x.status == http.StatusTooManyRequests {
		e.RetryAfter = retryAfter(x.header, x.body)
		e.Reached = false // a request that meets a limit is not carried out
	}
	return e
}

// clean gives the words of a transport's error without the URL.
func (a *api) clean(err error) string {
	if err == nil {
		return "no answer"
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return a.cleanText(err.Error())
}

// cleanText takes the token out of a text, wherever it came from [I12].
func (a *api) cleanText(s string) string {
	if t := strings.TrimPrefix(a.token.Reveal(), "Bot "); t != "" {
		s = strings.ReplaceAll(s, t, "[secret]")
	}
	return s
}

// LogValue keeps the client, and with it the token, out of logs.
func (a *api) LogValue() slog.Value { return slog.StringValue("discord api") }

// exchange carries one request to the API's real base and keeps what came back.
type exchange struct {
	api     *api
	status  int
	header  http.Header
	body    []byte
	broken  error // the answer broke off
	reached atomic.Bool
}

// maxAnswer bounds an answer of the API, in bytes.
const maxAnswer = 16 << 20

// RoundTrip implements http.RoundTripper.
func (x *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	u := *x.api.base
	u.Path += "/" + strings.TrimPrefix(req.URL.Path, "/api/v"+discordgo.APIVersion+"/")
	u.RawPath = ""
	if raw := req.URL.RawPath; raw != "" { // an emoji in a reaction's path
		u.RawPath = x.api.base.EscapedPath() + "/" + strings.TrimPrefix(raw, "/api/v"+discordgo.APIVersion+"/")
	}
	u.RawQuery = req.URL.RawQuery
	out := req.Clone(req.Context())
	out.URL, out.Host = &u, u.Host
	resp, err := x.api.http.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	x.status, x.header = resp.StatusCode, resp.Header
	x.body, x.broken = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	_ = resp.Body.Close()
	if x.broken != nil {
		return nil, x.broken
	}
	bare := http.Header{}
	bare.Set("Content-Type", resp.Header.Get("Content-Type"))
	// Without the limit headers discordgo's own limiter has nothing to do.
	return &http.Response{
		Status: resp.Status, StatusCode: resp.StatusCode, Proto: resp.Proto, ProtoMajor: resp.ProtoMajor, ProtoMinor: resp.ProtoMinor,
		Header: bare, Body: io.NopCloser(bytes.NewReader(x.body)), ContentLength: int64(len(x.body)), Request: req,
	}, nil
}

// firstField finds the first refused field in the tree of a 50035.
func firstField(tree json.RawMessage) string {
	var path []string
	for len(tree) > 0 {
		var node map[string]json.RawMessage
		if json.Unmarshal(tree, &node) != nil || len(node) == 0 {
			break
		}
		if list, ok := node["_errors"]; ok {
			var why []struct{ Code, Message string }
			if json.Unmarshal(list, &why) == nil && len(why) > 0 {
				return strings.Join(path, ".") + ": " + why[0].Message
			}
			break
		}
		key := sortedKeys(node)[0]
		path, tree = append(path, key), node[key]
	}
	return strings.Join(path, ".")
}
