package auth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"standin/fallback"
	"standin/fallback/auth"
	"standin/fallback/auth/authtest"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
	"standin/store"
)

// These tests run this test binary again as other processes, over real HTTP and
// one database: what a claim is worth shows between processes alone.

// job is what such a process is to do: turns through the whole engine, with the
// credentials of one folder that all share.
type job struct {
	State     string        // folder of the shared credentials
	Own       string        // folder of the process's own sessions
	TokenURL  string        // of the authorization server
	ModelURL  string        // of the subscription's models
	Turns     int           // side by side
	Until     time.Time     // half of them begin at once, half at this time
	Lease     time.Duration // of a claim, 0: the usual one
	Fallbacks bool          // another model may answer
}

// tally is what it tells.
type tally struct {
	Answers  int
	Failures []string
	Used     []string // models that answered in the primary's place
}

const jobVariable = "STANDIN_TEST_AUTH_JOB"

func TestMain(m *testing.M) {
	if text := os.Getenv(jobVariable); text != "" {
		work(text)
		return
	}
	os.Exit(m.Run())
}

// work is the other process.
func work(text string) {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		panic(err)
	}
	ctx := context.Background()
	db, err := store.Open(ctx, store.Options{Dir: j.Own})
	if err != nil {
		panic(err)
	}
	credentials := store.OpenCredentials(store.Options{Dir: j.State})
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	logins := refresher(credentials, auth.Vendor{Provider: "openai", ClientID: authtest.ClientID, TokenURL: j.TokenURL}, nil, log)
	logins.Lease = j.Lease
	r := &fallback.Runner{
		Selections: db, Credentials: credentials, Vendors: provider.New(provider.Options{}), Logins: logins,
		Journal: silent{}, Log: log, Now: time.Now,
		Sleep: func(context.Context, time.Duration) error { return nil },
	}
	var told tally
	var mu sync.Mutex
	var turns sync.WaitGroup
	for i := range j.Turns {
		turns.Go(func() {
			if i%2 == 1 {
				<-time.After(time.Until(j.Until))
			}
			out, err := r.Run(ctx, question(j, i))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				told.Failures = append(told.Failures, err.Error())
			case len(out.Attempts) > 0:
				told.Used = append(told.Used, out.Used.String()+": "+out.Attempts[0].Detail)
				told.Answers++
			default:
				told.Answers++
			}
		})
	}
	turns.Wait()
	logins.Close()
	_ = json.NewEncoder(os.Stdout).Encode(told)
}

type silent struct{}

func (silent) Record(context.Context, fallback.Step) {}

// question is one turn on the subscription's model.
func question(j job, i int) fallback.Ask {
	ref := func(s string) fallback.Model { m, _ := fallback.ParseRef(s); return m }
	c := &fallback.Config{
		Default:   fallback.ModelChoice{Primary: ref("openai/gpt-5.5"), Listed: true},
		Providers: map[string]provider.Endpoint{"openai": {Provider: "openai", LoginURL: j.ModelURL}},
		Cooldowns: fallback.DefaultCooldowns(),
	}
	if j.Fallbacks {
		c.Default.Fallbacks = []fallback.Model{ref("local/llama")}
		c.Providers["local"] = provider.Endpoint{Provider: "local", API: provider.OpenAICompletions, BaseURL: j.ModelURL + "/v1", NoKey: true}
		c.Named = []fallback.Profile{{ID: "local:default", Provider: "local", Type: fallback.APIKey, Keyless: true}}
	}
	return fallback.Ask{
		Run: fmt.Sprint("r", i), Session: fallback.SessionID(fmt.Sprint("agent:main:", i)), Agent: "main", Kind: fallback.Chat, Config: c,
		Messages: []provider.Message{{Role: provider.User, Text: "hello"}},
	}
}

