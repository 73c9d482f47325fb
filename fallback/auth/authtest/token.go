package authtest

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
)

// token answers the token endpoint.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		refuse(w, "invalid_request")
		return
	}
	kind := r.PostForm.Get("grant_type")
	if kind == "refresh_token" {
		s.hook(func(s *Server) func() { return s.Arrived })
	}
	status, answer, said := s.act(r)
	if kind == "refresh_token" {
		s.hook(func(s *Server) func() { return s.Acted })
	}
	switch {
	case status != 0:
		http.Error(w, "the server is not well", status)
	case said != "" && s.nested():
		reply(w, http.StatusUnauthorized, map[string]any{"error": map[string]any{"message": "Please try signing in again.", "type": "invalid_request_error", "param": nil, "code": said}})
	case said != "":
		refuse(w, said)
	default:
		reply(w, http.StatusOK, answer)
	}
}

func (s *Server) nested() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Nested
}

// hook calls a function of the test, outside the lock.
func (s *Server) hook(which func(*Server) func()) {
	s.mu.Lock()
	do := which(s)
	s.mu.Unlock()
	if do != nil {
		do()
	}
}

// act does what a request asks for and notes it.
func (s *Server) act(r *http.Request) (status int, answer map[string]any, said string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	form := r.PostForm
	note := Request{Grant: form.Get("grant_type"), Refresh: form.Get("refresh_token"), Outcome: "ok"}
	switch {
	case form.Get("client_id") != ClientID:
		said = "invalid_client"
	case note.Grant == "authorization_code":
		answer, said = s.redeem(form.Get("code"), form.Get("code_verifier"), form.Get("redirect_uri"))
	case note.Grant == "refresh_token" && s.Fail != 0:
		status = s.Fail
	case note.Grant == "refresh_token" && s.Refuse != "":
		said = s.Refuse
	case note.Grant == "refresh_token":
		answer, said = s.rotate(note.Refresh)
	case note.Grant == "urn:ietf:params:oauth:grant-type:device_code":
		answer, said = s.poll(form.Get("device_code"))
	default:
		said = "unsupported_grant_type"
	}
	if said != "" {
		note.Outcome = said
	}
	if status != 0 {
		note.Outcome = http.StatusText(status)
	}
	s.requests = append(s.requests, note)
	return status, answer, said
}

// redeem trades a code, once, for whoever knows its verifier.
func (s *Server) redeem(c, verifier, redirect string) (map[string]any, string) {
	known, ok := s.codes[c]
	delete(s.codes, c)
	if !ok || known.redirect != redirect || challenge(verifier) != known.challenge {
		return nil, "invalid_grant"
	}
	return s.issue(rand.Text()), ""
}

// rotate trades a refresh token for the next pair. One that comes again ends its
// login, unless there is a grace period.
func (s *Server) rotate(token string) (map[string]any, string) {
	g, ok := s.refresh[token]
	switch {
	case !ok, g.ended:
		return nil, "invalid_grant"
	case g.used && s.Grace:
		return g.answer, ""
	case g.used:
		for _, all := range []map[string]*grant{s.refresh, s.access} {
			for _, one := range all {
				one.ended = one.ended || one.family == g.family
			}
		}
		return nil, "refresh_token_reused"
	}
	g.used, g.answer = true, s.issue(g.family)
	return g.answer, ""
}

// device gives a device code (RFC 8628).
func (s *Server) device(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.FormValue("client_id") != ClientID {
		refuse(w, "invalid_client")
		return
	}
	id := rand.Text()
	s.devices[id] = true
	reply(w, http.StatusOK, map[string]any{"device_code": id, "user_code": "WDJB-MJHT", "verification_uri": s.URL + "/activate",
		"verification_uri_complete": s.URL + "/activate?user_code=WDJB-MJHT", "expires_in": 600, "interval": 1})
}

// poll answers a device that asks whether the person has agreed.
func (s *Server) poll(id string) (map[string]any, string) {
	switch {
	case !s.devices[id] || s.Gone:
		return nil, "expired_token"
	case s.Deny:
		return nil, "access_denied"
	case s.Slow > 0:
		s.Slow--
		return nil, "slow_down"
	case s.Pending > 0:
		s.Pending--
		return nil, "authorization_pending"
	}
	delete(s.devices, id)
	return s.issue(rand.Text()), ""
}

// ownCode gives a device code in OpenAI's protocol.
func (s *Server) ownCode(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var asked struct {
		Client string `json:"client_id"`
	}
	if json.NewDecoder(r.Body).Decode(&asked) != nil || asked.Client != ClientID {
		http.Error(w, "", http.StatusNotFound)
		return
	}
	id := rand.Text()
	s.devices[id] = true
	reply(w, http.StatusOK, map[string]any{"device_auth_id": id, "user_code": "ABCD-EFGHI", "interval": "1"})
}

// ownToken answers a poll in OpenAI's protocol: 403 until the person has
// agreed, then a code with the verifier that goes with it.
func (s *Server) ownToken(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var asked struct {
		ID   string `json:"device_auth_id"`
		Code string `json:"user_code"`
	}
	switch err := json.NewDecoder(r.Body).Decode(&asked); {
	case err != nil, !s.devices[asked.ID], asked.Code != "ABCD-EFGHI":
		http.Error(w, "", http.StatusBadRequest)
	case s.Deny:
		refuse(w, "access_denied")
	case s.Pending > 0:
		s.Pending--
		http.Error(w, "", http.StatusForbidden)
	default:
		c, verifier := rand.Text(), rand.Text()+rand.Text()
		s.codes[c] = code{challenge(verifier), "https://login.test/deviceauth/callback"}
		reply(w, http.StatusOK, map[string]string{"authorization_code": c, "code_verifier": verifier, "code_challenge": challenge(verifier)})
	}
}
