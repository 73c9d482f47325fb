package doctor

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/bot"
	"standin/cmd/standin/config"
	"standin/fallback"
	"standin/fallback/provider"
	"standin/store"
)

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// said is what a test compares of findings.
func said(found []Finding) (lines []string) {
	for _, f := range found {
		lines = append(lines, string(f.Level)+" "+f.line())
	}
	return lines
}

func compare(t *testing.T, what string, got []Finding, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, said(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// "Folders 0700, files 0600" [D15].
func TestModesThatAreLooser(t *testing.T) {
	compare(t, "tight", Modes([]File{{".", fs.ModeDir | 0o700}, {"a", 0o600}, {"b", 0o400}, {"c", fs.ModeDir | 0o500}}))
	compare(t, "loose", Modes([]File{{".", fs.ModeDir | 0o755}, {"a", 0o644}, {"b", 0o660}, {"c", fs.ModeDir | 0o750}, {"d", 0o700}}),
		"error .: has the mode 0755: others on this machine can read it",
		"warning a: has the mode 0644: others on this machine can read it",
		"error b: has the mode 0660: others on this machine can change it",
		"warning c: has the mode 0750: others on this machine can read it",
		"warning d: has the mode 0700: it can be run as a program")
}

func TestLoginsThatEnd(t *testing.T) {
	key := provider.NewKey("k")
	at := func(p fallback.Profile) Stored { return Stored{Agent: "main", Profile: p} }
	compare(t, "fine", Logins([]Stored{
		at(fallback.Profile{ID: "o:renews", Type: fallback.OAuth, Key: key, Refresh: true, Expires: noon.Add(-time.Hour)}),
		at(fallback.Profile{ID: "o:key", Type: fallback.APIKey, Key: key}),
		at(fallback.Profile{ID: "o:far", Type: fallback.Token, Key: key, Expires: noon.Add(soon)}),
		at(fallback.Profile{ID: "o:local", Keyless: true}),
	}, noon))
	compare(t, "not", Logins([]Stored{
		at(fallback.Profile{ID: "o:over", Provider: "o", Type: fallback.Token, Key: key, Expires: noon}),
		at(fallback.Profile{ID: "o:near", Provider: "o", Type: fallback.OAuth, Key: key, Expires: noon.Add(26 * time.Hour)}),
		at(fallback.Profile{ID: "o:empty", Provider: "o", Type: fallback.APIKey}),
		{Agent: "coder", Profile: fallback.Profile{ID: "o:day", Provider: "o", Type: fallback.Token, Key: key, Expires: noon.Add(time.Hour)}},
	}, noon),
		"error o:over: ended on "+noon.Local().Format("2 January at 15:04")+" and does not renew itself",
		"warning o:near: ends in 1 day 2 h and does not renew itself",
		"error o:empty: holds no key",
		"warning o:day of agent coder: ends in 1 h 0 min and does not renew itself")
}

func TestProfilesThatRest(t *testing.T) {
	until := noon.Add(90 * time.Minute)
	clock := until.Local().Format("15:04")
	window := func(r fallback.Reason) fallback.Window { return fallback.Window{Until: until, Reason: r} }
	at := func(id fallback.ProfileID, u fallback.Usage) Stored {
		return Stored{"main", fallback.Profile{ID: id, Provider: id.Provider(), Type: fallback.APIKey}, u}
	}
	compare(t, "at work", Windows([]Stored{
		at("o:a", fallback.Usage{Disabled: fallback.Window{Until: noon, Reason: fallback.Billing}}),
		at("openrouter:a", fallback.Usage{Disabled: window(fallback.Billing)}), // never rests (7.11)
	}, noon))
	compare(t, "resting", Windows([]Stored{
		at("o:perm", fallback.Usage{Disabled: window(fallback.AuthPermanent)}),
		at("o:bill", fallback.Usage{Disabled: window(fallback.Billing)}),
		at("o:one", fallback.Usage{Scopes: map[string]fallback.Cooldown{"m": {Window: window(fallback.RateLimit)}, "n": {Window: window(fallback.Timeout)}, "past": {}}}),
		at("o:all", fallback.Usage{Whole: fallback.Cooldown{Window: window(fallback.Overloaded)}}),
		at("o:off", fallback.Usage{SwitchedOff: noon, Disabled: window(fallback.Billing)}),
	}, noon),
		"error o:perm: rests for another 1 h 30 min, until "+clock+" (auth_permanent)",
		"warning o:bill: rests for another 1 h 30 min, until "+clock+" (billing)",
		"note o:one: rests for another 1 h 30 min, until "+clock+" (rate_limit); only for m and n",
		"note o:all: rests for another 1 h 30 min, until "+clock+" (overloaded)",
		"note o:off: is switched off by hand")
}

func TestModelsWithoutACredential(t *testing.T) {
	a, b := fallback.Model{Provider: "a", Name: "m"}, fallback.Model{Provider: "b", Name: "m"}
	plans := []config.AgentPlan{{ID: "main", Chain: []fallback.Model{a, b}}, {ID: "other", Chain: []fallback.Model{b}}}
	has := func(names ...string) func(string) ([]string, string) {
		return func(p string) ([]string, string) {
			for _, n := range names {
				if n == p {
					return []string{p + ":default"}, ""
				}
			}
			return nil, "set X"
		}
	}
	compare(t, "all", Bare(plans, has("a", "b")))
	compare(t, "the stand-in", Bare(plans[:1], has("a")), "warning b: has no credential, so b/m cannot stand in for agent main")
	compare(t, "the first", Bare(plans, has("b")), "error a: has no credential, so a/m, the first model of agent main, cannot be asked")
}

func TestClock(t *testing.T) {
	for off, want := range map[time.Duration][]string{
		0:                 nil,
		29 * time.Second:  nil,
		-29 * time.Second: nil,
		30 * time.Second:  {"warning clock: is 30s ahead of that of openai"},
		-4 * time.Minute:  {"warning clock: is 4m0s behind that of openai"},
		5 * time.Minute:   {"error clock: is 5m0s ahead of that of openai: Slack refuses requests that are more than 5 minutes off"},
	} {
		compare(t, off.String(), Skew("openai", noon, noon.Add(off)), want...)
	}
}

func TestDisk(t *testing.T) {
	compare(t, "room", Disk("/s", 1<<30))
	compare(t, "little", Disk("/s", 1<<30-1), "warning /s: 1023 MB are free on its disk")
	compare(t, "none", Disk("/s", 99<<20), "error /s: 99 MB are free on its disk: standin stops taking messages when nothing can be written")
}

func TestPort(t *testing.T) {
	compare(t, "free", Port("a:1", nil))
	taken := &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	compare(t, "taken", Port("a:1", taken), "error a:1: another program listens there")
	compare(t, "low", Port("a:1", os.NewSyscallError("bind", syscall.EACCES)), "error a:1: this user may not listen there")
	compare(t, "odd", Port("a:1", errors.New("s3cret")), "error a:1: cannot be listened on: the request failed")
}

func model(ref string) fallback.Model { m, _ := fallback.ParseRef(ref); return m }

// rules is a config of ours with p/a, then p/b.
func rules(t *testing.T) *bot.Config {
	t.Helper()
	c, faults := config.Parse("config.yaml", []byte(`
agents: {defaults: {model: {primary: p/a, fallbacks: [p/b]}, models: {p/a: {}, p/b: {}, p/c: {}}}}
models: {providers: {p: {baseUrl: http://127.0.0.1:9/v1}}}
channels: {modelByChannel: {slack: {C1: p/c}}}
`), func(string) string { return "" }, t.TempDir())
	if c == nil {
		t.Fatal(faults)
	}
	return c.Bot
}

// "Stale automatic overrides: origin no longer configured" and its neighbours;
// what a person chose is never one of them [I4].
func TestStaleOverrides(t *testing.T) {
	c := rules(t)
	session := func(key string, sel fallback.Selection) store.SessionState {
		s := store.SessionState{Selection: sel}
		s.Key, s.Agent = fallback.SessionID(key), "main"
		return s
	}
	room := session("room", fallback.Selection{Model: model("p/b"), Source: fallback.Auto, Origin: model("p/c")})
	room.Route.Channel, room.Route.Conversation = "slack", "C1" // whose own model p/c is
	list := []store.SessionState{
		session("free", fallback.Selection{}),
		session("right", fallback.Selection{Model: model("p/b"), Source: fallback.Auto, Origin: model("p/a")}),
		room,
		session("origin", fallback.Selection{Model: model("p/b"), Source: fallback.Auto, Origin: model("p/old")}),
		session("chain", fallback.Selection{Model: model("p/gone"), Source: fallback.Auto, Origin: model("p/a")}),
		session("nobody", fallback.Selection{Model: model("p/a"), Source: fallback.Auto}),
		session("recovered", fallback.Selection{Model: model("p/gone"), Origin: model("p/a")}),
		session("chosen", fallback.Selection{Model: model("p/c"), Source: fallback.ByUser}),
		session("nowhere", fallback.Selection{Model: model("q/x"), Source: fallback.ByUser}),
	}
	var found []Finding
	for _, s := range StaleOverrides(list, c) {
		found = append(found, s.Finding())
	}
	compare(t, "stale", found,
		"warning origin: stays on the stand-in p/b: it stands in for p/old, which is not the agent's model any more",
		"warning chain: stays on the stand-in p/gone: no list of models has it any more",
		"warning nobody: stays on the stand-in p/a: nobody knows any more for which model",
		"warning recovered: stays on the stand-in p/gone: no list of models has it any more")
	compare(t, "chosen", Choices(list, c), "note nowhere: q/x was chosen there and is not permitted any more")
	told := fallback.Told{Selected: model("p/a"), Active: model("p/b")}
	person := fallback.Pin{Profile: "p:x", Source: fallback.ByUser, Compactions: -1}
	free := Stale{Was: fallback.Selection{Model: model("p/b"), Source: fallback.Auto, Origin: model("p/a"), Told: told, Pin: person}}.Freed(noon)
	if diff := cmp.Diff(fallback.Selection{Told: told, Pin: person, Since: noon}, free); diff != "" {
		t.Errorf("what the room was told and a person's pin stay: %s", diff)
	}
}

// Every fault of the config is told, those of channels by themselves: a policy
// that lets nobody in, names where ids count, unknown providers, near misses.
func TestConfigFaults(t *testing.T) {
	_, faults := config.Reader{Getenv: func(string) string { return "" }, Catalogue: true}.Parse("config.yaml", []byte(`
agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [opnai/x]}}}
channels: {slack: {botToken: xoxb-1-a, appToken: xapp-1-A-1-a, dmPolicy: open, allowFrom: [kim], channels: {random: {}}}}
`))
	for _, want := range []string{
		`error config.yaml:2:66: agents.defaults.model.fallbacks[0]: "opnai/x": no provider of that name is known`,
		`error config.yaml:3:74: channels.slack.dmPolicy: open lets in nobody without "*" in allowFrom`,
		`warning config.yaml:3:92: channels.slack.allowFrom[0]: "kim" is no id of a person`,
		`warning config.yaml:3:117: channels.slack.channels.random: "random" is no id of a room`,
	} {
		ok := false
		for _, f := range Faults(faults) {
			area := Config
			if f.Area == Channels {
				area = Channels
			}
			ok = ok || said([]Finding{f})[0] == want && area == f.Area
		}
		if !ok {
			t.Errorf("not told: %s\nbut %q", want, said(Faults(faults)))
		}
	}
}