// stage is the world of these processes: an authorization server, models that
// take only the tokens of logins that have not ended, and the shared folder.
type stage struct {
	*authtest.Server
	job
	unauthorized atomic.Int64 // calls that the models did not accept
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{Server: server(t)}
	models := providertest.New()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if strings.HasSuffix(r.URL.Path, "/responses") && !s.Valid(token) {
			s.unauthorized.Add(1)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":{"message":"Your authentication token has been invalidated.","code":"token_invalidated"}}`))
			return
		}
		models.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	s.job = job{State: t.TempDir(), TokenURL: s.URL + "/token", ModelURL: web.URL, Turns: 1}
	return s
}

// login stores a login whose token ends after left.
func (s *stage) login(t *testing.T, left time.Duration) {
	t.Helper()
	s.look(t, func(c *store.Credentials) { put(t, c, s.Server, left, 0) })
}

// look opens the shared credentials.
func (s *stage) look(t *testing.T, do func(*store.Credentials)) {
	t.Helper()
	c := store.OpenCredentials(store.Options{Dir: s.State})
	defer c.Close()
	do(c)
}

// windows is the login's routing state.
func (s *stage) windows(t *testing.T) (u fallback.Usage) {
	s.look(t, func(c *store.Credentials) {
		states, err := c.States(t.Context(), "main")
		if err != nil {
			t.Fatal(err)
		}
		u = states[profile]
	})
	return u
}

// start begins a process.
func (s *stage) start(t *testing.T, j job) (cmd *exec.Cmd, told func() tally) {
	t.Helper()
	j.Own = t.TempDir()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	var out, log strings.Builder
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), jobVariable+"="+string(text))
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, func() (got tally) {
		t.Helper()
		if err := cmd.Wait(); err != nil || json.Unmarshal([]byte(out.String()), &got) != nil {
			t.Errorf("the process: %v\n%s%s", err, &out, &log)
		}
		return got
	}
}

// "20 processes and 200 turns around one expiry cause exactly one refresh and no
// failure" [IL-234], with a server that ends a login whose token comes twice.
func TestManyProcessesRenewOnce(t *testing.T) {
	s := newStage(t)
	s.Acted = func() { <-time.After(200 * time.Millisecond) } // a server that is far away
	s.Turns, s.Until = 10, time.Now().Add(3*time.Second)
	s.login(t, 3*time.Second)
	var ends []func() tally
	for range 20 {
		_, told := s.start(t, s.job)
		ends = append(ends, told)
	}
	answers := 0
	for _, told := range ends {
		got := told()
		answers += got.Answers
		for _, f := range append(got.Failures, got.Used...) {
			t.Errorf("a turn: %s", f)
		}
	}
	u := s.windows(t)
	t.Logf("%d answers, %d refreshes, %d calls refused, %d errors counted", answers, len(s.Requests()), s.unauthorized.Load(), u.Errors)
	if answers != 200 || len(s.Requests()) != 1 || s.Refreshes() != 1 || s.unauthorized.Load() != 0 || u.Errors != 0 {
		t.Errorf("%d answers, requests %v, %d calls refused, usage %+v", answers, s.Requests(), s.unauthorized.Load(), u)
	}
}

