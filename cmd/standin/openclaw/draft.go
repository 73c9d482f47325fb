package openclaw

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"standin/cmd/standin/config"
	"standin/fallback/provider"
)

// Note tells a person what became of a key.
type Note struct {
	Path string // in openclaw.json, as config.Path writes it
	Why  string
	Mend string
	// Must says that the config cannot be used until the person has mended it:
	// the key stands in it as it was. Otherwise the key was left out or moved.
	Must bool
}

// Secret is a secret that stood in the file as plain text.
type Secret struct {
	Path string
	// Provider names whose API key it is, Profile the credential; both are empty
	// for a token of a platform, which the config looks for in File.
	Provider, Profile string
	File              string // relative to the config's folder, with slashes
	Key               provider.Key
}

// Draft is a config of ours in the making.
type Draft struct {
	Notes     []Note
	Secrets   []Secret
	Variables []string // that OpenClaw set by itself, in env, by name
	root      *value
}

// Read reads an openclaw.json and brings it to our names. An error is a
// *FileError: the file, or one that it includes, cannot be used as a whole.
func Read(file string) (*Draft, error) {
	dir := filepath.Dir(file)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &FileError{dir, err}
	}
	defer root.Close()
	i := &including{root: root, dir: dir}
	v, err := i.load(filepath.Base(file), nil)
	if err != nil {
		return nil, err
	}
	if v.form != object {
		return nil, &FileError{file, &syntaxError{1, 1, "a config begins with {"}}
	}
	d := &Draft{root: v}
	d.modernise()
	d.takeSecrets()
	return d, nil
}

// YAML is the config as it stands.
func (d *Draft) YAML() []byte {
	var b strings.Builder
	b.WriteString(`# Made by standin doctor --import from an openclaw.json, without its comments.
# standin check tells whether it can be used and what each agent would do;
# config.example.yaml explains every key.

`)
	if len(d.root.members) == 0 {
		b.WriteString("{}\n")
	}
	d.root.writeYAML(&b, "")
	return []byte(b.String())
}

func (d *Draft) note(p config.Path, why, mend string) {
	d.Notes = append(d.Notes, Note{Path: provider.Redact(p.String()), Why: why, Mend: mend})
}

// rounds bounds how often the reader is asked: what it cannot read hides what
// stands behind it.
const rounds = 12

// Settle leaves out what the reader of our config does not know, and tells it.
// What decides who is answered by which model, or who may speak, is never left
// out: it stays, and the person has to mend it.
func (d *Draft) Settle(r config.Reader) {
	real := r.Getenv
	r.Getenv = func(name string) string {
		if v := real(name); v != "" {
			return v
		}
		return "not-set-yet" // told apart below: the value holds a variable
	}
	var open []Note
	for range rounds {
		open = nil // what has to be mended is found in each round, up to the last
		_, faults := r.Parse("config.yaml", d.YAML())
		places := d.places()
		gone := map[*value]bool{}
		for _, f := range faults {
			at, known := places[f.Path]
			switch {
			case f.Warning || known && waits(at, places):
			case !known || keeps(at.path):
				open = append(open, Note{Path: provider.Redact(f.Path), Why: f.Msg, Mend: f.Mend, Must: true})
			default:
				at = d.lift(at, places)
				if gone[at.value] {
					continue
				}
				gone[at.value] = true
				if f.Msg == "unknown key" {
					d.note(at.path, "has no counterpart", "")
				} else {
					d.note(at.path, "left out: "+f.Msg, "")
				}
			}
		}
		if len(gone) == 0 {
			break
		}
		d.root.drop(gone)
		d.prune()
	}
	d.Notes = append(d.Notes, open...)
}

// prune removes objects and lists that have become empty at the outermost
// level, which say nothing there.
func (d *Draft) prune() {
	d.root.members = slices.DeleteFunc(d.root.members, func(m member) bool { return m.value.form == object && len(m.value.members) == 0 })
}

// spot is a value with its path.
type spot struct {
	path  config.Path
	value *value
}

func (d *Draft) places() map[string]spot {
	all := map[string]spot{}
	d.root.each(nil, func(p config.Path, v *value) bool {
		all[p.String()] = spot{p, v}
		return true
	})
	return all
}

// lift gives what has to go with a value: a provider whose protocol is not
// spoken here is of no use without it, nor is a binding to a channel that there
// is not.
func (d *Draft) lift(at spot, places map[string]spot) spot {
	p := at.path
	switch {
	case len(p) == 4 && p[0] == "models" && p[1] == "providers" && p[3] == "api",
		len(p) == 4 && p[0] == "auth" && p[1] == "profiles" && p[3] == "mode":
		return places[p[:3].String()]
	case len(p) > 2 && p[0] == "bindings":
		return places[p[:2].String()]
	}
	return at
}

var reference = regexp.MustCompile(`\$\{[A-Z_][A-Z0-9_]*\}`)

// waits tells whether a value depends on what is not here yet: a variable, or
// the file of a secret.
func waits(at spot, places map[string]spot) bool {
	isRef := func(v *value) bool { return v.get("source") != nil && v.get("id") != nil }
	found := len(at.path) > 0 && isRef(places[at.path[:len(at.path)-1].String()].value)
	at.value.each(nil, func(_ config.Path, v *value) bool {
		found = found || v.form == text && reference.MatchString(v.text) || isRef(v)
		return !found
	})
	return found
}

// guarded are the keys that decide who answers and who may speak.
var guarded = []string{
	"model", "primary", "fallbacks", "dmPolicy", "groupPolicy", "allowFrom", "ownerAllowFrom", "users", "roles",
	"requireMention", "enabled", "allowBots", "baseUrl", "agentId", "id",
}

func keeps(p config.Path) bool {
	for _, step := range p {
		if key, ok := step.(string); ok && slices.Contains(guarded, key) {
			return true
		}
	}
	at := func(i int, key string) bool { return i < len(p) && p[i] == key }
	return len(p) == 4 && at(0, "channels") && at(1, "modelByChannel") || // a room's model
		len(p) == 4 && at(0, "agents") && at(1, "defaults") && at(2, "models") // without its last entry, any model is permitted
}
