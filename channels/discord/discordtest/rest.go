package discordtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// version is the API's version in a path.
var version = regexp.MustCompile(`^/api(/v\d+)?`)

// serve takes every request: the socket, files, and the API behind its faults,
// its limits and its journal.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/gateway" || r.URL.Path == "/gateway/":
		s.socket(w, r)
		return
	case strings.HasPrefix(r.URL.Path, "/attachments/"):
		s.file(w, r)
		return
	}
	path := version.ReplaceAllString(r.URL.Path, "")
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return
	}
	payload, files, err := unpack(r.Header.Get("Content-Type"), body)
	if err != nil {
		fail(w, http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
		return
	}
	f := s.faultOf(r.Method, path)
	answer := httptest.NewRecorder()
	if f == nil || f.Applied || f.Status == 0 && !f.Cut {
		s.carryOut(answer, r, path, payload, files)
	}
	s.misstate(r.Method, path, answer)
	status := answer.Code
	if f != nil && f.Status != 0 {
		status = f.Status
	}
	s.note(REST, fmt.Sprintf("%s %s %d", r.Method, path, status), string(payload))
	if f == nil {
		copyAnswer(w, answer)
		return
	}
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case f.Cut:
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	case f.Status != 0:
		w.Header().Set("Content-Type", "application/json")
		for k, v := range f.Header {
			w.Header().Set(k, v)
		}
		if wrong := s.lies().header; wrong != nil {
			wrong(w.Header())
		}
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, f.Body)
	default:
		copyAnswer(w, answer)
	}
}

func copyAnswer(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	for k, v := range answer.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// open are the routes that need no token: their path has one.
func open(path string) bool {
	return strings.HasPrefix(path, "/interactions/") || strings.HasPrefix(path, "/webhooks/") || path == "/gateway"
}

// carryOut checks the token and the limit and makes the call.
func (s *Server) carryOut(w http.ResponseWriter, r *http.Request, path string, payload []byte, files []Attachment) {
	if !open(path) && r.Header.Get("Authorization") != "Bot "+s.Token {
		fail(w, http.StatusUnauthorized, 0, "401: Unauthorized")
		return
	}
	if !s.withinLimit(w, r.Method, path) {
		return
	}
	stored := make([]Attachment, 0, len(files))
	for _, f := range files {
		stored = append(stored, s.keep(f.Name, f.Type, []byte(f.URL)))
	}
	inner := r.Clone(r.Context())
	inner.URL.Path, inner.URL.RawPath = path, ""
	inner.Body = io.NopCloser(bytes.NewReader(payload))
	list, _ := json.Marshal(stored)
	inner.Header.Set(filesHeader, string(list))
	s.mux.ServeHTTP(w, inner)
}

// unpack reads a JSON body, or the payload_json and files of a multipart one.
// A file's data travels in the URL of its Attachment until it is stored.
func unpack(contentType string, body []byte) ([]byte, []Attachment, error) {
	kind, params, _ := mime.ParseMediaType(contentType)
	if kind != "multipart/form-data" {
		if len(body) > 0 && !json.Valid(body) {
			return nil, nil, fmt.Errorf("no JSON")
		}
		return body, nil, nil
	}
	var payload []byte
	var files []Attachment
	for parts := multipart.NewReader(bytes.NewReader(body), params["boundary"]); ; {
		p, err := parts.NextPart()
		if err == io.EOF {
			return payload, files, nil
		}
		if err != nil {
			return nil, nil, err
		}
		data, err := io.ReadAll(p)
		if err != nil {
			return nil, nil, err
		}
		if p.FormName() == "payload_json" {
			payload = data
		} else {
			files = append(files, Attachment{Name: p.FileName(), Type: p.Header.Get("Content-Type"), URL: string(data)})
		}
	}
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/")
	s.mu.Lock()
	data, ok := s.files[parts[2]]
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(data)
}

// Expire makes a file's address worthless, as a signed one is after a day. The
// message gives a new one.
func (s *Server) Expire(m *Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range m.Files {
		fresh := s.newIDLocked()
		s.files[fresh] = s.files[f.ID]
		delete(s.files, f.ID)
		m.Files[i].URL = strings.ReplaceAll(f.URL, "/"+f.ID+"/", "/"+fresh+"/")
	}
}

func reply(w http.ResponseWriter, status int, v any) {
	if v == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func fail(w http.ResponseWriter, status, code int, message string) {
	reply(w, status, map[string]any{"code": code, "message": message})
}

// invalid is a 50035 with its tree.
func invalid(w http.ResponseWriter, path, code, message string) {
	node := any(map[string]any{"_errors": []any{map[string]any{"code": code, "message": message}}})
	parts := strings.Split(path, ".")
	for i := len(parts) - 1; i >= 0; i-- {
		node = map[string]any{parts[i]: node}
	}
	reply(w, http.StatusBadRequest, map[string]any{"code": 50035, "message": "Invalid Form Body", "errors": node})
}

// bucket is one rate limit.
type bucket struct {
	left  int
	reset time.Time
}

var ids = regexp.MustCompile(`/\d{15,}`)

// withinLimit counts a call against its route's limit and writes the headers.
func (s *Server) withinLimit(w http.ResponseWriter, method, path string) bool {
	if s.opt.Limits == nil || open(path) {
		return true
	}
	route := method + " " + ids.ReplaceAllString(path, "/:id")
	calls, per := s.opt.Limits(route)
	if calls == 0 {
		return true
	}
	major := ""
	if parts := strings.Split(path, "/"); len(parts) > 2 {
		major = parts[2]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.opt.Now()
	key := route + "|" + major
	b := s.buckets[key]
	if b == nil || !b.reset.After(now) {
		b = &bucket{left: calls, reset: now.Add(per)}
		s.buckets[key] = b
	}
	b.left--
	wait := b.reset.Sub(now)
	h := w.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(calls))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(b.left, 0)))
	h.Set("X-RateLimit-Reset", strconv.FormatFloat(float64(b.reset.UnixMilli())/1000, 'f', 3, 64))
	h.Set("X-RateLimit-Reset-After", floatOf(wait))
	h.Set("X-RateLimit-Bucket", fmt.Sprintf("%x", []byte(route)))
	if b.left >= 0 {
		return true
	}
	s.noteLocked(Broken, "called over the limit: "+route, "")
	h.Set("Retry-After", wholeOf(wait))
	h.Set("X-RateLimit-Scope", "user")
	reply(w, http.StatusTooManyRequests, map[string]any{"message": "You are being rate limited.", "retry_after": wait.Seconds(), "global": false})
	return false
}

func floatOf(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

func wholeOf(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }
