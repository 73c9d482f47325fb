package page_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"standin/bot/operator"
	"standin/bot/operator/page"
)

// token is what opens the fake daemon.
const token = "the token of the test"

// fake answers the page by the contract: each answer is a type of package
// operator, so a field that the contract renames does not compile here. It does
// what it is told, so that a test can see what an action brings about.
type fake struct {
	*httptest.Server
	at time.Time

	mu       sync.Mutex
	locked   bool   // a token is needed
	name     string // who is logged in
	evil     string // stands in every name and text
	asked    []string
	cleared  map[string]bool
	off      map[string]bool
	model    map[string]string
	chat     []operator.ChatMessage
	acts     []operator.Act
	jobOff   map[string]bool
	fails    map[string]string // an answer by method and path that is refused with this
	lost     map[string]bool   // an answer that never arrives: it is done, and a failure is told
	noCost   bool
	watchers map[chan string]bool
	gone     chan struct{}
}

// startFake runs one.
func startFake(t *testing.T, change func(*fake)) *fake {
	d := &fake{at: time.Now(), cleared: map[string]bool{}, off: map[string]bool{}, model: map[string]string{}, jobOff: map[string]bool{}, fails: map[string]string{}, lost: map[string]bool{}, watchers: map[chan string]bool{}, gone: make(chan struct{})}
	d.chat = d.talk()
	if change != nil {
		change(d)
	}
	mux := http.NewServeMux()
	mux.Handle("/", page.Handler())
	d.routes(mux)
	d.Server = httptest.NewServer(mux)
	t.Cleanup(func() { close(d.gone); d.Server.Close() })
	return d
}

// did says whether a request was made.
func (d *fake) did(request string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.asked {
		if r == request {
			return true
		}
	}
	return false
}

// tell sends an event to every page that listens.
func (d *fake) tell(kind string, e operator.Event) {
	e.At = time.Now()
	b, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for w := range d.watchers {
		w <- fmt.Sprintf("event: %s\ndata: %s\n\n", kind, b)
	}
}

func (d *fake) routes(mux *http.ServeMux) {
	on := func(pattern string, free bool, do func(r *http.Request, in map[string]string) any) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /api/v1"+path, func(w http.ResponseWriter, r *http.Request) {
			var in map[string]any
			_ = json.NewDecoder(r.Body).Decode(&in) // nothing is sent with many requests
			words := map[string]string{}
			for k, v := range in {
				words[k] = fmt.Sprint(v)
			}
			d.mu.Lock()
			request := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/v1")
			d.asked = append(d.asked, request)
			code, message := "", d.fails[request]
			if message != "" {
				code = "conflict"
			} else if d.locked && d.name == "" && !free {
				code, message = "unauthorized", "Log in first."
			}
			var out any
			if code == "" {
				out = do(r, words)
			}
			if d.lost[request] {
				code, message = "unavailable", "The connection was lost."
			}
			if f, ok := out.(operator.Fault); ok {
				code, message = f.Code, f.Message
			}
			d.mu.Unlock()
			w.Header().Set("Content-Type", "application/json")
			if code != "" {
				w.WriteHeader(map[string]int{"unauthorized": 401, "conflict": 409, "not_found": 404, "unavailable": 503}[code])
				out = operator.Failure{Error: operator.Fault{Code: code, Message: message}}
			}
			if err := json.NewEncoder(w).Encode(out); err != nil {
				panic(err)
			}
		})
	}
	me := func() any {
		return operator.Me{LoggedIn: d.name != "" || !d.locked, Needed: d.locked, Name: d.name, Version: "1.0.0"}
	}
	on("GET /me", true, func(*http.Request, map[string]string) any { return me() })
	on("POST /login", true, func(_ *http.Request, in map[string]string) any {
		if d.locked && in["token"] != token {
			return operator.Fault{Code: "unauthorized", Message: "This is not the token. It stands in the config under gateway.auth.token."}
		}
		if d.name = in["name"]; d.name == "" {
			d.name = "operator"
		}
		return me()
	})
	on("POST /logout", true, func(*http.Request, map[string]string) any { d.name = ""; return me() })
	on("GET /now", false, func(*http.Request, map[string]string) any { return d.now() })
	on("GET /acts", false, func(*http.Request, map[string]string) any {
		return operator.Acts{Acts: append([]operator.Act{}, d.acts...)}
	})
	on("GET /timeline", false, func(r *http.Request, _ map[string]string) any { return d.timeline(r) })
	on("GET /runs", false, func(r *http.Request, _ map[string]string) any { return d.runs(r) })
	on("GET /runs/{id}", false, func(r *http.Request, _ map[string]string) any { return d.run(r.PathValue("id")) })
	on("GET /sessions", false, func(r *http.Request, _ map[string]string) any { return d.sessions(r) })
	on("GET /sessions/{key}", false, func(r *http.Request, _ map[string]string) any { return d.session(r.PathValue("key")) })
	on("GET /sessions/{key}/transcript", false, func(r *http.Request, _ map[string]string) any { return d.transcript(r) })
	on("PATCH /sessions/{key}", false, func(r *http.Request, in map[string]string) any {
		d.model[r.PathValue("key")] = in["model"]
		d.act("session.model", r.PathValue("key"), in["model"])
		return d.session(r.PathValue("key")).Session
	})
	on("POST /sessions/{key}/reset", false, func(r *http.Request, _ map[string]string) any {
		d.act("session.reset", r.PathValue("key"), "")
		return d.session(r.PathValue("key")).Session
	})
	on("DELETE /sessions/{key}", false, func(r *http.Request, _ map[string]string) any {
		return operator.Done{Says: r.PathValue("key") + " is forgotten."}
	})
	on("POST /credentials/{id}/{what}", false, func(r *http.Request, _ map[string]string) any { return d.changeCredential(r) })
	on("GET /cron", false, func(*http.Request, map[string]string) any { return operator.Jobs{Enabled: true, Jobs: d.jobs()} })
	on("GET /cron/{id}", false, func(r *http.Request, _ map[string]string) any { return d.job(r.PathValue("id")) })
	on("GET /cron/{id}/runs", false, func(r *http.Request, _ map[string]string) any { return d.jobRuns(r.PathValue("id")) })
	on("POST /cron/{id}/{what}", false, func(r *http.Request, _ map[string]string) any {
		if r.PathValue("what") == "run" {
			return operator.JobAsked{Result: "queued", Says: "It runs as soon as one of the running jobs is done."}
		}
		d.jobOff[r.PathValue("id")] = r.PathValue("what") == "disable"
		return d.job(r.PathValue("id"))
	})
	on("GET /calendar", false, func(*http.Request, map[string]string) any { return d.calendar() })
	on("GET /heartbeats", false, func(*http.Request, map[string]string) any { return d.heartbeats() })
	on("POST /heartbeats/{agent}/run", false, func(_ *http.Request, in map[string]string) any {
		return operator.Beaten{Status: "ran", Says: "It ran; nothing was posted.", Text: "The backup of last night is missing.", Model: "openai/gpt-5.2"}
	})
	on("GET /cost", false, func(r *http.Request, _ map[string]string) any { return d.cost(r.URL.Query().Get("by")) })
	on("GET /budgets", false, func(*http.Request, map[string]string) any { return d.budgets() })
	on("GET /rehearse", false, func(*http.Request, map[string]string) any { return d.outages() })
	on("POST /rehearse", false, func(_ *http.Request, in map[string]string) any { return d.rehearsed(in["outage"]) })
	on("GET /explain", false, func(*http.Request, map[string]string) any { return explained() })
	on("GET /chat", false, func(*http.Request, map[string]string) any {
		return operator.Chat{Session: "agent:main:page:direct:main", Agent: "main", Messages: append([]operator.ChatMessage{}, d.chat...)}
	})
	on("POST /chat", false, func(_ *http.Request, in map[string]string) any { return d.say(in) })
	mux.HandleFunc("GET /api/v1/events", d.events)
}

