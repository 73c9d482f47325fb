package provider_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"standin/fallback/provider"
	pt "standin/fallback/provider/providertest"
)

// shows gives everything that logs, pages and tests could make of a value.
func shows(v any) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%v %+v %#v %s %q\n", v, v, v, v, v)
	if err, ok := v.(error); ok {
		for e := err; e != nil; {
			fmt.Fprintf(&b, "%s %#v\n", e.Error(), e)
			u, ok := e.(interface{ Unwrap() error })
			if !ok {
				break
			}
			e = u.Unwrap()
		}
	}
	j, _ := json.Marshal(v)
	b.Write(j)
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "v", v)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "v", v)
	return b.String()
}

func TestAKeyIsNeverPrinted(t *testing.T) { // [I12]
	key := "mysterious-credential-4711" // has no shape that gives it away
	gateway := "gateway-credential-0815"
	echo := "key " + key + ", header " + gateway + " refused"
	for name, act := range map[string]pt.Act{
		"an answer":           pt.Answer("fine"),
		"echoed in a message": pt.Status(401, `{"error":{"message":"`+echo+`","code":"`+key+`","type":"`+key+`"}}`, "X-Request-Id", echo),
		"echoed in a page":    pt.Status(502, "<html><title>"+echo+"</title></html>"),
		"echoed in text":      pt.Status(500, echo),
		"echoed in a stream":  pt.StreamError("x", `{"type":"error","error":{"type":"t","message":"`+echo+`"}}`),
		"echoed as an answer": pt.Raw(200, "text/plain", echo),
		"a broken connection": pt.Network(provider.Reset),
		"a broken stream":     pt.StreamBreak("x"),
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, c provider.Call, _ *[]string) {
				var log bytes.Buffer
				c.Key = provider.NewKey(key)
				c.Endpoint.Headers = map[string]string{"X-Gateway-Key": gateway}
				v := provider.New(provider.Options{Transport: pt.New(act), Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
				_, err := v.Call(t.Context(), c)
				seen := log.String() + shows(c.Key) + shows(&c)
				if err != nil {
					seen += shows(err)
				}
				if strings.Contains(seen, key) {
					t.Errorf("the key shows: %s", seen)
				}
				if err != nil && strings.Contains(shows(err), gateway) {
					t.Errorf("the operator's header shows: %s", shows(err))
				}
				if !strings.Contains(log.String(), "vendor call") {
					t.Errorf("no record of the call: %s", log.String())
				}
			})
		})
	}
}

func TestRedactKnowsTheShapesOfSecrets(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"Incorrect API key provided: sk-proj-AbCd1234efgh5678.", "Incorrect API key provided: [secret]"},
		{"Incorrect API key provided: sk-abc1****wxyz. See https://x.test/keys", "Incorrect API key provided: [secret] See https://x.test/keys"},
		{"sk-ant-oat01-AAAA_bbbb-cccc", "[secret]"},
		{"xoxb-1234567890-abcdef and xapp-1-A0-123456", "[secret] and [secret]"},
		{"AIzaSyA1234567890abcdefghij", "[secret]"},
		{"Authorization: Bearer abcdefghijklmnop1234", "Authorization: Bearer [secret]"},
		{`{"x-api-key":"0123456789abcdef"}`, `{"x-api-key":"[secret]"}`},
		{"https://user:hunter2@proxy.test/path", "https://[secret]@proxy.test/path"},
		{"https://x.test/?key=abc123&model=m", "https://x.test/?key=[secret]&model=m"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "[secret]"},
		{"ghp_0123456789abcdefghij", "[secret]"},
		// Prose stays as it is: classification reads it.
		{"Bearer token is missing", "Bearer token is missing"},
		{"task-management and disk-space-full", "task-management and disk-space-full"},
		{"invalid x-api-key", "invalid x-api-key"},
		{"Rate limit reached for gpt-5.5 in organization org-abc on tokens per min", "Rate limit reached for gpt-5.5 in organization org-abc on tokens per min"},
		{"mail support@example.test", "mail support@example.test"},
		{"https://platform.openai.com/account/api-keys.", "https://platform.openai.com/account/api-keys."},
		{"", ""},
	} {
		if got := provider.Redact(tt.in); got != tt.want {
			t.Errorf("Redact(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestRedactIsIdempotentAndHidesKeysAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.String().Draw(t, "before")
		after := rapid.String().Draw(t, "after")
		key := rapid.StringMatching(`sk-[A-Za-z0-9]{20,40}`).Draw(t, "key")
		once := provider.Redact(before + " " + key + " " + after)
		if strings.Contains(once, key) {
			t.Fatalf("%q shows %q", once, key)
		}
		if twice := provider.Redact(once); twice != once {
			t.Fatalf("%q, again %q", once, twice)
		}
	})
}

