package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/slack/slacktest"
	"standin/cmd/standin/config"
)

// "/healthz 200 as soon as the process serves; /readyz 503 until start-up
// channels settle, and when draining; detail only to authenticated/local" [G23].
func TestProbes(t *testing.T) {
	var store error
	draining, up := false, false
	g := &gateway{
		fleet:    newFleet(slog.New(slog.DiscardHandler), time.Now, nil, []config.Account{mine}, func(config.Account) (channels.Channel, error) { return &cable{name: "slack"}, nil }),
		alive:    func(context.Context) error { return store },
		draining: func() bool { return draining }, up: func() bool { return up },
	}
	ask := func(h http.Handler, path string) (int, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	want := func(when, path string, code int, body string) {
		t.Helper()
		if c, b := ask(g.public(), path); c != code || b != body {
			t.Errorf("%s: %s gives %d %q, want %d %q", when, path, c, b, code, body)
		}
	}
	want("at the start", "/healthz", 200, "ok")
	want("at the start", "/readyz", 503, "starting")
	up = true
	want("settled", "/readyz", 200, "ready")
	store = errors.New("disk I/O error in /var/lib/standin")
	want("the store fails", "/healthz", 503, "the store does not work")
	draining = true
	want("draining", "/readyz", 503, "leaving")

	if code, _ := ask(g.public(), "/channels"); code != 404 {
		t.Errorf("the port tells details: %d", code)
	}
	if code, body := ask(g.private(), "/channels"); code != 200 || !strings.Contains(body, `"state":"ready"`) {
		t.Errorf("the socket: %d %s", code, body)
	}
}

// Slack in mode http: events come in on the gateway's port, on the account's
// path, and are answered; the probes stand beside them.
func TestSlackOverHTTP(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	_ = free.Close()
	_, number, _ := strings.Cut(addr, ":")
	w := newWire(t)
	w.env["SLACK_SIGNING_SECRET"], w.env["SLACK_APP_TOKEN"] = slacktest.Signing, ""
	w.slack.Webhook("http://" + addr + "/hooks/slack")
	w.serve(fmt.Sprintf("\ngateway: {port: %s}\nchannels: {slack: {apiUrl: SLACK, mode: http, webhookPath: /hooks/slack, allowFrom: [%s]}, discord: {enabled: false}}\n", number, slacktest.Alice))
	w.ready("slack")
	w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "hello"})
	w.onSlack(slacktest.DM, "answer of gpt-5.5")
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ready\n"} {
		answer, err := http.Get("http://" + addr + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != 200 || string(body) != want {
			t.Errorf("%s: %d %q", path, answer.StatusCode, body)
		}
	}
	if answer, err := http.Post("http://"+addr+"/hooks/slack", "application/json", strings.NewReader("{}")); err != nil || answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("a request that is not Slack's: %v %v", answer, err)
	}
	if info, err := os.Stat(filepath.Join(w.dir, socketFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the status socket: %v %v", info, err)
	}
	w.end()
	if code, out := w.run("channels", "status", "--state", w.dir); code != exitUsage || !strings.Contains(out, "no daemon answers") {
		t.Errorf("without a daemon: %d %s", code, out)
	}
}

// A port that is taken is told at the start, with the mend.
func TestAPortThatIsTakenIsTold(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w := newWire(t)
	path := w.config(fmt.Sprintf("\ngateway: {port: %d}\nchannels: {discord: {enabled: false}, slack: {apiUrl: SLACK}}\n", l.Addr().(*net.TCPAddr).Port))
	if code, out := w.run("serve", "-c", path, "--state", w.dir); code != exitUsage || !strings.Contains(out, "give gateway.port another number") {
		t.Errorf("%d %s", code, out)
	}
}
