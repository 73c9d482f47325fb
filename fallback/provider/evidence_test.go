package provider_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/fallback/provider"
	pt "standin/fallback/provider/providertest"
)

// envelopes are error bodies as vendors document or send them.
var envelopes = []struct {
	name, body          string
	status              int
	code, kind, message string
	wait                time.Duration
}{
	{name: "OpenAI", status: 429,
		body: `{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`,
		code: "insufficient_quota", kind: "insufficient_quota", message: "You exceeded your current quota."},
	{name: "OpenRouter, the code is a status", status: 402,
		body: `{"error":{"message":"Insufficient credits","code":402,"metadata":{"provider_name":"x"}},"user_id":"u"}`, message: "Insufficient credits"},
	{name: "a numeric code that is no status", status: 400,
		body: `{"error":{"message":"no package","code":1113}}`, code: "1113", message: "no package"},
	{name: "a digit string that is no status (Z.ai)", status: 429,
		body: `{"error":{"code":"1302","message":"Rate limit reached"}}`, code: "1302", message: "Rate limit reached"},
	{name: "a bare text (Ollama)", status: 404,
		body: `{"error":"model 'llama9' not found"}`, message: "model 'llama9' not found"},
	{name: "a text with a code beside it (xAI)", status: 403,
		body: `{"code":"The caller does not have permission","error":"Your team has run out of credits."}`,
		code: "The caller does not have permission", message: "Your team has run out of credits."},
	{name: "a bare word with a message beside it", status: 400,
		body: `{"error":"invalid_grant","error_description":"Token has been revoked."}`, code: "invalid_grant", message: "Token has been revoked."},
	{name: "vLLM, flat", status: 400,
		body: `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}`,
		kind: "BadRequestError", message: "This model's maximum context length is 4096 tokens."},
	{name: "Anthropic", status: 529,
		body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`,
		kind: "overloaded_error", message: "Overloaded"},
	{name: "Google, in a list", status: 429,
		body: `[{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.Help"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}]`,
		code: "RESOURCE_EXHAUSTED", message: "Quota exceeded", wait: 34500 * time.Millisecond},
	{name: "Google, alone", status: 400,
		body: `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}`, code: "INVALID_ARGUMENT", message: "API key not valid."},
	{name: "FastAPI, a text", status: 404, body: `{"detail":"Not Found"}`, message: "Not Found"},
	{name: "FastAPI, a list of faults", status: 422,
		body:    `{"detail":[{"loc":["body","messages",0,"role"],"msg":"field required","type":"value_error.missing"}]}`,
		message: "body.messages.0.role: field required"},
	{name: "FastAPI, an object", status: 403, body: `{"detail":{"code":"deactivated_workspace","message":"Gone."}}`,
		code: "deactivated_workspace", message: "Gone."},
	{name: "Mistral, a message that is an object", status: 422,
		body: `{"object":"error","message":{"detail":[{"loc":["body"],"msg":"bad role"}]},"type":"invalid_request_error","code":null}`,
		kind: "invalid_request_error", message: "body: bad role"},
	{name: "DashScope, flat", status: 401, body: `{"code":"InvalidApiKey","message":"Invalid API-key provided.","request_id":"1"}`,
		code: "InvalidApiKey", message: "Invalid API-key provided."},
	{name: "AWS", status: 400, body: `{"__type":"ThrottlingException","message":"Too many requests"}`,
		kind: "ThrottlingException", message: "Too many requests"},
	{name: "Cloudflare", status: 429, body: `{"success":false,"errors":[{"message":"AiError: quota","code":3036}]}`,
		code: "3036", message: "AiError: quota"},
	{name: "problem+json", status: 503, body: `{"type":"https://errors.test/x","title":"Unavailable","status":503,"detail":"Come back later."}`,
		message: "Come back later."},
	{name: "a page of a proxy", status: 502,
		body:    "<!DOCTYPE html>\n<html><head><title>api.test | 502: Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>",
		message: "api.test | 502: Bad gateway"},
	{name: "a page without a title", status: 503, body: "<html><body><h1>503 <b>Service</b> Unavailable</h1></body></html>", message: "503 Service Unavailable"},
	{name: "text", status: 503, body: "upstream connect error or disconnect/reset before headers\n", message: "upstream connect error or disconnect/reset before headers"},
	{name: "nothing", status: 500, body: "", message: ""},
	{name: "an envelope without a word", status: 400, body: `{"error":{"message":"","type":null,"param":null,"code":null}}`, message: ""},
	{name: "JSON of another kind", status: 400, body: `{"ok":false}`, message: `{"ok":false}`},
	{name: "cut JSON", status: 500, body: `{"error":{"mess`, message: `{"error":{"mess`},
	{name: "a list of nothing", status: 500, body: `[]`, message: `[]`},
}

func TestEveryVendorsEnvelopeIsRead(t *testing.T) {
	for _, tt := range envelopes {
		t.Run(tt.name, func(t *testing.T) {
			check := func(e *provider.Error) {
				t.Helper()
				if e.Status != tt.status || e.Code != tt.code || e.Type != tt.kind || e.Message != tt.message || e.RetryAfter != tt.wait {
					t.Errorf("got  %d %q %q %q %v\nwant %d %q %q %q %v", e.Status, e.Code, e.Type, e.Message, e.RetryAfter,
						tt.status, tt.code, tt.kind, tt.message, tt.wait)
				}
				if e.Body != tt.body || e.Transport != "" || e.Err != nil {
					t.Errorf("evidence %#v", e)
				}
			}
			check(provider.ErrorFrom("p", "m", tt.status, nil, []byte(tt.body)))
			// The same through each SDK: none of them may lose a part of it.
			each(t, func(t *testing.T, c provider.Call, _ *[]string) {
				v := pt.New(pt.Status(tt.status, tt.body))
				check(failed(t, v, c))
				if n := len(v.Requests()); n != 1 {
					t.Errorf("%d requests, an SDK retried [D13e]", n)
				}
			})
		})
	}
}

func TestAnErrorInsideAStreamIsAnError(t *testing.T) {
	for _, tt := range []struct {
		name, body    string
		status        int
		code, kind    string
		message       string
		onlyCompletes bool
	}{
		{name: "Anthropic", body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, kind: "overloaded_error", message: "Overloaded"},
		{name: "OpenAI", body: `{"error":{"message":"The server had an error","type":"server_error","code":"server_error"}}`,
			kind: "server_error", code: "server_error", message: "The server had an error"},
		{name: "OpenRouter", body: `{"id":"x","error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`,
			status: 502, message: "Provider disconnected"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, c provider.Call, pieces *[]string) {
				for _, partial := range []string{"", "some words"} {
					*pieces = nil
					e := failed(t, pt.New(pt.StreamError(partial, tt.body)), c)
					if e.Status != tt.status || e.Code != tt.code || e.Type != tt.kind || e.Message != tt.message || !errors.Is(e, provider.ErrInAnswer) {
						t.Errorf("%+v (%#v)", e, e)
					}
					if e.Streamed != (c.OnText != nil && partial != "") || e.Body == "" {
						t.Errorf("streamed %v, body %q", e.Streamed, e.Body)
					}
				}
			})
		})
	}
}