func (d *fake) events(w http.ResponseWriter, r *http.Request) {
	heard := make(chan string, 16)
	d.mu.Lock()
	d.watchers[heard] = true
	d.mu.Unlock()
	defer func() { d.mu.Lock(); delete(d.watchers, heard); d.mu.Unlock() }()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for n := 1; ; n++ {
		select {
		case <-d.gone:
			return
		case <-r.Context().Done():
			return
		case e := <-heard:
			_, _ = w.Write([]byte("id: " + strconv.Itoa(n) + "\n" + e)) // the page has left
			w.(http.Flusher).Flush()
		}
	}
}

func (d *fake) act(what, about, detail string) {
	d.acts = append([]operator.Act{{At: time.Now(), Who: d.name, Via: "page", What: what, About: about, Detail: detail}}, d.acts...)
}

// say takes a message and answers it as a turn would that falls back.
func (d *fake) say(in map[string]string) any {
	for _, m := range d.chat {
		if m.ID == in["id"] {
			return operator.ChatTaken{ID: m.ID, Session: "agent:main:page:direct:main"}
		}
	}
	d.chat = append(d.chat, operator.ChatMessage{ID: in["id"], At: time.Now(), From: "operator", Kind: "said", Text: in["text"], Who: d.name, State: "waiting"})
	go func() {
		d.mu.Lock()
		d.chat[len(d.chat)-1].State = "answered"
		n := strconv.Itoa(len(d.chat))
		d.chat = append(d.chat,
			operator.ChatMessage{ID: "n" + n, At: time.Now(), From: "agent", Kind: "notice", Text: "↪️ Model Fallback: openai/gpt-5.2 (selected anthropic/claude-sonnet-4-6; rate_limit)", Turn: "01RUN"},
			operator.ChatMessage{ID: "r" + n, At: time.Now(), From: "agent", Kind: "reply", Text: "You said: " + in["text"], Turn: "01RUN"})
		d.mu.Unlock()
		d.tell("chat", operator.Event{Session: "agent:main:page:direct:main"})
	}()
	return operator.ChatTaken{ID: in["id"], Session: "agent:main:page:direct:main"}
}
