package operator

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

var ownMetric = regexp.MustCompile(`\bstandin_[a-z_]+`)

// counted gives the names of all metrics that a standin has which has seen
// everything once.
func counted(t *testing.T) map[string]bool {
	t.Helper()
	h := open(t)
	skip := stepOf("r")
	skip.Attempt = &fallback.Attempt{Model: modelA, Skipped: fallback.SkipCooldown}
	probe := stepOf("r")
	probe.Attempt.Probe = fallback.PrimaryProbe
	dear := stepOf("r")
	dear.Attempt = &fallback.Attempt{Model: modelA, OK: true, Cost: 1, Priced: true}
	dear.Attempt.Tokens.Input = 1
	moved := stepOf("r")
	moved.Attempt, moved.Record = nil, &fallback.Decision{NextModel: "x", NextProvider: "y", StepOutcome: "next_fallback"}
	for _, s := range []fallback.Step{skip, probe, dear, moved} {
		h.Record(t.Context(), s)
	}
	h.Sent(channels.Outbound{}, nil)
	h.Ended(bot.Ending{Accepted: 1, How: bot.Answered, Notice: &channels.Outbound{}}, noon, nil)
	h.metrics.began("r")
	h.metrics.ended("r", 0)
	names := map[string]bool{}
	for _, line := range strings.Split(h.scrape(t), "\n") {
		names[ownMetric.FindString(line)] = true
	}
	return names
}

// holdExpression holds an expression to what can be held without a parser of PromQL,
// which brings all of Prometheus along: its metrics exist, and its brackets close.
func holdExpression(t *testing.T, names map[string]bool, where, expr string) {
	t.Helper()
	if strings.TrimSpace(expr) == "" {
		t.Errorf("%s has no expression", where)
	}
	for _, name := range ownMetric.FindAllString(expr, -1) {
		if !names[name] {
			t.Errorf("%s asks for %s, which standin does not have", where, name)
		}
	}
	for _, pair := range []string{"()", "{}", "[]"} {
		if strings.Count(expr, pair[:1]) != strings.Count(expr, pair[1:]) {
			t.Errorf("%s: %s do not match in %s", where, pair, expr)
		}
	}
}

func deployed(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Alerts ask for metrics that there are, and tell people what to do.
func TestAlertRules(t *testing.T) {
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.UnmarshalWithOptions(deployed(t, "alerts.yaml"), &rules, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	names, seen := counted(t), map[string]bool{}
	for _, r := range rules.Groups[0].Rules {
		holdExpression(t, names, r.Alert, r.Expr)
		if r.For == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" || seen[r.Alert] {
			t.Errorf("%s lacks a part, or comes twice: %+v", r.Alert, r)
		}
		seen[r.Alert] = true
	}
	if len(seen) < 8 {
		t.Errorf("%d rules", len(seen))
	}
}

// The dashboard asks for metrics that there are, and its panels do not lie on
// each other.
func TestDashboard(t *testing.T) {
	var board struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(deployed(t, "grafana.json"), &board); err != nil {
		t.Fatal(err)
	}
	names := counted(t)
	for i, p := range board.Panels {
		for _, target := range p.Targets {
			holdExpression(t, names, p.Title, target.Expr)
		}
		if len(p.Targets) == 0 || p.Title == "" || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d: %+v", p.ID, p)
		}
		for _, o := range board.Panels[:i] {
			a, b := p.GridPos, o.GridPos
			if p.ID == o.ID || a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%q lies on %q", p.Title, o.Title)
			}
		}
	}
}

// The unit runs verbs and flags that there are, as a user of its own, with time to
// drain; and the port that it is reached by is the one that is documented.
func TestDeploymentFiles(t *testing.T) {
	unit := string(deployed(t, "standin.service"))
	for _, want := range []string{"ExecStart=/usr/local/bin/standin serve --config ", "User=standin", "NoNewPrivileges=true", "ProtectSystem=strict", "StateDirectoryMode=0700", "TimeoutStopSec=", "ExecReload=/bin/kill -HUP $MAINPID"} {
		if !strings.Contains(unit, want) {
			t.Errorf("the unit lacks %q", want)
		}
	}
	for _, line := range strings.Split(unit, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "[") && !strings.Contains(line, "=") {
			t.Errorf("the unit has a line that is none: %q", line)
		}
	}
	container := string(deployed(t, "Containerfile"))
	for _, want := range []string{"USER 10001", "EXPOSE 18790", "STOPSIGNAL SIGTERM", "HEALTHCHECK", "CGO_ENABLED=1", "ca-certificates", "tzdata"} {
		if !strings.Contains(container, want) {
			t.Errorf("the Containerfile lacks %q", want)
		}
	}
}
