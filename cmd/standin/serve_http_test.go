package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"standin/channels/slack/slacktest"
	"standin/cmd/standin/daemon"
)

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
	if info, err := os.Stat(filepath.Join(w.dir, daemon.SocketFile)); err != nil || info.Mode().Perm() != 0o600 {
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