func TestTheCredentialTravelsAsTheVendorWants(t *testing.T) {
	for _, tt := range []struct {
		name string
		e    provider.Endpoint
		auth provider.Auth
		want http.Header
	}{
		{"OpenAI, key", apis[0], provider.APIKey, http.Header{"Authorization": {"Bearer " + secret}}},
		{"OpenAI, bearer", apis[1], provider.Bearer, http.Header{"Authorization": {"Bearer " + secret}}},
		{"Anthropic, key", apis[2], "", http.Header{"X-Api-Key": {secret}, "Anthropic-Version": {"2023-06-01"}}},
		{"Anthropic, bearer", apis[2], provider.Bearer, http.Header{"Authorization": {"Bearer " + secret}, "Anthropic-Version": {"2023-06-01"}, "Anthropic-Beta": {"oauth-2025-04-20"}}},
		{"Anthropic, login", apis[2], provider.Login, http.Header{"Authorization": {"Bearer " + secret}, "Anthropic-Version": {"2023-06-01"}, "Anthropic-Beta": {"oauth-2025-04-20"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// What the environment says must not reach a vendor.
			for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"} {
				t.Setenv(name, "from-the-environment")
			}
			t.Setenv("OPENAI_BASE_URL", "https://elsewhere.test/v1")
			t.Setenv("ANTHROPIC_BASE_URL", "https://elsewhere.test")
			t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Custom: from-the-environment")
			t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Custom: from-the-environment")
			v := pt.New()
			c := call(tt.e)
			c.Auth = tt.auth
			if _, err := ask(t, v, c); err != nil {
				t.Fatal(err)
			}
			r := v.Requests()[0]
			got := r.Header.Clone()
			for _, name := range []string{"Content-Type", "Accept", "User-Agent"} {
				got.Del(name)
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) || r.Header.Get("User-Agent") != "standin" || strings.Contains(r.Host, "elsewhere") {
				t.Errorf("sent to %s: %v\nwant %v", r.Host, r.Header, tt.want)
			}
		})
	}
}

func TestTheOperatorsHeadersGoOut(t *testing.T) {
	v := pt.New()
	c := call(apis[2])
	c.Auth = provider.Bearer
	c.Endpoint.Headers = map[string]string{"anthropic-beta": "context-1m", "HTTP-Referer": "https://me.test", "Host": "virtual.test"}
	if _, err := ask(t, v, c); err != nil {
		t.Fatal(err)
	}
	h := v.Requests()[0].Header
	if h.Get("Anthropic-Beta") != "context-1m,oauth-2025-04-20" || h.Get("Http-Referer") != "https://me.test" || h.Get("Host") != "" {
		t.Errorf("%v", h)
	}
}

func TestALocalServerGetsNoCredential(t *testing.T) {
	each(t, func(t *testing.T, c provider.Call, _ *[]string) {
		c.Endpoint.NoKey, c.Endpoint.BaseURL = true, "http://127.0.0.1:11434/v1"
		v := pt.New()
		if _, err := ask(t, v, c); err != nil {
			t.Fatal(err)
		}
		if r := v.Requests()[0]; r.Key != "" || r.Header.Get("Authorization") != "" || r.Header.Get("X-Api-Key") != "" {
			t.Errorf("%v", r.Header)
		}
	})
}

func TestWhatCannotBeSentIsNotSent(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*provider.Call)
		code   string
	}{
		{"plain http to another machine [D24]", func(c *provider.Call) { c.Endpoint.BaseURL = "http://10.0.0.7/v1" }, "bad_base_url"},
		{"plain http to a name that begins like loopback", func(c *provider.Call) { c.Endpoint.BaseURL = "http://127.0.0.1.evil.test/v1" }, "bad_base_url"},
		{"a relative URL", func(c *provider.Call) { c.Endpoint.BaseURL = "api.openai.com/v1" }, "bad_base_url"},
		{"another scheme", func(c *provider.Call) { c.Endpoint.BaseURL = "ftp://x.test" }, "bad_base_url"},
		{"no address", func(c *provider.Call) { c.Endpoint = provider.Endpoint{Provider: "mine"} }, "no_base_url"},
		{"no key", func(c *provider.Call) { c.Key = provider.Key{} }, "no_api_key"},
		{"another protocol", func(c *provider.Call) { c.Endpoint.API = "telepathy" }, "unknown_api"},
	} {
		v := pt.New()
		c := call(apis[0])
		tt.change(&c)
		if e := failed(t, v, c); e.Code != tt.code || e.Message == "" || len(v.Requests()) != 0 {
			t.Errorf("%s: %#v, %d requests", tt.name, e, len(v.Requests()))
		}
	}
	for _, base := range []string{"http://localhost:1/v1", "http://[::1]:1/v1", "http://127.8.9.1/v1", "http://box.localhost/v1", "https://x.test"} {
		if err := provider.CheckBaseURL(base); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
	if err := provider.CheckBaseURL("http://me:hunter2@x.test"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}
