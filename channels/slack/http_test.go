package slack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/slack/slacktest"
)

// newWebhook makes a channel in http mode behind a server of its own.
func newWebhook(t *testing.T, o setup) (r *rig, url string) {
	t.Helper()
	config := o.config
	o.config = func(c *Config) {
		c.Mode = modeHTTP
		if config != nil {
			config(c)
		}
	}
	r = newRig(t, o)
	mux := http.NewServeMux()
	mux.Handle(r.c.cfg.WebhookPath, r.c.Handler())
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	url = srv.URL + r.c.cfg.WebhookPath
	r.s.Webhook(url)
	return r, url
}

// One path takes events, commands and buttons [SL1].
func TestWebhookTakesEverything(t *testing.T) {
	r, _ := newWebhook(t, setup{})
	r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "by http"})
	if in := r.next(); in.Text != "by http" || in.Chat != channels.Direct {
		t.Errorf("%+v", in)
	}
	r.s.Slash(slacktest.DM, slacktest.Alice, "/model", "fast & <good>")
	if in := r.next(); in.Text != "/model fast & <good>" || !in.Command {
		t.Errorf("%+v", in)
	}
	rc := r.send(channels.Outbound{ID: "d1", To: r.to(slacktest.DM, ""), Kind: channels.Command, Text: "pick", Choices: []channels.Choice{{Label: "A", Text: "/a"}}})
	r.s.Press(slacktest.DM, rc.MessageID, slacktest.Alice, 0)
	if in := r.next(); in.Text != "/a" {
		t.Errorf("%+v", in)
	}
	r.handed()
	if h := r.c.Health(); h.State != channels.Ready || h.LastEvent.IsZero() {
		t.Errorf("health %+v", h)
	}
}

// Requests that are not Slack's are refused before anything is read [SL2,
// slack-06]; others by what is wrong with them.
func TestWebhookRefusals(t *testing.T) {
	r, url := newWebhook(t, setup{})
	now := time.Now()
	stamp := func(off time.Duration) string { return fmt.Sprint(now.Add(off).Unix()) }
	signed := func(stamp, body string) map[string]string {
		return map[string]string{"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": slacktest.Sign(stamp, []byte(body))}
	}
	challenge := `{"type":"url_verification","challenge":"abc"}`
	for _, c := range []struct {
		name   string
		body   string
		header map[string]string
		want   int
		answer string
	}{
		{"the challenge is answered [slack-07]", challenge, nil, 200, "abc"},
		{"a wrong signature", challenge, map[string]string{"X-Slack-Signature": "v0=" + strings.Repeat("0", 64)}, 401, "unauthorized"},
		{"no signature", challenge, map[string]string{"X-Slack-Signature": ""}, 401, "unauthorized"},
		{"another version", challenge, map[string]string{"X-Slack-Signature": "v1=" + strings.Repeat("0", 64)}, 401, "unauthorized"},
		{"a signature of another body", challenge, signed(stamp(0), challenge+" "), 401, "unauthorized"},
		{"no time", challenge, map[string]string{"X-Slack-Request-Timestamp": "now"}, 401, "unauthorized"},
		{"six minutes old", challenge, signed(stamp(-6*time.Minute), challenge), 401, "unauthorized"},
		{"six minutes ahead", challenge, signed(stamp(6*time.Minute), challenge), 401, "unauthorized"},
		{"four minutes old", challenge, signed(stamp(-4*time.Minute), challenge), 200, "abc"},
		{"no JSON", "{", nil, 400, "not understood"},
		{"too large", `{"x":"` + strings.Repeat("x", maxBody) + `"}`, nil, 413, "too large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, err := r.s.Request(url, "application/json", []byte(c.body), c.header)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != c.want || strings.TrimSpace(string(body)) != c.answer {
				t.Errorf("%d %q", resp.StatusCode, body)
			}
		})
	}
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", resp.StatusCode)
	}
	if in := r.handed(); len(in) != 0 {
		t.Errorf("%+v", in)
	}
}

// A message that is not durable in time, or not at all, is not taken: Slack
// repeats it, and it runs once [slack-05].
func TestWebhookRepeats(t *testing.T) {
	t.Run("the store is slow", func(t *testing.T) {
		r, _ := newWebhook(t, setup{pace: func(p *pace) { p.durable = 50 * time.Millisecond }})
		gate := make(chan struct{})
		r.fail = func(channels.Inbound) error { <-gate; return nil }
		r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "slow"})
		r.await("slack repeats it", func() bool { return r.s.Events()[0].Attempts >= 2 })
		close(gate)
		if in := r.handed(); len(in) != 1 {
			t.Errorf("handed over %d times", len(in))
		}
	})
	t.Run("the store fails", func(t *testing.T) {
		r, _ := newWebhook(t, setup{})
		tries := 0
		r.fail = func(channels.Inbound) error {
			if tries++; tries == 1 {
				return errors.New("disk full")
			}
			return nil
		}
		r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "again"})
		r.next()
		if in := r.handed(); len(in) != 1 || tries != 2 {
			t.Errorf("handed over %d times in %d tries", len(in), tries)
		}
	})
	t.Run("nobody runs it yet", func(t *testing.T) {
		r, url := newWebhook(t, setup{idle: true})
		resp, err := r.s.Request(url, "application/json", []byte(`{"type":"event_callback"}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%d", resp.StatusCode)
		}
	})
}

// The clock of the signature is the channel's own.
func TestVerifyTakesNow(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	stamp := fmt.Sprint(now.Unix())
	h := http.Header{}
	h.Set("X-Slack-Request-Timestamp", stamp)
	h.Set("X-Slack-Signature", slacktest.Sign(stamp, []byte("body")))
	if err := verify(h, []byte("body"), slacktest.Signing, now); err != nil {
		t.Error(err)
	}
	if err := verify(h, []byte("body"), slacktest.Signing, now.Add(clockSkew+time.Second)); err == nil {
		t.Error("an old request passed")
	}
	if err := verify(h, []byte("body"), "", now); err == nil {
		t.Error("an empty secret passes")
	}
}

// Run of http mode ends with its context, and knows who it is.
func TestWebhookRun(t *testing.T) {
	r, _ := newWebhook(t, setup{idle: true})
	ctx, cancel := context.WithCancel(r.ctx)
	go func() { r.end <- r.c.Run(ctx, r.receive) }()
	r.await("it is ready", func() bool { return r.c.Health().State == channels.Ready })
	cancel()
	if err := <-r.end; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
