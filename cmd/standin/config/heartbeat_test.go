package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/fallback"
	"standin/heartbeat"
)

// "agents.defaults.heartbeat for default agent; if any agents.list[].heartbeat
// exists, only those agents have one (merged over defaults)" [H2, IL-034].
func TestWhoHasAHeartbeat(t *testing.T) {
	const model = "model: openai/gpt-5.5"
	for _, k := range []struct {
		name, text string
		who        string
		every      map[fallback.AgentID]time.Duration
	}{
		{"nobody says a word [D19]", "agents: {defaults: {" + model + "}}", "main", map[fallback.AgentID]time.Duration{"main": 0}},
		{"an empty block is no interval [IL-109]", "agents: {defaults: {" + model + ", heartbeat: {}}}", "main", map[fallback.AgentID]time.Duration{"main": 0}},
		{"the default agent's", "agents: {defaults: {" + model + ", heartbeat: {every: 30m}}, list: [{id: a}, {id: b, default: true}]}", "b",
			map[fallback.AgentID]time.Duration{"a": 0, "b": 30 * time.Minute}},
		{"those that have one", "agents: {defaults: {" + model + ", heartbeat: {every: 30m}}, list: [{id: a}, {id: b, heartbeat: {}}, {id: c, heartbeat: {every: 2h}}]}", "b c",
			map[fallback.AgentID]time.Duration{"a": 0, "b": 30 * time.Minute, "c": 2 * time.Hour}},
		{"a number is minutes [H1]", "agents: {defaults: {" + model + ", heartbeat: {every: 90}}}", "main", map[fallback.AgentID]time.Duration{"main": 90 * time.Minute}},
		{"0m is off [H1]", "agents: {defaults: {" + model + ", heartbeat: {every: 0m}}}", "main", map[fallback.AgentID]time.Duration{"main": 0}},
		{"so is 0", "agents: {defaults: {" + model + ", heartbeat: {every: 0}}}", "main", map[fallback.AgentID]time.Duration{"main": 0}},
	} {
		t.Run(k.name, func(t *testing.T) {
			c := must(t, k.text, env("HOME", "/h"))
			var who []string
			for _, a := range c.Heartbeats.Agents {
				who = append(who, string(a))
			}
			if strings.Join(who, " ") != k.who {
				t.Errorf("%v, want %s", who, k.who)
			}
			for a, want := range k.every {
				if got := c.Heartbeats.For(a).Every; got != want {
					t.Errorf("%s: every %s, want %s", a, got, want)
				}
			}
		})
	}
}

// An agent's block lies over the defaults key by key.
func TestHeartbeatKeys(t *testing.T) {
	c := must(t, `
agents:
  defaults:
    model: {primary: openai/gpt-5.5, fallbacks: [anthropic/claude-sonnet-5]}
    models: {"openai/*": {}, "anthropic/claude-sonnet-5": {alias: sonnet}}
    userTimezone: Europe/Berlin
    workspace: ~/ws
    heartbeat:
      every: 30m
      target: slack
      to: C1
      accountId: work
      directPolicy: block
      model: sonnet
      fallbacks: [openai/gpt-5.5]
      activeHours: {start: "22:00", end: "06:00"}
      ackMaxChars: 10
      dedupe: 1h
      idleAfter: 168h
      minSpacing: 1m
      maxCostPerDay: 1.5
  list:
    - {id: main, heartbeat: {}}
    - {id: ops, workspace: /srv/ops, heartbeat: {every: 2h, fallbacks: [], target: last, session: "agent:ops:slack:channel:c1", isolatedSession: true, lightContext: true, timeoutSeconds: 60, skipWhenBusy: true, allowPaid: false, prompt: " Look. ", activeHours: {timezone: UTC, start: "08:00"}}}
    - {id: quiet}
`, env("HOME", "/h", "STANDIN_STATE_DIR", "/s"))
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	sonnet, gpt := fallback.Model{Provider: "anthropic", Name: "claude-sonnet-5"}, fallback.Model{Provider: "openai", Name: "gpt-5.5"}
	main := heartbeat.Config{Every: 30 * time.Minute, Target: "slack", To: "C1", Account: "work", BlockDirect: true, AckMax: 10, Dedupe: time.Hour,
		Hours: heartbeat.Hours{Set: true, Start: 22 * 60, End: 6 * 60, Zone: berlin}, Model: sonnet, Fallbacks: []fallback.Model{gpt}, Listed: true,
		IdleAfter: 168 * time.Hour, Spacing: time.Minute, AllowPaid: true, MaxCostPerDay: 1.5, File: filepath.Join("/h/ws", "HEARTBEAT.md")}
	ops := main
	ops.Every, ops.Target, ops.Session, ops.Fallbacks = 2*time.Hour, "last", "agent:ops:slack:channel:c1", []fallback.Model{}
	ops.Isolated, ops.Light, ops.Timeout, ops.SkipWhenBusy, ops.AllowPaid, ops.Prompt = true, true, time.Minute, true, false, "Look."
	ops.Hours, ops.File = heartbeat.Hours{Set: true, Start: 8 * 60, End: 6 * 60, Zone: time.UTC}, "/srv/ops/HEARTBEAT.md"
	zones := cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })
	for a, want := range map[fallback.AgentID]heartbeat.Config{"main": main, "ops": ops} {
		if diff := cmp.Diff(want, c.Heartbeats.For(a), zones); diff != "" {
			t.Errorf("%s (-want +got):\n%s", a, diff)
		}
	}
	if q := c.Heartbeats.For("quiet"); q.Every != 0 || q.Model != sonnet || q.File != "/h/ws-quiet/HEARTBEAT.md" {
		t.Errorf("an agent without a heartbeat may be woken: %+v", q)
	}
	if c := must(t, "agents: {defaults: {model: openai/gpt-5.5}}", env("STANDIN_STATE_DIR", "/s")); c.Heartbeats.For("main").File != "/s/workspace/HEARTBEAT.md" {
		t.Errorf("the file is %s", c.Heartbeats.For("main").File)
	}
}