func TestOtherWaysToFailInsideASuccess(t *testing.T) {
	chat := apis[0]
	for _, tt := range []struct {
		name     string
		endpoint provider.Endpoint
		stream   bool
		act      pt.Act
		status   int
		message  string
		inAnswer bool
	}{
		{"a page instead of an answer", chat, false, pt.Raw(200, "text/html; charset=utf-8", "<html><title>Just a moment...</title></html>"), 200, "Just a moment...", true},
		{"a page instead of a stream", chat, true, pt.Raw(200, "text/html", "<html><title>Sign in</title></html>"), 200, "Sign in", true},
		{"a page under another name", chat, false, pt.Raw(200, "application/json", "<html><title>Sign in</title></html>"), 200, "Sign in", true},
		{"a page under another name instead of a stream", apis[2], true, pt.Raw(200, "application/json", "<html><title>Sign in</title></html>"), 200, "Sign in", true},
		{"text instead of a stream", chat, true, pt.Raw(200, "text/plain", "no healthy upstream"), 200, "no healthy upstream", true},
		{"text instead of an answer", chat, false, pt.Raw(200, "text/plain", "no healthy upstream"), 200, "no healthy upstream", true},
		{"finish_reason error, plain", chat, false, pt.Raw(200, "application/json", `{"choices":[{"message":{"content":""},"finish_reason":"error"}]}`), 0, "finish_reason: error", true},
		{"finish_reason error, streamed", chat, true, pt.Raw(200, "text/event-stream", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"network_error\"}]}\n\ndata: [DONE]\n\n"), 0, "finish_reason: network_error", true},
		{"an error event of Responses", apis[1], true, pt.Raw(200, "text/event-stream", "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"Sorry\",\"param\":null}\n\n"), 0, "Sorry", true},
		{"an error event that is only text", apis[2], true, pt.Raw(200, "text/event-stream", "event: error\ndata: upstream died\n\n"), 0, "upstream died", true},
		{"a failed response, not streamed", apis[1], false, pt.Raw(200, "application/json", `{"id":"r","object":"response","status":"failed","error":{"code":"rate_limit_exceeded","message":"Slow down"},"output":[]}`), 0, "Slow down", true},
		{"a redirect is not followed", chat, false, pt.Status(307, "", "Location", "https://elsewhere.test/v1/chat/completions"), 307, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := call(tt.endpoint)
				if tt.stream {
					c, _ = streamed(c)
				}
				v := pt.New(tt.act)
				e := failed(t, v, c)
				if e.Status != tt.status || e.Message != tt.message || e.Transport != "" || errors.Is(e, provider.ErrInAnswer) != tt.inAnswer {
					t.Errorf("%+v: %#v", e, e)
				}
				if len(v.Requests()) != 1 {
					t.Errorf("%d requests", len(v.Requests()))
				}
			})
		})
	}
}

