package slacktest

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// args are a call's arguments, whatever they travelled in.
type args map[string]string

// answer is a call's result: "ok" and "error" are added to it.
type answer map[string]any

// method is one method of the Web API: its scopes (one of each group is
// enough), and what it does. The error "" is success.
type method struct {
	scopes []string
	run    func(*Server, args) (answer, string)
}

// AllScopes are the scopes of the app [SL5].
var AllScopes = []string{
	"app_mentions:read", "assistant:write", "channels:history", "channels:read", "chat:write", "commands", "emoji:read",
	"files:read", "files:write", "groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history",
	"mpim:read", "mpim:write", "pins:read", "pins:write", "reactions:read", "reactions:write", "usergroups:read", "users:read",
}

var methods = map[string]method{
	"api.test":                     {nil, func(*Server, args) (answer, string) { return answer{}, "" }},
	"auth.test":                    {nil, (*Server).authTest},
	"chat.postMessage":             {[]string{"chat:write"}, (*Server).postMessage},
	"chat.postEphemeral":           {[]string{"chat:write"}, (*Server).postEphemeral},
	"chat.update":                  {[]string{"chat:write"}, (*Server).update},
	"chat.delete":                  {[]string{"chat:write"}, (*Server).delete},
	"chat.startStream":             {[]string{"chat:write"}, (*Server).startStream},
	"chat.appendStream":            {[]string{"chat:write"}, (*Server).appendStream},
	"chat.stopStream":              {[]string{"chat:write"}, (*Server).stopStream},
	"conversations.history":        {[]string{":history"}, (*Server).history},
	"conversations.replies":        {[]string{":history"}, (*Server).replies},
	"conversations.info":           {[]string{":read"}, (*Server).info},
	"conversations.members":        {[]string{":read"}, (*Server).members},
	"conversations.open":           {[]string{"im:write"}, (*Server).openDM},
	"users.info":                   {[]string{"users:read"}, (*Server).userInfo},
	"usergroups.users.list":        {[]string{"usergroups:read"}, (*Server).groupUsers},
	"reactions.add":                {[]string{"reactions:write"}, (*Server).addReaction},
	"reactions.remove":             {[]string{"reactions:write"}, (*Server).removeReaction},
	"assistant.threads.setStatus":  {[]string{"assistant:write"}, (*Server).setStatus},
	"views.open":                   {nil, (*Server).openView},
	"files.getUploadURLExternal":   {[]string{"files:write"}, (*Server).uploadURL},
	"files.info":                   {[]string{"files:read"}, (*Server).fileInfo},
	"files.completeUploadExternal": {[]string{"files:write"}, (*Server).completeUpload},
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{method}", s.serveAPI)
	mux.HandleFunc("/link/", s.serveLink)
	mux.HandleFunc("POST /hook/{id}", s.serveHook)
	mux.HandleFunc("GET /files/{id}", s.serveFile)
	mux.HandleFunc("POST /upload/{id}", s.serveUpload)
	mux.HandleFunc("GET /sign-in", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>Sign in</title>")
	})
	return mux
}

// serveAPI answers one call, with the fault that was queued for it.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("method")
	token, in := readArgs(r)
	s.mu.Lock()
	var f Fault
	if q := s.faults[name]; len(q) > 0 {
		f, s.faults[name] = q[0], q[1:]
	}
	s.mu.Unlock()
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-s.ended:
		case <-r.Context().Done():
		}
	}
	s.mu.Lock()
	out, code := answer{}, f.Code
	var scopes []string
	if f.Applied || !f.instead() {
		var did string
		out, did, scopes = s.callLocked(name, token, in)
		if code == "" {
			code = did
		}
	}
	logged := code
	switch {
	case f.Cut:
		logged = "cut"
	case f.Status != 0:
		logged = strconv.Itoa(f.Status)
	}
	s.calls = append(s.calls, Call{Method: name, Form: in, Error: logged, At: s.now()})
	s.stirLocked()
	wrong := s.lie.answer
	s.mu.Unlock()
	if wrong == nil {
		wrong = func(string, answer, http.Header) {}
	}

	switch {
	case f.Cut:
		cut(w)
	case f.Status != 0 || f.Body != "":
		if f.RetryAfter != "" {
			w.Header().Set("Retry-After", f.RetryAfter)
		}
		wrong(name, answer{}, w.Header())
		w.WriteHeader(max(f.Status, 200))
		_, _ = io.WriteString(w, f.Body)
	default:
		if out == nil {
			out = answer{}
		}
		if out["ok"] = code == ""; code != "" {
			out["error"] = code
		}
		if scopes != nil {
			w.Header().Set("X-OAuth-Scopes", strings.Join(scopes, ","))
		}
		wrong(name, out, w.Header())
		writeJSON(w, out)
	}
}

func (s *Server) callLocked(name, token string, in args) (answer, string, []string) {
	if name == "apps.connections.open" {
		out, code := s.openConnection(token)
		return out, code, nil
	}
	m, known := methods[name]
	switch {
	case !known:
		return nil, "unknown_method", nil
	case token == "":
		return nil, "not_authed", nil
	case s.revoked != "":
		return nil, s.revoked, nil
	case token == AppToken:
		return nil, "not_allowed_token_type", nil
	case token != BotToken:
		return nil, "invalid_auth", nil
	}
	for _, want := range m.scopes {
		if !slices.ContainsFunc(s.scopes, func(have string) bool { return have == want || want[0] == ':' && s.scopeFits(have, want, in) }) {
			return answer{"needed": want, "provided": strings.Join(s.scopes, ",")}, "missing_scope", s.scopes
		}
	}
	out, code := m.run(s, in)
	return out, code, s.scopes
}

// scopeFits finds the scope of a conversation's kind, such as im:history.
func (s *Server) scopeFits(have, want string, in args) bool {
	kind := "channels"
	if r := s.rooms[in["channel"]]; r != nil {
		kind = map[string]string{"im": "im", "mpim": "mpim", "channel": "channels", "group": "groups"}[r.Kind]
	}
	return have == kind+want
}

// readArgs reads form, query or JSON, and the token from wherever it is.
func readArgs(r *http.Request) (token string, in args) {
	in = args{}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		for k, v := range body {
			if text, ok := v.(string); ok {
				in[k] = text
			} else if raw, err := json.Marshal(v); err == nil {
				in[k] = string(raw)
			}
		}
	}
	_ = r.ParseMultipartForm(1 << 20)
	_ = r.ParseForm()
	for k := range r.Form {
		in[k] = r.Form.Get(k)
	}
	token, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if t := in["token"]; t != "" {
		token = t
	}
	delete(in, "token")
	return token, in
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(v)
}

// cut ends the connection instead of answering.
func cut(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if conn, _, err := h.Hijack(); err == nil {
			_ = conn.Close()
		}
	}
}