// "Visibility …; most specific wins" [H14].
func TestHeartbeatVisibility(t *testing.T) {
	c := must(t, `
agents: {defaults: {model: openai/gpt-5.5}}
channels:
  defaults: {heartbeat: {showOk: true}}
  slack: {botToken: xoxb-1, appToken: xapp-1, heartbeat: {showAlerts: false}, accounts: {work: {botToken: xoxb-2, appToken: xapp-2, heartbeat: {showOk: false, useIndicator: false}}, default: {heartbeat: {showAlerts: true}}}}
`, env())
	want := heartbeat.Visibilities{
		Default:  heartbeat.Visibility{OK: true, Alerts: true, Indicator: true},
		Channels: map[string]heartbeat.Visibility{"slack": {OK: true, Indicator: true}, "discord": {OK: true, Alerts: true, Indicator: true}},
		Accounts: map[string]map[string]heartbeat.Visibility{"slack": {"work": {}, "": {OK: true, Alerts: true, Indicator: true}}, "discord": {}},
	}
	if diff := cmp.Diff(want, c.Heartbeats.Seen); diff != "" {
		t.Error(diff)
	}
}

// What means nothing is told with its place and the mend.
func TestHeartbeatFaults(t *testing.T) {
	for text, want := range map[string]string{
		"every: 30s":                      `every: 30s is too often: each beat is a request`,
		"every: often":                    `every: "often" is not a duration`,
		"every: -5":                       `every: must be at least 0`,
		"target: telegram":                `target: "telegram" is not one of none, last, slack, discord, console`,
		"directPolicy: no":                `directPolicy: "no" is not one of allow, block`,
		"session: other":                  `session: "other" is no session`,
		"model: nowhere/x":                `nowhere`,
		"fallbacks: [nowhere/x]":          `fallbacks[0]`,
		"activeHours: {start: noon}":      `activeHours.start: "noon" is not a time of day`,
		`activeHours: {start: "24:00"}`:   `activeHours.start: "24:00" is not a time of day`,
		`activeHours: {end: "24:30"}`:     `activeHours.end: "24:30" is not a time of day`,
		"activeHours: {timezone: Moon}":   `activeHours.timezone: "Moon" is no time zone`,
		"evry: 30m":                       `did you mean "every"?`,
		"maxCostPerDay: -1":               `maxCostPerDay: must be at least 0`,
		"ackMaxChars: lots":               `ackMaxChars: wants a number`,
		"activeHours: {start: 8}":         `activeHours.start: wants text`,
		"isolatedSession: sometimes":      `isolatedSession: wants true or false`,
		"timeoutSeconds: 0":               `timeoutSeconds: must be at least 1`,
		"fallbacks: openai/gpt-5.5":       `fallbacks: wants a list`,
		"activeHours: {begin: \"08:00\"}": `unknown key`,
	} {
		t.Run(text, func(t *testing.T) {
			c, faults := read("agents:\n  defaults:\n    model: openai/gpt-5.5\n    heartbeat: {"+text+"}\n", env())
			all := strings.Join(lines(faults), "\n")
			if c != nil || !strings.Contains(all, want) || !strings.Contains(all, "config.yaml:4:") {
				t.Errorf("%s\nwant %s", all, want)
			}
		})
	}
	_, faults := read("agents: {defaults: {model: openai/gpt-5.5, userTimezone: Moon, heartbeat: {activeHours: {start: \"08:00\"}}}}", env())
	if all := strings.Join(lines(faults), "\n"); !strings.Contains(all, `agents.defaults.userTimezone: "Moon" is no time zone`) {
		t.Error(all)
	}
	for text, want := range map[string]string{
		"to: C1": "is not used with target none",
		`activeHours: {start: "08:00", end: "08:00"}`: "the heartbeat never runs",
	} {
		c, faults := read("agents: {defaults: {model: openai/gpt-5.5, heartbeat: {every: 30m, "+text+"}}}", env())
		if c == nil || !strings.Contains(SortFaults(faults)[0].String(), want) {
			t.Errorf("%s: %v", text, faults)
		}
	}
}
