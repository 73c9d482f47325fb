package incidents_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"standin/bot/incidents"
)

// What a URL answers decides whether it is tried again; the house is out of reach
// unless it is listed, and no error shows a path.
func TestWhatAWebhookAnswers(t *testing.T) {
	reached := 0
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached++
		switch r.URL.Query().Get("answer") {
		case "gone":
			w.WriteHeader(http.StatusGone)
		case "busy":
			w.WriteHeader(http.StatusTooManyRequests)
		case "broken":
			w.WriteHeader(http.StatusBadGateway)
		case "elsewhere":
			http.Redirect(w, r, "/secretpath", http.StatusFound)
		}
	}))
	defer at.Close()
	hosts := []string{strings.TrimPrefix(at.URL, "http://")}
	for _, c := range []struct {
		answer string
		hosts  []string
		says   string // "": taken
		again  bool
	}{
		{"fine", hosts, "", false},
		{"gone", hosts, "it answers 410 Gone", false},
		{"elsewhere", hosts, "redirects are not followed; name the final URL", false},
		{"busy", hosts, "it answers 429 Too Many Requests", true},
		{"broken", hosts, "it answers 502 Bad Gateway", true},
		{"fine", nil, "put its host into operators.webhookAllowHosts", false},
	} {
		before := reached
		err := incidents.Target{URL: at.URL + "/secretpath?answer=" + c.answer}.Call(t.Context(), incidents.Post{ID: "x"}, c.hosts)
		switch {
		case c.says == "" && err != nil, c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, incidents.ErrForGood) == c.again):
			t.Errorf("%s: %v", c.answer, err)
		case err != nil && strings.Contains(err.Error(), "secretpath"):
			t.Errorf("%s: the path is shown: %v", c.answer, err)
		}
		if got := reached - before; got != min(1, len(c.hosts)) {
			t.Errorf("%s: it was reached %d times", c.answer, got)
		}
	}
	at.Close()
	err := incidents.Target{URL: at.URL + "/secretpath"}.Call(t.Context(), incidents.Post{}, hosts)
	if err == nil || errors.Is(err, incidents.ErrForGood) || strings.Contains(err.Error(), "secretpath") {
		t.Errorf("nobody there: %v", err)
	}
}
