package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
)

// rehearsal is a script made ready to be played.
type rehearsal struct {
	file   string
	title  string
	start  time.Time
	config *Compiled
	// profiles are the stored credentials; nil with everyone saying that each
	// provider has one key (R4).
	profiles []profileSeed
	everyone bool
	sessions []sessionSeed
	rules    []*rule
	steps    []*scene
	named    []string // providers that the script or the config names, sorted

	expect, never []wish
	// refusal is what the config should be refused with; nil: it should not.
	refusal *pattern
	// refused are the faults of a config that should be refused.
	refused []Fault
}

// scene is a step of the script with what happens in the middle of its turn.
type scene struct {
	line   int
	at     time.Duration
	act    deed
	during []aside
}

// aside is an act during the n-th attempt of the scene's turn.
type aside struct {
	attempt int
	act     deed
}

// deed is something that is done to the daemon.
type deed struct {
	actKeys
	config *Compiled // of reload
}

// turn tells whether the act starts a turn, or may.
func (a deed) turn() bool { return a.Say != nil || a.Heartbeat != "" || a.Cron != nil }

// session is the session that the act concerns; "" when none in particular.
func (a deed) session() fallback.SessionID {
	key := ""
	switch {
	case a.Say != nil:
		key = a.actKeys.Session
		if key == "" {
			key = "agent:main:main"
		}
	case a.Heartbeat != "":
		key = "agent:" + a.Heartbeat + ":main"
	case a.Cron != nil:
		key = a.Cron.session()
	case a.Patch != nil:
		key = a.Patch.Session
	default:
		key = a.Reset + a.Compact
	}
	return fallback.SessionID(key)
}

// session is the key of the job's own session.
func (c *cronKeys) session() string {
	return "agent:" + c.Agent + ":cron:" + strings.ToLower(strings.Join(strings.Fields(c.job()), "-"))
}

// job is the name of the job, one for those that have none.
func (c *cronKeys) job() string {
	if c.Name == "" {
		return "job"
	}
	return c.Name
}

// scriptBounds are those of a script: a month of messages, one a minute.
var scriptBounds = bounds{file: 16 << 20, tokens: 2_000_000, nodes: 2_000_000}

// scriptReader reads one script. It collects every fault and goes on.
type scriptReader struct {
	file   string
	lines  []string
	root   *node
	keys   scriptKeys
	env    map[string]string
	faults []Fault // of the script
	config []Fault // of its config
}

// readRehearsal reads a script; configPath names a config file that is used
// instead of the script's config, "" for none. The rehearsal is nil when a
// fault is more than a warning, unless the script expects its config to be
// refused and the faults are those of the config.
func readRehearsal(file string, data []byte, configPath string, getenv func(string) string) (*rehearsal, []Fault) {
	s := &scriptReader{file: file, lines: strings.Split(string(data), "\n"), env: map[string]string{}}
	root, faults := plantYAML(file, data, planter{getenv: s.findEnv(data), within: scriptBounds, literal: notConfig})
	s.take(faults)
	if root == nil {
		return nil, s.all()
	}
	root, faults = fitYAML(file, s.lines, root, nil, &s.keys)
	s.take(faults)
	if root == nil {
		return nil, s.all()
	}
	s.root = root
	for name, value := range s.keys.Env {
		s.env[name] = string(value)
	}
	r := s.read(configPath, getenv)
	if broken(s.faults) || broken(s.config) && r.refusal == nil {
		return nil, s.all()
	}
	r.refused = s.config
	return r, s.all()
}

// notConfig tells which texts of a script are not those of a config.
func notConfig(p keyPath) bool {
	return !slices.ContainsFunc(p, func(step any) bool { return step == "config" || step == "reload" })
}

// findEnv gives the variables of a script's env, which stand in the very file
// that they are wanted for.
func (s *scriptReader) findEnv(data []byte) func(string) string {
	return func(name string) string {
		if len(s.env) == 0 {
			root, _ := plantYAML(s.file, data, planter{getenv: func(string) string { return "-" }, within: scriptBounds})
			s.env["\x00"] = "" // looked up
			if e := root.entry("env"); e != nil {
				for _, v := range e.value.entries {
					s.env[v.key] = v.value.raw
				}
			}
		}
		return s.env[name]
	}
}

// take sorts faults into those of the config and the others.
func (s *scriptReader) take(faults []Fault) {
	for _, f := range faults {
		if strings.HasPrefix(f.Path, "config.") || strings.Contains(f.Path, ".reload.") {
			s.config = append(s.config, f)
		} else {
			s.faults = append(s.faults, f)
		}
	}
}

