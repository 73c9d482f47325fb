package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"standin/bot/incidents"
	"standin/channels/slack/slacktest"
	"standin/cmd/standin/daemon"
	"standin/fallback/provider/providertest"
)

// hook is somebody's webhook, which fails once before it takes anything.
type hook struct {
	mu     sync.Mutex
	failed bool
	ids    []string
	auth   string
	got    []incidents.Event
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids, h.auth = append(h.ids, r.Header.Get("Idempotency-Key")), r.Header.Get("Authorization")
	if !h.failed {
		h.failed = true
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	var e incidents.Event
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &e)
	h.got = append(h.got, e)
}

func (h *hook) read() (texts []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.got {
		texts = append(texts, fmt.Sprintf("%s %s", e.News, e.Kind))
	}
	slices.Sort(texts)
	return texts
}

// IL-023, "one operator alert", over the real wire: a key that is refused and the silence that follows from it are told once each to the operators' channel
// and to a URL that is down at first, not again by further messages nor by a
// restart, and once more when they are over.
func TestOperatorsAreToldOnceOverTheWire(t *testing.T) {
	const ops = "C0OPS"
	w := newWire(t)
	w.slack.AddRoom(slacktest.Room{ID: ops, Kind: "channel", Members: []string{slacktest.Alice, slacktest.BotUser}})
	url := &hook{}
	hooks := httptest.NewServer(url)
	defer hooks.Close()
	w.env["HOOK_TOKEN"] = "hook-token-of-the-operators"
	config := fmt.Sprintf(`
channels: {slack: {apiUrl: SLACK, dmPolicy: open, allowFrom: ["*"]}, discord: {enabled: false}}
operators:
  webhookAllowHosts: ["%[2]s"]
  notify:
    - {to: "slack:%[1]s"}
    - {to: "http://%[2]s/T0/secretpath", token: {source: env, id: HOOK_TOKEN}, events: [auth, models]}
`, ops, strings.TrimPrefix(hooks.URL, "http://"))
	w.vendor.Always(providertest.When{}, providertest.Status(401, `{"error":{"message":"Incorrect API key provided: sk-proj-abcdefghijklmnopqrstuvwx","type":"invalid_request_error","code":"invalid_api_key"}}`))
	w.serve(config)
	w.ready("slack")
	w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "one"})
	told := []string{"⚠️ Credential openai:default is refused. ", "⚠️ No model of agent main answers: "}
	heard := func(lines ...string) {
		t.Helper()
		w.await(fmt.Sprintf("the operators' channel reads %q", lines), func() bool {
			posts := w.slack.Posts(ops)
			for _, line := range lines { // in whichever order: the two begin at once
				i := slices.IndexFunc(posts, func(p slacktest.Message) bool { return strings.HasPrefix(p.Read(), line) })
				if i < 0 {
					return false
				}
				posts = slices.Delete(posts, i, i+1)
			}
			return len(posts) == 0
		})
	}
	heard(told...)
	w.await("the URL has heard of both", func() bool { return slices.Equal(url.read(), []string{"began auth", "began models"}) })

	w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "two"})
	w.await("two is answered", func() bool { return len(w.slack.Posts(slacktest.DM)) == 2 })
	w.end()
	w.serve(config)
	w.ready("slack")
	w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "three"})
	w.await("three is answered", func() bool { return len(w.slack.Posts(slacktest.DM)) == 3 })
	heard(told...)

	w.vendor.Heal()
	w.vendor.Always(providertest.When{}, providertest.Answer("fine"))
	if code, out := w.run("auth", "clear", "openai:default", "--state", w.dir, "-c", w.dir+"/config.yaml"); code != exitOK {
		t.Fatal(out)
	}
	if _, out := w.run("incidents", "--open", "--state", w.dir); !strings.Contains(out, "OPEN") || !strings.Contains(out, "No model of agent main") {
		t.Errorf("incidents --open says:\n%s", out)
	}
	if n, err := daemon.AskNow(t.Context(), w.dir); err != nil || len(n.Incidents) != 2 || !strings.HasPrefix(n.Incidents[0].Text+n.Incidents[1].Text, "⚠️ ") {
		t.Errorf("the operator's first screen has %+v, %v", n.Incidents, err)
	}
	w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "four"})
	heard(append(told, "✅ Over after ", "✅ Over after ")...)
	w.await("the URL has heard of the end", func() bool { return len(url.read()) == 4 })

	if url.auth != "Bearer hook-token-of-the-operators" || url.ids[0] != url.ids[1] || url.ids[1] == url.ids[2] {
		t.Errorf("the URL was called with %q, %q: one key for each line, however often it is tried", url.auth, url.ids)
	}
	var kept []incidentJSON
	_, out := w.run("incidents", "--json", "--state", w.dir)
	if err := json.Unmarshal([]byte(out), &kept); err != nil || len(kept) != 2 || kept[0].Closed == nil || kept[1].Closed == nil {
		t.Errorf("incidents --json says (%v):\n%s", err, out)
	}
	all := w.slack.Seen(ops) + out + w.log.String() + fmt.Sprint(url.got)
	for _, secret := range []string{"sk-proj-abcdefghijklmnopqrstuvwx", "hook-token", "secretpath"} {
		if strings.Contains(all, secret) {
			t.Errorf("%s is to be read", secret) // [I12]
		}
	}
}
