package fallback_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"standin/fallback"
	"standin/fallback/auth"
	"standin/fallback/auth/authtest"
	"standin/fallback/provider"
	"standin/store"
)

const ada = fallback.ProfileID("openai:ada@example.com")

// subscriber is a desk whose openai credentials are a login and, behind it in
// the order, an API key.
type subscriber struct {
	*desk
	server *authtest.Server
	steps  []fallback.Attempt
	keys   []string // whose turn it was, call by call: the login's access token, or "key"
	deny   func(key string) error
}

// Call implements provider.Caller: it knows the tokens that the server knows.
func (s *subscriber) Call(_ context.Context, c provider.Call) (*provider.Reply, error) {
	key := c.Key.Reveal()
	s.keys = append(s.keys, key)
	if s.deny != nil {
		if err := s.deny(key); err != nil {
			return nil, err
		}
	}
	if key != "key" && (!s.server.Valid(key) || c.Auth != provider.Login || c.Account != "acct-7") {
		return nil, &provider.Error{Provider: "openai", Model: c.Model, Status: 401, Code: "token_invalidated", Message: "Your authentication token has been invalidated."}
	}
	return &provider.Reply{Text: "ok", Finish: "stop"}, nil
}

// Record implements fallback.Journal.
func (s *subscriber) Record(_ context.Context, step fallback.Step) {
	if step.What == fallback.StepAttempt {
		s.steps = append(s.steps, *step.Attempt)
	}
}

func subscribe(t *testing.T, left time.Duration) *subscriber {
	t.Helper()
	s := &subscriber{desk: newDesk(t, nil), server: authtest.New()}
	credentials := s.db.Credentials([]fallback.Profile{{ID: "openai:key", Provider: "openai", Type: fallback.APIKey, Key: provider.NewKey("key")},
		{ID: "groq:default", Provider: "groq", Type: fallback.APIKey, Key: provider.NewKey("key")}})
	s.Credentials, s.Vendors, s.Journal = credentials, s, s
	s.Logins = &auth.Refresher{Store: credentials, Transport: s.server, Now: time.Now, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
		Vendor: func(string) (auth.Vendor, bool) { return s.server.Vendor("openai"), true }}
	s.login(t, left)
	return s
}

// login stores a new login whose token ends after left, and gives the token.
func (s *subscriber) login(t *testing.T, left time.Duration) string {
	t.Helper()
	access, refresh := s.server.Issue()
	one, err := store.FromLogin(auth.Credential{Provider: "openai", Email: "ada@example.com", AccountID: "acct-7",
		Access: provider.NewKey(access), Refresh: provider.NewKey(refresh), Expires: time.Now().Add(left)})
	if err == nil {
		err = s.db.Credentials(nil).PutCredential(t.Context(), "main", one)
	}
	if err != nil {
		t.Fatal(err)
	}
	return access
}

// turn runs a turn whose order is the login, then the key if there is one.
func (s *subscriber) turn(t *testing.T, order ...fallback.ProfileID) (*fallback.Outcome, error) {
	t.Helper()
	a := ask()
	a.Config.Cooldowns = fallback.DefaultCooldowns()
	a.Config.Default.Fallbacks = []fallback.Model{model("groq/b")}
	a.Config.Order = map[string][]fallback.ProfileID{"openai": order}
	return s.Run(t.Context(), a)
}

func (s *subscriber) usage(t *testing.T) fallback.Usage {
	t.Helper()
	all, err := s.Credentials.Usage(t.Context(), "main", "openai")
	if err != nil {
		t.Fatal(err)
	}
	return all[ada]
}

