// Package authtest is an authorization server for tests, over real HTTP on
// loopback. It is strict where real ones are: PKCE is checked, a code is good
// once, refresh tokens rotate, and a refresh token that is sent twice is refused
// and ends its whole login, unless the server has a grace period.
package authtest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"time"

	"standin/fallback/auth"
)

// Server is a running authorization server. Its fields are set before the first
// request, or under Change.
type Server struct {
	URL string

	Life  time.Duration // of an access token; 0: one hour
	Grace bool          // a refresh token that was used gives its answer again
	Email string        // in the id token; "": none
	// Account and Plan stand in the id token as OpenAI has them.
	Account, Plan string
	// Deny makes the person decline, in the browser and on the device.
	Deny bool
	// Pending is how many polls of a device come before the person agrees, Slow
	// how many of them are answered with slow_down; Gone lets the code expire.
	Pending, Slow int
	Gone          bool
	// Fail answers each refresh with this status, 0: not at all.
	Fail int
	// Refuse answers each refresh with this code, "": not at all.
	Refuse string
	// Nested puts codes into an object, with status 401, as OpenAI does.
	Nested bool
	// Arrived is called with each refresh before the server acts on it, Acted
	// after it has acted and before it answers. Both may block.
	Arrived, Acted func()

	// Down is the error of each RoundTrip, nil: it is up.
	Down error

	mu       sync.Mutex
	mux      *http.ServeMux
	server   *http.Server
	codes    map[string]code
	devices  map[string]bool
	refresh  map[string]*grant // by refresh token, used ones too
	access   map[string]*grant
	requests []Request
}

// Request is a request to the token endpoint.
type Request struct {
	Grant   string // grant_type
	Refresh string // the refresh token that was sent
	Outcome string // "ok", or the error's code
}

type code struct{ challenge, redirect string }

// grant is what one refresh token stands for.
type grant struct {
	family string
	used   bool
	answer map[string]any // that its use was answered with
	ended  bool           // its family was ended by a reuse
}

// ClientID is the client that the server knows.
const ClientID = "standin-test"

// New gives a server without a socket: it is a client's http.RoundTripper, which
// works on the fake clock of a synctest bubble.
func New() *Server {
	s := &Server{URL: "http://127.0.0.1:9", Email: "ada@example.com",
		codes: map[string]code{}, devices: map[string]bool{}, refresh: map[string]*grant{}, access: map[string]*grant{}}
	s.mux = http.NewServeMux()
	s.mux.HandleFunc("GET /authorize", s.authorize)
	s.mux.HandleFunc("POST /token", s.token)
	s.mux.HandleFunc("POST /device", s.device)
	s.mux.HandleFunc("POST /own/usercode", s.ownCode)
	s.mux.HandleFunc("POST /own/token", s.ownToken)
	return s
}

// Start gives a server on a port of this machine until Close.
func Start() (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := New()
	s.URL = "http://" + listener.Addr().String()
	s.server = &http.Server{Handler: s.mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

// RoundTrip answers without a socket. A client that goes away has no answer; the
// server acts all the same.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	down := s.Down
	s.mu.Unlock()
	if down != nil {
		return nil, down
	}
	answered := make(chan *http.Response, 1)
	go func() {
		w := httptest.NewRecorder()
		s.mux.ServeHTTP(w, r)
		answered <- w.Result()
	}()
	select {
	case resp := <-answered:
		return resp, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// Close ends the server at once.
func (s *Server) Close() { _ = s.server.Close() }

// Change sets fields while the server runs.
func (s *Server) Change(do func(*Server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(s)
}

// Vendor is the server as a client's config has it.
func (s *Server) Vendor(providerID string) auth.Vendor {
	return auth.Vendor{Provider: providerID, AuthorizeURL: s.URL + "/authorize", TokenURL: s.URL + "/token", DeviceURL: s.URL + "/device",
		ClientID: ClientID, Scopes: []string{"openid", "offline_access"}}
}

// OwnDevice is Vendor with OpenAI's device login.
func (s *Server) OwnDevice(providerID string) auth.Vendor {
	v := s.Vendor(providerID)
	v.DeviceURL = s.URL + "/own/usercode"
	v.OwnDevice = &auth.OwnDevice{PollURL: s.URL + "/own/token", Page: s.URL + "/codex/device", Redirect: "https://login.test/deviceauth/callback"}
	return v
}

// Requests gives what the token endpoint was asked, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Refreshes counts the refreshes that the server acted on with success.
func (s *Server) Refreshes() (n int) {
	for _, r := range s.Requests() {
		if r.Grant == "refresh_token" && r.Outcome == "ok" {
			n++
		}
	}
	return n
}

// Valid tells whether an access token is of a login that has not ended. Its
// expiry is the client's to know.
func (s *Server) Valid(access string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, ok := s.access[access]
	return ok && !g.ended
}

// Revoke ends every login.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.refresh {
		g.ended = true
	}
	for _, g := range s.access {
		g.ended = true
	}
}

// Expel makes the model's server not accept the access tokens so far, while
// their logins stay good.
func (s *Server) Expel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// Issue gives a fresh pair of tokens without a browser.
func (s *Server) Issue() (access, refresh string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := s.issue(rand.Text())
	return answer["access_token"].(string), answer["refresh_token"].(string)
}

// issue makes a pair of a login. The caller holds mu.
func (s *Server) issue(family string) map[string]any {
	life := s.Life
	if life == 0 {
		life = time.Hour
	}
	access, refresh := "access-"+rand.Text(), "refresh-"+rand.Text()
	s.refresh[refresh] = &grant{family: family}
	s.access[access] = &grant{family: family}
	answer := map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": int(life.Seconds())}
	if s.Email != "" || s.Account != "" {
		answer["id_token"] = s.idToken()
	}
	return answer
}

// idToken is an unsigned JSON Web Token: clients do not look at the signature.
func (s *Server) idToken() string {
	claims := map[string]any{"email": s.Email}
	if s.Account != "" {
		claims["https://api.openai.com/auth"] = map[string]any{"chatgpt_account_id": s.Account, "chatgpt_plan_type": s.Plan}
	}
	body, _ := json.Marshal(claims)
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(`{"alg":"none"}`)) + "." + enc(body) + "." + enc([]byte("signature"))
}

// authorize agrees at once, as a person who is logged in would.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	switch {
	case q.Get("client_id") != ClientID, q.Get("response_type") != "code", err != nil, back.Host == "", q.Get("state") == "":
		http.Error(w, "no such client, redirect or response type", http.StatusBadRequest)
		return
	case q.Get("code_challenge_method") != "S256", len(q.Get("code_challenge")) != 43:
		http.Error(w, "PKCE with S256 is needed", http.StatusBadRequest)
		return
	}
	to := url.Values{"state": {q.Get("state")}}
	if s.Deny {
		to.Set("error", "access_denied")
		to.Set("error_description", "The person said no.")
	} else {
		c := rand.Text()
		s.codes[c] = code{q.Get("code_challenge"), q.Get("redirect_uri")}
		to.Set("code", c)
	}
	back.RawQuery = to.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// challenge is S256 of a verifier.
func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// reply writes JSON.
func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// refuse writes an OAuth error.
func refuse(w http.ResponseWriter, code string) {
	reply(w, http.StatusBadRequest, map[string]string{"error": code, "error_description": fmt.Sprintf("the server says %s", code)})
}