// kill ends a process in the middle of a refresh, before or after the server has
// acted on it, and so that it gets no answer.
func (s *stage) kill(t *testing.T, acted bool) {
	t.Helper()
	reached, dead := make(chan struct{}), make(chan struct{})
	hold := func() {
		close(reached)
		<-dead
		if !acted {
			panic(http.ErrAbortHandler) // a server that noticed that nobody waits
		}
	}
	s.Change(func(a *authtest.Server) {
		if acted {
			a.Acted = hold
		} else {
			a.Arrived = hold
		}
	})
	cmd, _ := s.start(t, s.job)
	select {
	case <-reached:
	case <-time.After(30 * time.Second):
		t.Fatal("the process never asked")
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	s.Change(func(a *authtest.Server) { a.Acted, a.Arrived = nil, nil })
	close(dead)
}

// A process that is killed in the middle of a refresh costs no login, as far as
// the server permits it: see the package comment for what no client can do.
func TestAProcessKilledInTheMiddleOfARefresh(t *testing.T) {
	t.Run("before the server acted: nothing is lost", func(t *testing.T) {
		s := newStage(t)
		s.Lease = time.Second
		s.login(t, -time.Minute)
		s.kill(t, false)
		_, told := s.start(t, s.job)
		if got := told(); got.Answers != 1 || len(got.Used) != 0 || s.Refreshes() != 1 || s.windows(t).Errors != 0 {
			t.Errorf("%+v, %v", got, s.Requests())
		}
	})
	t.Run("after it acted, at a server with a grace period: nothing is lost", func(t *testing.T) {
		s := newStage(t)
		s.Grace, s.Lease = true, time.Second
		s.login(t, -time.Minute)
		s.kill(t, true)
		_, told := s.start(t, s.job)
		if got := told(); got.Answers != 1 || len(got.Used) != 0 || s.windows(t).Errors != 0 {
			t.Errorf("%+v, %v", got, s.Requests())
		}
		// The login lives on: what was stored is the server's newest pair.
		s.renewsAgain(t)
	})
	t.Run("after it acted, at a strict server: the token serves to its end, then the login is lost", func(t *testing.T) {
		s := newStage(t)
		s.Lease, s.Fallbacks = time.Second, true
		s.login(t, 4*time.Minute)
		s.kill(t, true)
		_, told := s.start(t, s.job) // while the dead one's claim stands
		if got := told(); got.Answers != 1 || len(got.Used) != 0 || s.unauthorized.Load() != 0 {
			t.Errorf("a token that is good was not used: %+v", got)
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("the used token was sent again although there was no need: %v", s.Requests())
		}
		s.expire(t)
		_, told = s.start(t, s.job)
		got := told()
		if got.Answers != 1 || len(got.Used) != 1 || !strings.Contains(got.Used[0], "local/llama") || !strings.Contains(got.Used[0], "refresh_token_reused") {
			t.Errorf("%+v", got)
		}
		if u := s.windows(t); u.Disabled.Reason != fallback.AuthPermanent || u.Disabled.Until.Before(time.Now().Add(9*time.Minute)) {
			t.Errorf("usage %+v", u)
		}
	})
	t.Run("its claim is in the file, and names no secret", func(t *testing.T) {
		s := newStage(t)
		s.login(t, -time.Minute)
		s.kill(t, false)
		s.look(t, func(c *store.Credentials) {
			stored, _, err := c.Login(t.Context(), "main", profile)
			if err != nil {
				t.Fatal(err)
			}
			login, _ := auth.Parse("openai", stored.Secret)
			held, ok, err := c.Claim(t.Context(), stored, auth.Claim{Holder: "next", Spent: auth.Fingerprint(login.Refresh)}, time.Now())
			if ok || err != nil || held.Holder == "" || held.Holder == "next" || strings.Contains(login.Refresh.Reveal(), held.Spent) {
				t.Errorf("%+v, %v, %v", held, ok, err)
			}
		})
	})
}

// renewsAgain uses the stored login once more: it is renewed from what was stored.
func (s *stage) renewsAgain(t *testing.T) {
	t.Helper()
	s.expire(t)
	_, told := s.start(t, s.job)
	if got := told(); got.Answers != 1 || len(got.Used) != 0 {
		t.Errorf("the next renewal: %+v, %v", got, s.Requests())
	}
}

// expire ends the stored access token's time.
func (s *stage) expire(t *testing.T) {
	t.Helper()
	s.look(t, func(c *store.Credentials) {
		stored, _, err := c.Login(t.Context(), "main", profile)
		if err != nil {
			t.Fatal(err)
		}
		login, err := auth.Parse(stored.Provider, stored.Secret)
		if err != nil {
			t.Fatal(err)
		}
		login.Expires = time.Now().Add(-time.Second)
		if done, err := c.Swap(t.Context(), stored, stored.Secret, login.Secret()); !done || err != nil {
			t.Fatal(done, err)
		}
	})
}
