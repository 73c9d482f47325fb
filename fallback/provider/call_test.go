package provider_test

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/fallback/provider"
	pt "standin/fallback/provider/providertest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const secret = "sk-test-0123456789abcdef"

// apis are the three protocols, each with an endpoint that a double answers.
var apis = []provider.Endpoint{
	{Provider: "openai", API: provider.OpenAICompletions, BaseURL: "https://openai.test/v1"},
	{Provider: "openai", API: provider.OpenAIResponses, BaseURL: "https://openai.test/v1"},
	{Provider: "anthropic", API: provider.AnthropicMessages, BaseURL: "https://anthropic.test"},
}

func call(e provider.Endpoint) provider.Call {
	return provider.Call{
		Endpoint: e, Model: "model-x", Profile: "openai:default", Key: provider.NewKey(secret),
		System: "Be brief.",
		Messages: []provider.Message{
			{Role: provider.User, Text: "hello"},
			{Role: provider.Assistant, Text: "hi"},
			{Role: provider.User, Text: "what is <2 & 3>?"},
		},
	}
}

// streamed gives the call with OnText, and where the pieces go.
func streamed(c provider.Call) (provider.Call, *[]string) {
	var pieces []string
	c.OnText = func(piece string) { pieces = append(pieces, piece) }
	return c, &pieces
}

// each runs a test once per protocol, streamed and not, in a bubble.
func each(t *testing.T, f func(t *testing.T, c provider.Call, pieces *[]string)) {
	for _, e := range apis {
		for _, stream := range []bool{false, true} {
			name := string(e.API) + "/plain"
			if stream {
				name = string(e.API) + "/streamed"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c, pieces := call(e), new([]string)
					if stream {
						c, pieces = streamed(c)
					}
					f(t, c, pieces)
				})
			})
		}
	}
}

func ask(t *testing.T, v http.RoundTripper, c provider.Call) (*provider.Reply, error) {
	t.Helper()
	return provider.New(provider.Options{Transport: v}).Call(t.Context(), c)
}

// failed asks and wants evidence.
func failed(t *testing.T, v http.RoundTripper, c provider.Call) *provider.Error {
	t.Helper()
	reply, err := ask(t, v, c)
	var e *provider.Error
	if !errors.As(err, &e) {
		t.Fatalf("got reply %+v, error %v; want an *Error", reply, err)
	}
	if e.Provider != c.Endpoint.Provider || e.Model != c.Model {
		t.Errorf("evidence names %s/%s", e.Provider, e.Model)
	}
	return e
}

func TestAnAnswerComesWithTextFinishAndTokens(t *testing.T) {
	finish := map[provider.API]string{
		provider.OpenAICompletions: "stop", provider.OpenAIResponses: "completed", provider.AnthropicMessages: "end_turn",
	}
	each(t, func(t *testing.T, c provider.Call, pieces *[]string) {
		v := pt.New(pt.Answer("five is the answer"))
		reply, err := ask(t, v, c)
		if err != nil {
			t.Fatal(err)
		}
		if reply.Text != "five is the answer" || reply.Finish != finish[c.Endpoint.API] {
			t.Errorf("reply %+v", reply)
		}
		if reply.Tokens.Input == 0 || reply.Tokens.Output != 5 {
			t.Errorf("tokens %+v", reply.Tokens)
		}
		if c.OnText != nil && !slices.Equal(*pieces, []string{"five ", "is ", "the ", "answer"}) {
			t.Errorf("pieces %q", *pieces)
		}
		r := v.Requests()[0]
		if r.Model != "model-x" || r.Key != secret || r.Stream != (c.OnText != nil) || r.System != "Be brief." || !cmp.Equal(r.Messages, c.Messages) {
			t.Errorf("request %+v", r)
		}
	})
}

