package operator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// visits are how each operation is asked in the walk: its path, and what is sent.
var visits = map[string]struct{ path, body string }{
	"login":             {"/login", `{"token":"x","name":"ada"}`},
	"session":           {"/sessions/" + string(room), ""},
	"chooseModel":       {"/sessions/" + string(room), `{"model":"openai/gpt-x"}`},
	"resetSession":      {"/sessions/" + string(room) + "/reset", ""},
	"forgetSession":     {"/sessions/" + string(room), ""},
	"transcript":        {"/sessions/" + string(room) + "/transcript", ""},
	"run":               {"/runs/r1", ""},
	"credential":        {"/credentials/openai:default", ""},
	"clearCredential":   {"/credentials/anthropic:default/clear", `{"agent":"main"}`},
	"disableCredential": {"/credentials/openai:default/disable", `{}`},
	"enableCredential":  {"/credentials/openai:default/enable", ``},
	"setOrder":          {"/orders/openai", `{"profiles":["openai:default"]}`},
	"clearOrder":        {"/orders/openai", ""},
	"addJob":            {"/cron", `{"name":"daily"}`},
	"job":               {"/cron/j1", ""},
	"editJob":           {"/cron/j1", `{"name":"weekly"}`},
	"removeJob":         {"/cron/j1", ""},
	"enableJob":         {"/cron/j1/enable", ""},
	"disableJob":        {"/cron/j1/disable", ""},
	"runJob":            {"/cron/j1/run", `{"due":true}`},
	"jobRuns":           {"/cron/j1/runs", ""},
	"beat":              {"/heartbeats/main/run", `{"trial":true}`},
	"enableHeartbeat":   {"/heartbeats/main/enable", ""},
	"disableHeartbeat":  {"/heartbeats/main/disable", ""},
	"rehearse":          {"/rehearse", `{"outage":"o"}`},
	"say":               {"/chat", `{"text":"hello"}`},
}

// Each operation answers what the contract promises, to the last field: the walk
// visits all that the contract names, and the contract names all that is served.
func TestEveryOperationKeepsTheContract(t *testing.T) {
	h := open(t)
	doc := contract(routes(), contractVersion)
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("mem:///api.json", parsed); err != nil {
		t.Fatal(err)
	}
	holds := func(t *testing.T, at string, w *httptest.ResponseRecorder) {
		t.Helper()
		schema, err := compiler.Compile("mem:///api.json#" + at)
		if err != nil {
			t.Fatal(err)
		}
		said := bodyOf(w)
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(said))
		if err != nil {
			t.Fatalf("no JSON: %v\n%s", err, said)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s\n%v", said, err)
		}
	}
	for _, r := range routes() {
		t.Run(r.id, func(t *testing.T) {
			if r.do == nil && r.serve == nil {
				return // /healthz and /readyz are the gateway's
			}
			if r.id == "events" {
				return // see stream_test.go
			}
			v, given := visits[r.id]
			if !given {
				v.path = r.path
			}
			if strings.Contains(v.path, "{") {
				t.Fatalf("the walk does not know how to visit %s", r.path)
			}
			if !r.rooted {
				v.path = base + v.path
			}
			w := h.ask(r.method, v.path, v.body)
			if w.Code != r.success() {
				t.Fatalf("%s %s: %d %s", r.method, v.path, w.Code, bodyOf(w))
			}
			if r.answer == nil {
				return
			}
			at := "/paths/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(r.fullPath()) + "/" + strings.ToLower(r.method) +
				fmt.Sprintf("/responses/%d/content/application~1json/schema", r.success())
			holds(t, at, w)
			if strings.Contains(w.Body.String(), secret) {
				t.Errorf("a secret is in the answer")
			}
		})
	}
	for id := range visits {
		found := false
		for _, r := range routes() {
			found = found || r.id == id
		}
		if !found {
			t.Errorf("the walk visits %s, which the contract does not name", id)
		}
	}
	for name, w := range map[string]*httptest.ResponseRecorder{
		"an address that is none":  h.ask("GET", base+"/nowhere", ""),
		"a method that is none":    h.ask("DELETE", base+"/now", ""),
		"a session that is none":   h.ask("GET", base+"/sessions/nobody", ""),
		"a body that is none":      h.ask("PATCH", base+"/sessions/"+string(room), "{"),
		"a field that is none":     h.ask("PATCH", base+"/sessions/"+string(room), `{"modle":"x"}`),
		"a limit that is none":     h.ask("GET", base+"/runs?limit=1000", ""),
		"a time that is none":      h.ask("GET", base+"/runs?from=yesterday", ""),
		"a cursor that is none":    h.ask("GET", base+"/runs?cursor=--", ""),
		"a word that is none":      h.ask("GET", base+"/cost?by=moon", ""),
		"an agent that is none":    h.ask("GET", base+"/credentials?agent=eve", ""),
		"a credential of nobody":   h.ask("POST", base+"/credentials/openai:none/clear", "{}"),
		"an order of strangers":    h.ask("PUT", base+"/orders/openai", `{"profiles":["openai:none"]}`),
		"times in the wrong order": h.ask("GET", base+"/timeline?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", ""),
	} {
		t.Run(name, func(t *testing.T) {
			if w.Code < 400 || w.Code >= 500 {
				t.Errorf("status %d", w.Code)
			}
			holds(t, "/components/schemas/Failure", w)
		})
	}
}

