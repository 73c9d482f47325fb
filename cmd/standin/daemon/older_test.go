package daemon

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"standin/cmd/standin/config"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

// IL-011: "auth-profiles.json present and an empty store: one warning names the
// file and the import command, and health is degraded"; M15: an oauth.json is
// taken over on first use.
func TestOlderCredentialFilesAreToldAtTheStart(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		"agents/main/agent/auth-profiles.json": `{"version":1,"profiles":{"openai:default":{"type":"api_key","provider":"openai","key":"s3cret-k"}}}`,
		"credentials/oauth.json":               `{"anthropic":{"access":"s3cret-a","refresh":"s3cret-r","expires":1}}`,
	} {
		at := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	conf, faults := config.Parse("config.yaml", []byte(benchConfig), noEnv, dir)
	if conf == nil {
		t.Fatal(faults)
	}
	var said strings.Builder
	log := slog.New(slog.NewTextHandler(&said, nil))
	a, err := New(t.Context(), Parts{State: dir, Config: conf, Vendors: provider.New(provider.Options{Transport: &providertest.Vendor{}, Log: log}), Log: log, Now: time.Now, Sleep: Sleep})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	if strings.Count(said.String(), "level=WARN") != 1 || !strings.Contains(said.String(), "auth-profiles.json") || !strings.Contains(said.String(), "standin doctor --fix") {
		t.Errorf("the log says:\n%s", &said)
	}
	if strings.Contains(said.String(), "s3cret") {
		t.Errorf("the log holds a secret:\n%s", &said)
	}
	list, err := a.DB.Credentials(nil).List(t.Context(), "main")
	if err != nil || len(list) != 1 || list[0].ID != "anthropic:default" {
		t.Errorf("stored: %v %v, want what oauth.json held", list, err)
	}
	g := &gateway{alive: a.DB.Ping, olderWait: a.olderWait}
	health := func() (int, string) {
		w := httptest.NewRecorder()
		g.public().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	if code, body := health(); code != 200 || body != "degraded" {
		t.Errorf("/healthz gives %d %q", code, body)
	}
	if err := os.Remove(filepath.Join(dir, "agents/main/agent/auth-profiles.json")); err != nil {
		t.Fatal(err)
	}
	if code, body := health(); code != 200 || body != "ok" {
		t.Errorf("after the file was put away /healthz gives %d %q", code, body)
	}
}