func TestARequestHasTheBodyOfItsProtocol(t *testing.T) {
	each(t, func(t *testing.T, c provider.Call, _ *[]string) {
		c.MaxTokens = 1000
		c.Messages = append(c.Messages, provider.Message{Role: provider.Assistant}) // says nothing, is left out
		v := pt.New()
		if _, err := ask(t, v, c); err != nil {
			t.Fatal(err)
		}
		name := string(c.Endpoint.API) + ".plain.json"
		if c.OnText != nil {
			name = string(c.Endpoint.API) + ".streamed.json"
		}
		golden(t, name, v.Requests()[0].Body)
	})
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "request", name)
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(want)) != strings.TrimSpace(string(got)) {
		t.Errorf("%s:\n got %s\nwant %s", name, got, want)
	}
}

func TestAnthropicIsAskedFor8192TokensUnlessTheCallSaysOtherwise(t *testing.T) {
	for limit, want := range map[int]string{0: `"max_tokens":8192`, 100: `"max_tokens":100`, 64000: `"max_tokens":64000`} {
		c := call(apis[2])
		c.MaxTokens = limit
		v := pt.New()
		if _, err := ask(t, v, c); err != nil { // 64000 without a stream is refused by the SDK when left to itself
			t.Fatal(limit, err)
		}
		if body := string(v.Requests()[0].Body); !strings.Contains(body, want) {
			t.Errorf("body %s lacks %s", body, want)
		}
	}
}

func TestAnEmptyAnswerIsAReply(t *testing.T) { // "Text may be empty: the caller judges that" [M26]
	each(t, func(t *testing.T, c provider.Call, _ *[]string) {
		reply, err := ask(t, pt.New(pt.Empty()), c)
		if err != nil || reply.Text != "" {
			t.Errorf("reply %+v, error %v", reply, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		reply, err := ask(t, pt.New(pt.Raw(200, "application/json", `{"id":"x","choices":[]}`)), call(apis[0]))
		if err != nil || reply.Text != "" {
			t.Errorf("no choices: reply %+v, error %v", reply, err)
		}
	})
}

func TestEachLimitIsACauseOfItsOwn(t *testing.T) { // [D23, I13]
	limits := provider.Limits{Connect: 10 * time.Second, FirstToken: 120 * time.Second, Idle: 60 * time.Second, Total: 540 * time.Second}
	each(t, func(t *testing.T, c provider.Call, pieces *[]string) {
		c.Limits = limits
		stream := c.OnText != nil
		for _, tt := range []struct {
			name  string
			act   pt.Act
			total time.Duration
			want  provider.Transport
			after time.Duration
			skip  bool
		}{
			{name: "no connection comes up", act: pt.HangConnect(), want: provider.ConnectTimeout, after: 10 * time.Second},
			{name: "the vendor takes the request and is silent", act: pt.Hang(), want: provider.FirstTokenTimeout, after: 120 * time.Second},
			{name: "headers and greetings are no token", act: pt.Stall(""), want: provider.FirstTokenTimeout, after: 120 * time.Second},
			{name: "silence in the middle", act: pt.Stall("a b c").Pace(50 * time.Second), want: provider.IdleTimeout, after: 210 * time.Second, skip: !stream},
			{name: "slow but alive until the end of the attempt", act: pt.Answer(strings.Repeat("word ", 30)).Pace(50 * time.Second), want: provider.AttemptTimeout, after: 540 * time.Second, skip: !stream},
			{name: "a total shorter than the rest", act: pt.Hang(), total: 3 * time.Second, want: provider.AttemptTimeout, after: 3 * time.Second},
		} {
			if tt.skip {
				continue
			}
			*pieces = nil
			c.Limits.Total = limits.Total
			if tt.total != 0 {
				c.Limits.Total = tt.total
			}
			start := time.Now()
			e := failed(t, pt.New(tt.act), c)
			if e.Transport != tt.want || e.Status != 0 || time.Since(start) != tt.after {
				t.Errorf("%s: %q after %v (status %d), want %q after %v", tt.name, e.Transport, time.Since(start), e.Status, tt.want, tt.after)
			}
			if e.Streamed != (len(*pieces) > 0) {
				t.Errorf("%s: streamed %v, pieces %q", tt.name, e.Streamed, *pieces)
			}
			if errors.Is(e, context.Canceled) || errors.Is(e, context.DeadlineExceeded) {
				t.Errorf("%s: a limit of ours looks like the caller's: %v", tt.name, e.Err)
			}
		}
	})
}

func TestNoLimitMeansNoLimit(t *testing.T) {
	each(t, func(t *testing.T, c provider.Call, _ *[]string) {
		if reply, err := ask(t, pt.New(pt.Answer("at last").After(1000*time.Hour)), c); err != nil || reply.Text != "at last" {
			t.Errorf("%+v, %v", reply, err)
		}
	})
}

func TestTheCallersAbortIsNoFailureOfTheVendor(t *testing.T) { // [I13, D6]
	stop := errors.New("stopped by the user")
	for name, act := range map[string]pt.Act{
		"while connecting": pt.HangConnect(), "before the answer": pt.Hang(), "in the answer": pt.Stall("partial"),
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, c provider.Call, _ *[]string) {
				c.Limits = provider.Limits{Connect: time.Minute, FirstToken: time.Minute, Idle: time.Minute, Total: time.Minute}
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(stop) })
				_, err := provider.New(provider.Options{Transport: pt.New(act)}).Call(ctx, c)
				var e *provider.Error
				if !errors.Is(err, stop) || errors.As(err, &e) {
					t.Errorf("error %v", err)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := provider.New(provider.Options{Transport: pt.New(pt.Hang())}).Call(ctx, call(apis[0]))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("deadline of the run: %v", err)
		}
		v := pt.New()
		_, err = provider.New(provider.Options{Transport: v}).Call(ctx, call(apis[0]))
		if !errors.Is(err, context.DeadlineExceeded) || len(v.Requests()) != 0 {
			t.Errorf("a run that is over asks nobody: %v, %d requests", err, len(v.Requests()))
		}
	})
}