// A change is written down with its author before it is made; one that cannot be
// written down is not made.
func TestChangesAreRecordedWithTheirAuthor(t *testing.T) {
	h := open(t)
	w := h.ask("POST", base+"/login", `{"name":"Ada\u0000\u202e\nLovelace"}`)
	cookie := w.Result().Cookies()[0]
	h.ask("PATCH", base+"/sessions/"+string(room), `{"model":"openai/gpt-x"}`, func(r *http.Request) { r.AddCookie(cookie) })
	if len(h.rows.acts) != 1 || h.rows.acts[0].Who != "Ada Lovelace" || h.rows.acts[0].What != "session.model" || h.rows.acts[0].About != string(room) || h.rows.acts[0].Via != "page from 127.0.0.1" {
		t.Errorf("recorded: %+v", h.rows.acts)
	}
	if want := "patch " + string(room) + " openai/gpt-x by Ada Lovelace"; len(h.bot.done) != 1 || h.bot.done[0] != want {
		t.Errorf("done: %q, want %q", h.bot.done, want)
	}
	if strings.Contains(h.log.String(), "Ada\n") || strings.ContainsRune(h.log.String(), '\u202e') {
		t.Errorf("a name breaks the log's lines: %q", h.log)
	}
	h.rows.fails = fmt.Errorf("the disk is full")
	if w := h.ask("POST", base+"/cron/j1/run", `{}`); w.Code != http.StatusInternalServerError || strings.Contains(bodyOf(w), "disk") {
		t.Errorf("unrecorded: %d %s", w.Code, w.Body)
	}
}

// What is being answered is not forgotten under its turn.
func TestABusySessionIsNotForgotten(t *testing.T) {
	h := open(t)
	h.bot.busy = true
	if w := h.ask("DELETE", base+"/sessions/"+string(room), ""); w.Code != http.StatusConflict {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Markup in what people, models and vendors say stays text: it is escaped in the
// answer already, whatever a page does with it.
func TestMarkupIsEscaped(t *testing.T) {
	h := open(t)
	const evil = `</script><img src=x onerror=alert(1)>`
	h.rows.chat[0].Text, h.rows.chat[1].Text, h.rows.chat[0].Who = evil, evil, evil
	h.rows.steps[2].Attempt.Detail = evil
	for _, path := range []string{"/chat", "/decisions", "/runs/r1", "/now"} {
		w := h.ask("GET", base+path, "")
		if said := bodyOf(w); strings.ContainsAny(said, "<>") {
			t.Errorf("%s: %s", path, said)
		}
		if kind := w.Header().Get("Content-Type"); kind != "application/json" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s is served as %q", path, kind)
		}
	}
}

// A key that somebody wrote into a chat is masked on every way out.
func TestSecretsThatPeopleWroteAreMasked(t *testing.T) {
	h := open(t)
	h.rows.chat[0].Text = "my key is " + secret
	h.rows.steps[2].Attempt.Detail = "Incorrect API key provided: " + secret
	for _, path := range []string{"/chat", "/decisions", "/runs/r1", "/now"} {
		if said := bodyOf(h.ask("GET", base+path, "")); strings.Contains(said, secret) {
			t.Errorf("%s: %s", path, said)
		}
	}
	h.ask("PATCH", base+"/sessions/"+string(room), `{"model":"`+secret+`"}`)
	if said := bodyOf(h.ask("GET", base+"/acts", "")); strings.Contains(said, secret) {
		t.Errorf("acts: %s", said)
	}
}