// "An auth failure triggers at most one credential refresh and retry before
// rotation" (10.8): the room gets its answer, and nothing counts.
func TestA401RenewsTheLoginOnceAndTriesAgain(t *testing.T) {
	s := subscribe(t, time.Hour)
	s.server.Expel() // the vendor ended the token before its time
	out, err := s.turn(t, ada, "openai:key")
	if err != nil || out.Profile != ada || len(out.Attempts) != 0 || out.Notice != "" {
		t.Fatalf("%+v, %v", out, err)
	}
	if n := s.server.Refreshes(); n != 1 || len(s.keys) != 2 || s.keys[0] == s.keys[1] {
		t.Errorf("%d refreshes, %d calls", n, len(s.keys))
	}
	if u := s.usage(t); u.Errors != 0 || u.Disabled.Active(time.Now()) || u.Whole.Active(time.Now()) {
		t.Errorf("usage %+v", u)
	}
	if len(s.steps) != 2 || s.steps[0].Reason != fallback.AuthFailed || !s.steps[1].OK {
		t.Errorf("the record does not have both calls: %+v", s.steps)
	}
}

// A second 401, with a token that was just made, counts as auth.
func TestASecond401CountsAgainstTheLogin(t *testing.T) {
	s := subscribe(t, time.Hour)
	s.deny = func(key string) error {
		if key == "key" {
			return nil
		}
		return &provider.Error{Provider: "openai", Status: 401, Message: "Unauthorized"}
	}
	out, err := s.turn(t, ada, "openai:key")
	if err != nil || out.Profile != "openai:key" || out.Used != model("openai/gpt-5.5") {
		t.Fatalf("%+v, %v", out, err)
	}
	if u := s.usage(t); s.server.Refreshes() != 1 || u.Failures[fallback.AuthFailed] != 1 || len(s.keys) != 3 {
		t.Errorf("%d refreshes, %d calls, usage %+v", s.server.Refreshes(), len(s.keys), u)
	}
}

// "Process B reads the new pair written by A and its call succeeds;
// usageStats.errorCount stays 0" [IL-176].
func TestAFreshTokenInTheStoreIsUsedInsteadOfCountingA401(t *testing.T) {
	s := subscribe(t, time.Hour)
	var fresh string
	s.deny = func(key string) error {
		if fresh == "" {
			fresh = s.login(t, time.Hour)
			return &provider.Error{Provider: "openai", Status: 401, Message: "token expired"}
		}
		return nil
	}
	out, err := s.turn(t, ada)
	if err != nil || len(out.Attempts) != 0 || s.keys[1] != fresh {
		t.Fatalf("%+v, %v", out, err)
	}
	if n := len(s.server.Requests()); n != 0 || s.usage(t).Errors != 0 {
		t.Errorf("%d requests, %+v", n, s.usage(t))
	}
}

// "A refused refresh: auth_permanent window with the mending command"; the next
// profile in order takes the run without leaving the model and without a notice.
func TestALostLoginRestsAndTheKeyTakesTheRun(t *testing.T) {
	s := subscribe(t, -time.Minute)
	s.server.Refuse = "invalid_grant"
	out, err := s.turn(t, ada, "openai:key")
	if err != nil || out.Profile != "openai:key" || out.Used != model("openai/gpt-5.5") || out.Notice != "" {
		t.Fatalf("%+v, %v", out, err)
	}
	u := s.usage(t)
	if left := time.Until(u.Disabled.Until); u.Disabled.Reason != fallback.AuthPermanent || left < 9*time.Minute || left > 10*time.Minute+time.Second {
		t.Errorf("usage %+v", u)
	}
	if len(s.keys) != 1 {
		t.Errorf("a token whose time is over was tried: %v", s.keys)
	}
	if _, err := s.turn(t, ada, "openai:key"); err != nil || len(s.server.Requests()) != 1 {
		t.Errorf("the server is asked again within the window: %d, %v", len(s.server.Requests()), err)
	}
}