func TestWhatBrokeBelowHTTP(t *testing.T) {
	each(t, func(t *testing.T, c provider.Call, _ *[]string) {
		for _, want := range []provider.Transport{provider.DNSFailed, provider.Refused, provider.Reset, provider.EOF, provider.TLSFailed} {
			v := pt.New(pt.Network(want))
			e := failed(t, v, c)
			if e.Transport != want || e.Status != 0 || e.Streamed || e.Message == "" {
				t.Errorf("%s: %+v", want, e)
			}
			if n := len(v.Requests()); n != 1 {
				t.Errorf("%s: %d requests, an SDK retried", want, n)
			}
		}
	})
}

func TestAStreamThatEndsWithoutItsLastEventIsBroken(t *testing.T) {
	each(t, func(t *testing.T, c provider.Call, pieces *[]string) {
		for name, act := range map[string]pt.Act{
			"broken": pt.StreamBreak("the beginning "), "cut": pt.StreamCut("the beginning "), "nothing at all": pt.Raw(200, "", ""),
		} {
			*pieces = nil
			e := failed(t, pt.New(act), c)
			if e.Transport != provider.EOF || e.Status != 0 || e.Streamed != (len(*pieces) > 0) {
				t.Errorf("%s: %+v", name, e)
			}
		}
	})
}

func TestAnAnswerIsCompleteOnceItsLastEventCame(t *testing.T) {
	for _, e := range apis {
		synctest.Test(t, func(t *testing.T) {
			c, _ := streamed(call(e))
			c.Limits = provider.Limits{Idle: time.Minute, Total: time.Minute}
			start := time.Now()
			reply, err := ask(t, pt.New(pt.Linger("all of it")), c)
			if err != nil || reply.Text != "all of it" || time.Since(start) > time.Second {
				t.Errorf("%s: %+v, %v after %v", e.API, reply, err, time.Since(start))
			}
		})
	}
}

