package rehearsal

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"standin/cmd/standin/config"
	"standin/fallback"
	"standin/fallback/provider"
)

// readConfigs compiles the config that the script begins with and, in the order
// of the script, each one that a reload makes of it. The checks are those of
// the config file (R2).
func (s *scriptReader) readConfigs(r *rehearsal, path string, getenv func(string) string) {
	tree := &config.Node{Kind: config.Object, Line: 1, Col: 1}
	if e := s.root.Entry("config"); e != nil && e.Value.Kind != config.Empty {
		tree = e.Value
	}
	name, lines := s.file, s.lines
	if path != "" {
		data, err := config.ReadBounded(path, config.MaxFile)
		if err != nil {
			s.faults = append(s.faults, config.Fault{File: path, Msg: "cannot be read: " + config.ReasonOf(err)})
			return
		}
		var faults []config.Fault
		s.foreign = s.stranger(getenv)
		tree, faults = config.Plant(path, data, config.Planter{Getenv: s.foreign, Within: config.FileBounds})
		s.faults = append(s.faults, faults...)
		if tree == nil {
			return
		}
		name, lines = path, strings.Split(string(data), "\n")
	}
	named := r.providers()
	first := s.compile(name, lines, tree, path != "", named)
	if r.config = first; first == nil {
		return
	}
	for _, k := range s.keys.Script { // acts share their cron with the keys
		for _, c := range []*cronKeys{k.Cron, k.duringDo().Cron} {
			if c != nil && c.Agent == "" {
				c.Agent = string(first.Fallback.DefaultAgent)
			}
		}
	}
	s.eachReload(r, func(a *deed, p config.Path) {
		part, _ := s.root.At(p)
		tree = merged(tree, part)
		a.config = s.compile(s.file, s.lines, tree, path != "", named)
	})
	r.named = named
	for _, m := range first.Fallback.Models() {
		r.named = append(r.named, m.Provider)
	}
	slices.Sort(r.named)
	r.named = slices.Compact(r.named)
}

// stranger gives the environment for an operator's own config. A variable that
// is not set here holds a secret most of the time, and a rehearsal needs none;
// what steers the engine comes from the script alone (R3).
func (s *scriptReader) stranger(getenv func(string) string) func(string) string {
	return func(name string) string {
		if v, ok := s.env[name]; ok {
			return v
		}
		if steers(name) {
			return ""
		}
		if v := getenv(name); v != "" {
			return v
		}
		return "rehearsal-of-a-secret"
	}
}

// steers tells whether a variable steers the engine [D15]; the others with our
// name hold secrets.
func steers(name string) bool {
	ours := strings.HasPrefix(name, "STANDIN_") || strings.HasPrefix(name, "OPENCLAW_")
	return ours && (strings.HasSuffix(name, "_FALLBACK_SKIP_TTL_MS") || strings.HasSuffix(name, "_SDK_RETRY_MAX_WAIT_SECONDS"))
}

// compile makes a tree into a config, nil when a fault is more than a warning.
func (s *scriptReader) compile(name string, lines []string, tree *config.Node, own bool, providers []string) *config.Compiled {
	into := &s.config
	getenv := func(name string) string { return s.env[name] }
	if own {
		into = &s.faults // an operator's file is not what expectError is about
		getenv = s.foreign
	}
	reading := config.Reader{Getenv: getenv, Base: filepath.Dir(name), AnyModel: true}
	out, faults := reading.Compile(name, lines, clone(tree), nil)
	*into = append(*into, faults...)
	if out == nil {
		return nil
	}
	for _, id := range providers {
		if _, ok := out.Fallback.Providers[id]; !ok {
			out.Fallback.Providers[id] = endpointOf(id)
		}
	}
	s.lend(out)
	// The vendors of a rehearsal do not read what they are sent, so nobody would
	// see whether the conversation was looked up for them.
	out.Bot.HistoryTurns = 0
	out.Bot.Rules.Debounce, out.Bot.Rules.DebounceBy = 0, nil // adds no virtual time (R2)
	return out
}

// lend gives the config the credentials that are not stored: those that it
// names itself, from the script's env or by reference, and without profiles in
// the script one key for every provider that has none (R4).
func (s *scriptReader) lend(c *config.Compiled) {
	var lent []fallback.Profile
	has := map[string]bool{}
	for _, p := range c.Profiles {
		lent = append(lent, p)
		has[p.Provider] = true
	}
	if s.keys.Profiles == nil {
		for _, id := range slices.Sorted(maps.Keys(c.Fallback.Providers)) {
			if !has[id] {
				lent = append(lent, fallback.Profile{ID: fallback.ProfileID(id + ":default"), Provider: id, Type: fallback.APIKey, Key: provider.NewKey("rehearsal")})
			}
		}
	}
	c.Profiles = lent
}

// eachReload visits the reloads in the order in which they happen.
func (s *scriptReader) eachReload(r *rehearsal, do func(a *deed, p config.Path)) {
	next := 0
	visit := func(a *deed) {
		for ; next < len(s.keys.Script); next++ {
			k := s.keys.Script[next]
			switch {
			case k.Reload.given():
				do(a, config.Path{"script", next, "reload"})
			case k.During != nil && k.During.Do.Reload.given():
				do(a, config.Path{"script", next, "during", "do", "reload"})
			default:
				continue
			}
			next++
			return
		}
	}
	for _, sc := range r.steps {
		for i := range sc.during {
			if sc.during[i].act.Reload.given() {
				visit(&sc.during[i].act)
			}
		}
		if sc.act.Reload.given() {
			visit(&sc.act)
		}
	}
}

// merged lays one tree over another: objects key by key, everything else as a
// whole; nothing takes a key away.
func merged(under, over *config.Node) *config.Node {
	if under == nil || under.Kind != config.Object || over.Kind != config.Object {
		return clone(over)
	}
	out := *under
	out.Entries = slices.Clone(under.Entries)
	for _, e := range over.Entries {
		i := slices.IndexFunc(out.Entries, func(old config.Entry) bool { return old.Key == e.Key })
		switch {
		case e.Value.Kind == config.Empty && i >= 0:
			out.Entries = slices.Delete(out.Entries, i, i+1)
		case e.Value.Kind == config.Empty:
		case i >= 0:
			e.Value = merged(out.Entries[i].Value, e.Value)
			out.Entries[i] = e
		default:
			out.Entries = append(out.Entries, e)
		}
	}
	return &out
}

// clone copies a tree: who judges it takes faulty parts out.
func clone(n *config.Node) *config.Node {
	c := *n
	c.Entries, c.Items = slices.Clone(n.Entries), slices.Clone(n.Items)
	for i := range c.Entries {
		c.Entries[i].Value = clone(c.Entries[i].Value)
	}
	for i := range c.Items {
		c.Items[i] = clone(c.Items[i])
	}
	return &c
}