func (s *scriptReader) all() []Fault { return sortFaults(slices.Concat(s.faults, s.config)) }

// report adds a fault at the value of p.
func (s *scriptReader) report(p keyPath, msg, mend string) {
	n, _ := s.root.at(p)
	s.faults = append(s.faults, Fault{File: s.file, Line: n.line, Col: n.col, Path: p.String(), Msg: msg, Mend: mend}.in(s.lines))
}

// reportKey adds a fault at the last key of p.
func (s *scriptReader) reportKey(p keyPath, msg, mend string) {
	parent, _ := s.root.at(p[:len(p)-1])
	f := Fault{File: s.file, Line: parent.line, Col: parent.col, Path: p.String(), Msg: msg, Mend: mend}
	if e := parent.entry(fmt.Sprint(p[len(p)-1])); e != nil {
		f.Line, f.Col = e.line, e.col
	}
	s.faults = append(s.faults, f.in(s.lines))
}

// defaultStart is the wall clock at 0s of a script that does not say (R1).
var defaultStart = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

func (s *scriptReader) read(configPath string, getenv func(string) string) *rehearsal {
	r := &rehearsal{file: s.file, title: s.keys.Title, start: defaultStart, sessions: s.keys.Sessions, everyone: s.keys.Profiles == nil}
	if t := s.keys.Start; t != "" {
		at, err := time.Parse(time.RFC3339, t)
		if err != nil {
			s.report(keyPath{"start"}, fmt.Sprintf("%q is not a time", t), `write it as "2026-01-05T12:00:00Z"`)
		}
		r.start = at.UTC()
	}
	if s.keys.Profiles != nil {
		r.profiles = *s.keys.Profiles
	}
	s.checkProfiles(r)
	s.checkSessions(r)
	for i, v := range s.keys.Vendors {
		r.rules = append(r.rules, s.rule(v, keyPath{"vendors", i}))
	}
	s.readSteps(r)
	r.expect = s.wishes("expect", true)
	r.never = s.wishes("never", false)
	if s.keys.ExpectError != "" {
		r.refusal = s.pattern(s.keys.ExpectError, keyPath{"expectError"})
		if s.keys.Expect.given() {
			s.reportKey(keyPath{"expectError"}, "stands beside expect", "a config that is refused has nothing else to expect")
		}
	}
	s.readConfigs(r, configPath, getenv)
	return r
}

func (s *scriptReader) checkProfiles(r *rehearsal) {
	seen := map[string]bool{}
	for i, p := range r.profiles {
		at := keyPath{"profiles", i}
		id := fallback.ProfileID(p.ID)
		switch {
		case !strings.Contains(p.ID, ":") || id.Provider() == "":
			s.report(at.key("id"), fmt.Sprintf("%q is no profile id", p.ID), "write provider:name, such as openai:default")
		case seen[p.Agent+"\x00"+p.ID]:
			s.report(at.key("id"), fmt.Sprintf("%q stands twice", p.ID), "give each profile an id of its own")
		}
		seen[p.Agent+"\x00"+p.ID] = true
	}
}

func (s *scriptReader) checkSessions(r *rehearsal) {
	seen := map[string]bool{}
	for i, row := range r.sessions {
		if seen[row.Key] {
			s.report(keyPath{"sessions", i, "key"}, fmt.Sprintf("%q stands twice", row.Key), "keep one row")
		}
		seen[row.Key] = true
	}
}

// readSteps reads the script: steps in time order, and what happens during a
// turn with the step that starts it.
func (s *scriptReader) readSteps(r *rehearsal) {
	var waiting []aside
	var waitingAt keyPath
	var last time.Duration
	for i, k := range s.keys.Script {
		p := keyPath{"script", i}
		n, _ := s.root.at(p)
		at := time.Duration(k.At)
		if at < last {
			s.report(p.key("at"), fmt.Sprintf("stands behind a step at %s", short(last)), "steps stand in the order of time")
		}
		last = max(last, at)
		if k.During != nil {
			s.checkAct(k.actKeys, p, true)
			s.checkAct(k.During.Do, p.key("during").key("do"), false)
			if len(waiting) == 0 {
				waitingAt = p.key("during")
			}
			waiting = append(waiting, aside{k.During.Attempt, deed{actKeys: k.During.Do}})
			continue
		}
		s.checkAct(k.actKeys, p, false)
		sc := &scene{line: n.line, at: at, act: deed{actKeys: k.actKeys}}
		if len(waiting) > 0 && sc.act.turn() {
			sc.during, waiting = waiting, nil
		}
		r.steps = append(r.steps, sc)
	}
	if len(waiting) > 0 {
		s.reportKey(waitingAt, "no step behind it starts a turn", "put it before the say, heartbeat or cron whose turn is meant")
	}
}