func TestAnErrorPageThatNeverEndsKeepsItsStatus(t *testing.T) {
	each(t, func(t *testing.T, c provider.Call, _ *[]string) {
		c.Limits.Total = time.Minute
		e := failed(t, pt.New(pt.Status(429, `slow`, "Retry-After", "7").ThenHang()), c)
		if e.Status != 429 || e.Message != "slow" || e.RetryAfter != 7*time.Second {
			t.Errorf("%#v", e)
		}
	})
}

func TestALongBodyIsCut(t *testing.T) {
	body := `{"error":{"message":"` + strings.Repeat("é", 50<<10) + `"}}`
	e := failed(t, pt.New(pt.Status(400, body)), call(apis[0]))
	if len(e.Body) > provider.MaxBody || len(e.Body) < provider.MaxBody-4 || strings.ContainsRune(e.Body, '\uFFFD') {
		t.Errorf("body of %d bytes", len(e.Body))
	}
	if len(e.Message) > 4<<10 {
		t.Errorf("message of %d bytes", len(e.Message))
	}
}

func TestRetryAfterIsReadAsTheSDKsReadIt(t *testing.T) { // failover.md 21.B.2
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	const never = -1
	for _, tt := range []struct {
		name, ms, after, date string
		want                  time.Duration
	}{
		{name: "nothing", want: never},
		{name: "milliseconds", ms: "1500", want: 1500 * time.Millisecond},
		{name: "milliseconds with a fraction", ms: "0.5", want: 500 * time.Microsecond},
		{name: "milliseconds win", ms: "20", after: "9", want: 20 * time.Millisecond},
		{name: "zero milliseconds are a hint", ms: "0", after: "9", want: 0},
		{name: "bad milliseconds are passed over", ms: "-5", after: "9", want: 9 * time.Second},
		{name: "words for milliseconds", ms: "soon", after: "9", want: 9 * time.Second},
		{name: "seconds", after: "120", want: 2 * time.Minute},
		{name: "no fraction of seconds", after: "1.5", want: never},
		{name: "not negative", after: "-1", want: never},
		{name: "no sign", after: "+1", want: never},
		{name: "words", after: "later", want: never},
		{name: "IMF-fixdate", after: "Mon, 05 Jan 2026 12:30:00 GMT", want: 30 * time.Minute},
		{name: "RFC 850", after: "Monday, 05-Jan-26 12:30:00 GMT", want: 30 * time.Minute},
		{name: "asctime", after: "Mon Jan  5 12:30:00 2026", want: 30 * time.Minute},
		{name: "another date", after: "2026-01-05T12:30:00Z", want: never},
		{name: "a date gone by", after: "Mon, 05 Jan 2026 11:00:00 GMT", want: 0},
		{name: "a date by the vendor's clock", after: "Mon, 05 Jan 2026 10:00:30 GMT", date: "Mon, 05 Jan 2026 10:00:00 GMT", want: 30 * time.Second},
		{name: "absurdly large seconds", after: strings.Repeat("9", 40), want: 1<<63 - 1},
		{name: "absurdly large milliseconds", ms: strings.Repeat("9", 400), want: 1<<63 - 1},
	} {
		h := http.Header{}
		for name, value := range map[string]string{"Retry-After-Ms": tt.ms, "Retry-After": tt.after, "Date": tt.date} {
			if value != "" {
				h.Set(name, value)
			}
		}
		got, ok := provider.RetryAfter(h, now)
		if !ok {
			got = never
		}
		if got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// The SDKs' retries are off altogether: no status and no hint, below or above any
// cap, makes a call wait or ask twice [D13e, I11, 21.B].
func TestNoAnswerIsWaitedForOrRetried(t *testing.T) {
	each(t, func(t *testing.T, c provider.Call, _ *[]string) {
		for _, tt := range []struct {
			status int
			after  string
			wait   time.Duration
		}{
			{429, "61", 61 * time.Second}, {429, "60", time.Minute}, {429, "1", time.Second}, {429, "", 0}, {429, "next week", 0},
			{503, "", 0}, {503, "2", 2 * time.Second}, {500, "", 0}, {408, "", 0}, {409, "1", time.Second}, {400, "600", 10 * time.Minute},
		} {
			var header []string
			if tt.after != "" {
				header = []string{"Retry-After", tt.after}
			}
			v := pt.New(pt.Status(tt.status, `{"error":{"message":"no"}}`, header...))
			began := time.Now()
			e := failed(t, v, c)
			if n := len(v.Requests()); n != 1 || time.Since(began) > 0 {
				t.Errorf("%d after %q: %d requests in %v", tt.status, tt.after, n, time.Since(began))
			}
			if e.Status != tt.status || e.RetryAfter != tt.wait {
				t.Errorf("%d after %q: the evidence says %d and %v", tt.status, tt.after, e.Status, e.RetryAfter)
			}
		}
	})
}

func TestOnlySafeHeadersAreKept(t *testing.T) {
	h := http.Header{}
	for _, name := range []string{"retry-after", "x-ratelimit-reset-tokens", "anthropic-ratelimit-requests-remaining", "request-id", "content-type", "date",
		"set-cookie", "authorization", "x-api-key", "openai-organization", "server", "x-internal-host"} {
		h.Set(name, "1")
	}
	e := provider.ErrorFrom("p", "m", 429, h, nil)
	if len(e.Header) != 6 || e.Header.Get("Set-Cookie") != "" || e.Header.Get("X-Ratelimit-Reset-Tokens") != "1" {
		t.Errorf("kept %v", e.Header)
	}
}