func TestAStreamIsJudgedByItsLastWordNotByItsConnection(t *testing.T) {
	chat := `data: {"choices":[{"index":0,"delta":{"content":"whole"},"finish_reason": null}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason": "stop"}]}

`
	messages := `event: message_start
data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"whole"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"stop"},"usage":{"output_tokens":1}}

`
	for _, tt := range []struct {
		name     string
		endpoint provider.Endpoint
		body     string
	}{{"a gateway without [DONE]", apis[0], chat}, {"a gateway without message_stop", apis[2], messages}} {
		for how, act := range map[string]pt.Act{
			"ends":    pt.Raw(200, "text/event-stream", tt.body),
			"breaks":  pt.Raw(200, "text/event-stream", tt.body).ThenBreak(),
			"hangs":   pt.Raw(200, "text/event-stream", tt.body).ThenHang(),
			"unnamed": pt.Raw(200, "", tt.body),
		} {
			synctest.Test(t, func(t *testing.T) {
				c, _ := streamed(call(tt.endpoint))
				c.Limits.Idle = time.Minute
				reply, err := ask(t, pt.New(act), c)
				if err != nil || reply.Text != "whole" || reply.Finish != "stop" {
					t.Errorf("%s %s: %+v, %v", tt.name, how, reply, err)
				}
			})
		}
	}
	c, _ := streamed(call(apis[0]))
	reply, err := ask(t, pt.New(pt.Raw(200, "text/event-stream", `data: {"choices":[{"index":0,"delta":{"content":"whole"}}]}`+"\n\ndata: [DONE]\n\n")), c)
	if err != nil || reply.Text != "whole" {
		t.Errorf("[DONE] without a reason: %+v, %v", reply, err)
	}
}

func TestTokensAreKeptWhicheverChunkBringsThem(t *testing.T) {
	body := `data: {"choices":[{"index":0,"delta":{"content":"x"}}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":4}}}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

`
	c, _ := streamed(call(apis[0]))
	reply, err := ask(t, pt.New(pt.Raw(200, "text/event-stream", body)), c)
	if want := (provider.Tokens{Input: 10, Output: 2, CacheRead: 4}); err != nil || reply.Tokens != want {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestAModelThatThinksAloudIsNotSilent(t *testing.T) {
	thought := `data: {"choices":[{"index":0,"delta":{"reasoning_content":"hmm"}}]}` + "\n\n"
	synctest.Test(t, func(t *testing.T) {
		c, pieces := streamed(call(apis[0]))
		c.Limits = provider.Limits{FirstToken: time.Minute, Idle: time.Hour, Total: 24 * time.Hour}
		start := time.Now()
		e := failed(t, pt.New(pt.Raw(200, "text/event-stream", thought).ThenHang()), c)
		if e.Transport != provider.IdleTimeout || time.Since(start) != time.Hour || e.Streamed || len(*pieces) != 0 {
			t.Errorf("%#v after %v, pieces %q", e, time.Since(start), *pieces)
		}
	})
}

func TestNothingIsLeftRunning(t *testing.T) {
	// A goroutine or timer that outlives its bubble fails the test.
	for _, act := range []pt.Act{pt.Answer("x"), pt.Hang(), pt.HangConnect(), pt.Stall("x y"), pt.Linger("x"), pt.StreamBreak("x"), pt.Status(500, "")} {
		each(t, func(t *testing.T, c provider.Call, _ *[]string) {
			c.Limits = provider.Limits{Connect: 1 * time.Second, FirstToken: 2 * time.Second, Idle: 3 * time.Second, Total: 4 * time.Second}
			double := &contexts{Vendor: pt.New(act)}
			_, _ = ask(t, double, c)
			synctest.Wait()
			if double.last.Err() == nil {
				t.Error("the context of the request goes on")
			}
		})
	}
}

// contexts remembers the context of the last request.
type contexts struct {
	*pt.Vendor
	last context.Context
}

// RoundTrip implements http.RoundTripper.
func (c *contexts) RoundTrip(r *http.Request) (*http.Response, error) {
	c.last = r.Context()
	return c.Vendor.RoundTrip(r)
}
