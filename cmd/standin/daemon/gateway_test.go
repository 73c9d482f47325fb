package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"standin/channels"
	"standin/cmd/standin/config"
)

// "/healthz 200 as soon as the process serves; /readyz 503 until start-up
// channels settle, and when draining; detail only to authenticated/local" [G23].
func TestProbes(t *testing.T) {
	var store error
	draining, up := false, false
	g := &gateway{
		fleet:    newFleet(slog.New(slog.DiscardHandler), time.Now, nil, []config.Account{mine}, func(config.Account) (channels.Channel, error) { return &cable{name: "slack"}, nil }),
		alive:    func(context.Context) error { return store },
		draining: func() bool { return draining }, up: func() bool { return up },
	}
	ask := func(h http.Handler, path string) (int, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	want := func(when, path string, code int, body string) {
		t.Helper()
		if c, b := ask(g.public(), path); c != code || b != body {
			t.Errorf("%s: %s gives %d %q, want %d %q", when, path, c, b, code, body)
		}
	}
	want("at the start", "/healthz", 200, "ok")
	want("at the start", "/readyz", 503, "starting")
	up = true
	want("settled", "/readyz", 200, "ready")
	store = errors.New("disk I/O error in /var/lib/standin")
	want("the store fails", "/healthz", 503, "the store does not work")
	draining = true
	want("draining", "/readyz", 503, "leaving")

	if code, _ := ask(g.public(), "/channels"); code != 404 {
		t.Errorf("the port tells details: %d", code)
	}
	if code, body := ask(g.private(), "/channels"); code != 200 || !strings.Contains(body, `"state":"ready"`) {
		t.Errorf("the socket: %d %s", code, body)
	}
}