// Who has the login alone is told what mends it, in the summary and in the line
// for people, in this turn and in the next, which passes the login over.
func TestALostLoginNamesTheCommandThatMendsIt(t *testing.T) {
	s := subscribe(t, -time.Minute)
	s.server.Refuse = "refresh_token_reused"
	s.deny = func(string) error { return &provider.Error{Provider: "groq", Status: 503} }
	for range 2 {
		_, err := s.turn(t, ada)
		var summary *fallback.SummaryError
		if !errors.As(err, &summary) {
			t.Fatal(err)
		}
		if !strings.Contains(err.Error(), "standin auth login openai") {
			t.Errorf("%v", err)
		}
		if c := summary.Cause(); c.Kind != fallback.CauseAuth || c.Command != "standin auth login openai" || c.Auth != fallback.OAuth {
			t.Errorf("%+v", c)
		}
		if strings.Contains(err.Error()+s.log.String(), "refresh-") || strings.Contains(err.Error()+s.log.String(), "access-") {
			t.Errorf("a secret is told: %v\n%s", err, &s.log)
		}
	}
}

// "Network trouble during refresh is not a credential failure": the run goes on
// elsewhere, nothing is counted, and the login is back with its server.
func TestAnAuthorizationServerThatIsDownIsNotTheLoginsFault(t *testing.T) {
	s := subscribe(t, -time.Minute)
	s.server.Fail = 503
	out, err := s.turn(t, ada)
	if err != nil || out.Used != model("groq/b") || out.Attempts[0].Reason != fallback.Timeout {
		t.Fatalf("%+v, %v", out, err)
	}
	if u := s.usage(t); u.Errors != 0 {
		t.Errorf("usage %+v", u)
	}
}

// "Still-valid token is used" while the server is down: the room notices nothing.
func TestAGoodTokenServesWhileTheAuthorizationServerIsDown(t *testing.T) {
	s := subscribe(t, 4*time.Minute)
	s.server.Fail = 503
	if out, err := s.turn(t, ada); err != nil || out.Profile != ada || len(out.Attempts) != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
}

// "A refresh happens before the model call and no 401 reaches the chain"
// [IL-200].
func TestALoginIsRenewedBeforeTheCall(t *testing.T) {
	s := subscribe(t, 4*time.Minute)
	old := s.keys
	if out, err := s.turn(t, ada); err != nil || out.Profile != ada {
		t.Fatalf("%+v, %v", out, err)
	}
	if s.server.Refreshes() != 1 || len(s.keys) != len(old)+1 || len(s.steps) != 1 {
		t.Errorf("%d refreshes, %d calls", s.server.Refreshes(), len(s.keys))
	}
}

// hanging are logins whose renewal never ends.
type hanging struct{}

func (hanging) Token(ctx context.Context, _, _ string, _ provider.Key) (auth.Token, error) {
	<-ctx.Done()
	return auth.Token{}, context.Cause(ctx)
}

// A renewal takes no more than the attempt's time: another model answers.
func TestARenewalIsBoundByTheAttempt(t *testing.T) {
	s := subscribe(t, -time.Minute)
	s.Logins = hanging{}
	a := ask()
	a.Config.Default.Fallbacks = nil
	a.Config.RunTimeout = 10 * time.Millisecond
	a.Config.Order = map[string][]fallback.ProfileID{"openai": {ada}}
	_, err := s.Run(t.Context(), a)
	if !errors.Is(err, fallback.ErrRunDeadline) {
		t.Errorf("%v", err)
	}
	if u := s.usage(t); u.Errors != 0 {
		t.Errorf("usage %+v", u)
	}
}

// unreadable are logins that the store cannot read.
type unreadable struct{}

func (unreadable) Token(context.Context, string, string, provider.Key) (auth.Token, error) {
	return auth.Token{}, errLocked
}

// "Local coordination trouble" costs neither a token that is good nor a mark.
func TestAStoreThatFailsUnderALogin(t *testing.T) {
	s := subscribe(t, time.Hour)
	s.Logins = unreadable{}
	s.deny = func(string) error { return nil }
	s.turn(t, ada) // the account is unknown then: what the vendor says to that is its business
	if len(s.keys) == 0 || s.keys[0] == "" {
		t.Errorf("calls %v", s.keys)
	}
	s = subscribe(t, -time.Minute)
	s.Logins = unreadable{}
	out, err := s.turn(t, ada)
	if err != nil || out.Used != model("groq/b") || s.usage(t).Errors != 0 {
		t.Errorf("%+v, %v, %+v", out, err, s.usage(t))
	}
}