// checkAct sees to it that an act is one act, with nothing that belongs to
// another. beside says that it stands beside a during, which is the act.
func (s *scriptReader) checkAct(a actKeys, p keyPath, beside bool) {
	var acts []string
	add := func(given bool, name string) {
		if given {
			acts = append(acts, name)
		}
	}
	add(beside, "during")
	add(a.Say != nil, "say")
	add(a.Heartbeat != "", "heartbeat")
	add(a.Cron != nil, "cron")
	add(a.Reset != "", "reset")
	add(a.Patch != nil, "patch")
	add(a.Compact != "", "compact")
	add(a.Restart, "restart")
	add(a.Reload.given(), "reload")
	add(a.Room != nil && a.Room.Kind == "", "room")
	add(a.Abort != "", "abort")
	known := "say, heartbeat, cron, reset, patch, compact, restart, reload, room, abort or during"
	switch len(acts) {
	case 1:
	case 0:
		if slices.ContainsFunc(s.faults, func(f Fault) bool { return strings.HasPrefix(f.Path, p.String()+".") }) {
			return // what it was to do was faulty, and that was told
		}
		s.report(p, "does nothing", "give it one of "+known)
		return
	default:
		s.reportKey(p.key(acts[1]), "is a second act", "make it a step of its own behind "+acts[0])
		return
	}
	if n, _ := s.root.at(p.key("patch").key("model")); a.Patch != nil && n.kind != isText && n.kind != isEmpty {
		s.report(p.key("patch").key("model"), "wants a model or null, found "+string(n.kind), "")
	}
	if acts[0] == "say" {
		return
	}
	for _, one := range []struct {
		key   string
		given bool
	}{{"session", a.Session != ""}, {"from", a.From != ""}, {"thread", a.Thread != ""}, {"replyToMode", a.ReplyToMode != ""},
		{"room", acts[0] != "room" && a.Room != nil}} {
		if one.given {
			s.reportKey(p.key(one.key), "belongs to say", "this step is "+acts[0])
		}
	}
}

// modelName finds provider/model in a command.
var modelName = regexp.MustCompile(`(?:^|\s)([A-Za-z0-9][\w.-]*)/[^\s/]`)

// commandWithModel is a message that may choose a model.
var commandWithModel = regexp.MustCompile(`(?i)^\s*/(model|new|reset)\b`)

// providers collects every provider that a model of the script belongs to: none
// of them needs an entry in models.providers (R2).
func (r *rehearsal) providers() []string {
	seen := map[string]bool{}
	ref := func(text string) {
		if m, _ := fallback.ParseRef(text); m.Provider != "" && m.Provider != "*" {
			seen[m.Provider] = true
		}
	}
	for _, p := range r.profiles {
		seen[fallback.NormalProvider(p.Provider)] = true
		seen[fallback.ProfileID(p.ID).Provider()] = true
	}
	for _, row := range r.sessions {
		seen[fallback.NormalProvider(row.Provider)] = true
		seen[fallback.NormalProvider(row.OriginProvider)] = true
		ref(row.ToldSelected)
		ref(row.ToldActive)
	}
	for _, v := range r.rules {
		ref(v.model)
	}
	for _, sc := range r.steps {
		sc.act.models(ref)
		for _, d := range sc.during {
			d.act.models(ref)
		}
	}
	delete(seen, "")
	return sortedKeys(seen)
}

// models hands each model that the act names to see.
func (a deed) models(see func(string)) {
	switch {
	case a.Say != nil && commandWithModel.MatchString(*a.Say):
		for _, m := range modelName.FindAllStringSubmatch(*a.Say, -1) {
			see(m[1] + "/x")
		}
	case a.Cron != nil:
		see(a.Cron.Model)
		if a.Cron.Fallbacks != nil {
			for _, f := range *a.Cron.Fallbacks {
				see(f)
			}
		}
	case a.Patch != nil:
		see(a.Patch.model())
	}
}

// endpointOf is the in-memory endpoint of a provider.
func endpointOf(id string) provider.Endpoint {
	e, _, _ := provider.Known(id)
	if e.API == "" {
		e.API = provider.OpenAICompletions
	}
	return e
}

// folder is where file references of the script's config start from.
func (s *scriptReader) folder() string { return filepath.Dir(s.file) }
