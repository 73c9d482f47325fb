package rehearsal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"standin/cmd/standin/config"
	"standin/fallback"
	"standin/fallback/provider"
)

// rehearsal is a script made ready to be played.
type rehearsal struct {
	file   string
	title  string
	start  time.Time
	config *config.Compiled
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
	refused []config.Fault
}

// scriptBounds are those of a script: a month of messages, one a minute.
var scriptBounds = config.Bounds{File: 16 << 20, Tokens: 2_000_000, Nodes: 2_000_000}

// scriptReader reads one script. It collects every fault and goes on.
type scriptReader struct {
	file  string
	lines []string
	root  *config.Node
	keys  scriptKeys
	env   map[string]string
	// foreign is the environment of a config file that is used in place of the
	// script's own.
	foreign func(string) string
	faults  []config.Fault // of the script
	config  []config.Fault // of its config
}

// readRehearsal reads a script; configPath names a config file that is used
// instead of the script's config, "" for none. The rehearsal is nil when a
// fault is more than a warning, unless the script expects its config to be
// refused and the faults are those of the config.
func readRehearsal(file string, data []byte, configPath string, getenv func(string) string) (*rehearsal, []config.Fault) {
	s := &scriptReader{file: file, lines: strings.Split(string(data), "\n"), env: map[string]string{}}
	root, faults := config.Plant(file, data, config.Planter{Getenv: s.findEnv(data), Within: scriptBounds, Literal: notConfig})
	s.take(faults)
	if root == nil {
		return nil, s.all()
	}
	root, faults = config.Fit(file, s.lines, root, nil, &s.keys)
	s.take(faults)
	if root == nil {
		return nil, s.all()
	}
	s.root = root
	for name, value := range s.keys.Env {
		s.env[name] = string(value)
	}
	r := s.read(configPath, getenv)
	if config.Broken(s.faults) || config.Broken(s.config) && r.refusal == nil {
		return nil, s.all()
	}
	r.refused = s.config
	return r, s.all()
}

// notConfig tells which texts of a script are not those of a config.
func notConfig(p config.Path) bool {
	return !slices.ContainsFunc(p, func(step any) bool { return step == "config" || step == "reload" })
}

// findEnv gives the variables of a script's env, which stand in the very file
// that they are wanted for.
func (s *scriptReader) findEnv(data []byte) func(string) string {
	return func(name string) string {
		if len(s.env) == 0 {
			root, _ := config.Plant(s.file, data, config.Planter{Getenv: func(string) string { return "-" }, Within: scriptBounds})
			s.env["\x00"] = "" // looked up
			if e := root.Entry("env"); e != nil {
				for _, v := range e.Value.Entries {
					s.env[v.Key] = v.Value.Raw
				}
			}
		}
		return s.env[name]
	}
}

// take sorts faults into those of the config and the others.
func (s *scriptReader) take(faults []config.Fault) {
	for _, f := range faults {
		if strings.HasPrefix(f.Path, "config.") || strings.Contains(f.Path, ".reload.") {
			s.config = append(s.config, f)
		} else {
			s.faults = append(s.faults, f)
		}
	}
}

func (s *scriptReader) all() []config.Fault {
	return config.SortFaults(slices.Concat(s.faults, s.config))
}

// report adds a fault at the value of p.
func (s *scriptReader) report(p config.Path, msg, mend string) {
	n, _ := s.root.At(p)
	s.faults = append(s.faults, config.Fault{File: s.file, Line: n.Line, Col: n.Col, Path: p.String(), Msg: msg, Mend: mend}.In(s.lines))
}

// reportKey adds a fault at the last key of p.
func (s *scriptReader) reportKey(p config.Path, msg, mend string) {
	parent, _ := s.root.At(p[:len(p)-1])
	f := config.Fault{File: s.file, Line: parent.Line, Col: parent.Col, Path: p.String(), Msg: msg, Mend: mend}
	if e := parent.Entry(fmt.Sprint(p[len(p)-1])); e != nil {
		f.Line, f.Col = e.Line, e.Col
	}
	s.faults = append(s.faults, f.In(s.lines))
}

// defaultStart is the wall clock at 0s of a script that does not say (R1).
var defaultStart = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

func (s *scriptReader) read(configPath string, getenv func(string) string) *rehearsal {
	r := &rehearsal{file: s.file, title: s.keys.Title, start: defaultStart, sessions: s.keys.Sessions, everyone: s.keys.Profiles == nil}
	if t := s.keys.Start; t != "" {
		at, err := time.Parse(time.RFC3339, t)
		if err != nil {
			s.report(config.Path{"start"}, fmt.Sprintf("%q is not a time", t), `write it as "2026-01-05T12:00:00Z"`)
		}
		r.start = at.UTC()
	}
	if s.keys.Profiles != nil {
		r.profiles = *s.keys.Profiles
	}
	s.checkProfiles(r)
	s.checkSessions(r)
	for i, v := range s.keys.Vendors {
		r.rules = append(r.rules, s.rule(v, i, config.Path{"vendors", i}))
	}
	s.readSteps(r)
	r.expect = s.wishes("expect", true)
	r.never = s.wishes("never", false)
	if s.keys.ExpectError != "" {
		r.refusal = s.pattern(s.keys.ExpectError, config.Path{"expectError"})
		if s.keys.Expect.given() {
			s.reportKey(config.Path{"expectError"}, "stands beside expect", "a config that is refused has nothing else to expect")
		}
	}
	s.readConfigs(r, configPath, getenv)
	return r
}

func (s *scriptReader) checkProfiles(r *rehearsal) {
	seen := map[string]bool{}
	for i, p := range r.profiles {
		at := config.Path{"profiles", i}
		id := fallback.ProfileID(p.ID)
		switch {
		case !strings.Contains(p.ID, ":") || id.Provider() == "":
			s.report(at.Key("id"), fmt.Sprintf("%q is no profile id", p.ID), "write provider:name, such as openai:default")
		case seen[p.Agent+"\x00"+p.ID]:
			s.report(at.Key("id"), fmt.Sprintf("%q stands twice", p.ID), "give each profile an id of its own")
		}
		seen[p.Agent+"\x00"+p.ID] = true
	}
}

func (s *scriptReader) checkSessions(r *rehearsal) {
	seen := map[string]bool{}
	for i, row := range r.sessions {
		if seen[row.Key] {
			s.report(config.Path{"sessions", i, "key"}, fmt.Sprintf("%q stands twice", row.Key), "keep one row")
		}
		seen[row.Key] = true
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
