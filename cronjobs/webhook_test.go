package cronjobs

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"standin/fallback/provider"
)

// R55: a webhook carries the run and the token; a host in the house is refused
// unless it is named, whatever its name says, and redirects lead nowhere.
func TestWebhookStaysOutside(t *testing.T) {
	var got map[string]any
	var bearer string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		bearer = r.Header.Get("Authorization")
		_ = json.NewDecoder(r.Body).Decode(&got)
	}))
	defer server.Close()
	s := New(Options{})
	call := WebhookCall{URL: server.URL, ID: "r1", Token: provider.NewKey("t0ken"), Event: eventOf(Job{}, Run{ID: "r1", Status: OK}, "the answer")}
	err := s.Post(context.Background(), call)
	if err == nil || !strings.Contains(err.Error(), "webhookAllowHosts") || got != nil {
		t.Errorf("a host of the house was called: %v", err)
	}
	call.URL = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	if err := s.Post(context.Background(), call); err == nil {
		t.Error("by its name it was called")
	}
	call.URL, call.Hosts = server.URL, []string{"127.0.0.1"}
	if err := s.Post(context.Background(), call); err != nil || got["text"] != "the answer" || got["runId"] != "r1" || got["event"] != "cron.finished" || bearer != "Bearer t0ken" {
		t.Errorf("%v: %v with %q", err, got, bearer)
	}
	call.URL += "/away"
	if err := s.Post(context.Background(), call); err == nil || !strings.Contains(err.Error(), "redirects") {
		t.Errorf("the redirect was followed: %v", err)
	}
}
