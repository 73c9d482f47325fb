package takeover

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"standin/fallback"
	"standin/fallback/auth/legacy"
	"standin/store"
)

// Vault is where credentials are kept; *store.Credentials is one.
type Vault interface {
	List(ctx context.Context, a fallback.AgentID) ([]store.Credential, error)
	TakeIn(ctx context.Context, a fallback.AgentID, in store.Incoming) ([]fallback.ProfileID, error)
	Deeds(ctx context.Context, a fallback.AgentID, want store.DeedFilter) ([]fallback.Deed, error)
	Backup(ctx context.Context, a fallback.AgentID, path string) error
	File(a fallback.AgentID) (path string, err error)
}

// Job says what is to be done with the sources.
type Job struct {
	Vault Vault
	// Write takes the credentials in; without it the outcome says what would be.
	Write bool
	// Own says that the files are standin's own, which are put away once what
	// they hold is stored. Another program's stay as they are.
	Own bool
	// Named tells whether config says where a profile's secret is.
	Named func(fallback.ProfileID) bool
	Who   string // for the record
	Now   time.Time

	rename func(from, to string) error // nil: os.Rename; a test's folder that cannot be written
}

// Outcome is what became, or would become, of a source. Its texts are fit for
// people and hold no secret.
type Outcome struct {
	Source
	Taken   []string         // ids that were missing and are stored now, or would be
	Same    []string         // ids that are stored with this very secret
	Logins  []string         // those of Taken that renew themselves
	Kept    []string         // ids that are stored with another secret, which stays
	Refused []legacy.Refusal // what cannot be stored; the file stays for its sake
	Err     error            // why the file as a whole was left alone
	Backup  string           // where the file is now, "" when it has not moved
	Stays   error            // why it has not, although everything in it is stored
	Saved   string           // the copy of the store as it was before
}

// Done tells whether the source needs nobody's attention any more.
func (o Outcome) Done() bool {
	return o.Err == nil && o.Stays == nil && len(o.Refused) == 0
}

// Take deals with the sources. One agent's are taken in by one transaction, so
// that what stands in two of its files is decided once, and are put away only
// after every row has been read back.
func (j Job) Take(ctx context.Context, sources []Source) []Outcome {
	var all []Outcome
	for len(sources) > 0 {
		n := slices.IndexFunc(sources, func(s Source) bool { return s.Agent != sources[0].Agent })
		if n < 0 {
			n = len(sources)
		}
		all = append(all, j.agent(ctx, sources[:n])...)
		sources = sources[n:]
	}
	return all
}

// agent deals with the sources of one agent.
func (j Job) agent(ctx context.Context, sources []Source) []Outcome {
	agent := sources[0].Agent
	out, texts, flat := make([]Outcome, len(sources)), make([][]byte, len(sources)), make([]bool, len(sources))
	fail := func(err error) []Outcome {
		for i := range out {
			if out[i].Err == nil {
				out[i].Err = err
			}
		}
		return out
	}
	for i, s := range sources {
		out[i].Source = s
	}
	stored, err := j.stored(ctx, agent)
	if err != nil {
		return fail(err)
	}
	in := store.Incoming{
		Usage: map[fallback.ProfileID]fallback.Usage{}, Order: map[string][]fallback.ProfileID{},
		Deed: fallback.Deed{At: j.Now, Who: j.Who, Via: "command line"},
	}
	coming := map[fallback.ProfileID]string{}
	for i, s := range sources {
		c, text, err := j.contents(ctx, s)
		if err != nil {
			out[i].Err = err
			continue
		}
		texts[i], flat[i] = text, c.Flat
		out[i].Refused = j.refused(c)
		for _, one := range c.Credentials {
			id := fallback.ProfileID(one.ID)
			secret, known := stored[id]
			if !known {
				secret, known = coming[id]
			}
			switch {
			case !known:
				coming[id] = one.Secret.Reveal()
				in.Credentials = append(in.Credentials, store.Credential{ID: id, Provider: one.Provider, Type: fallback.CredentialType(one.Type), Secret: one.Secret})
				out[i].Taken = append(out[i].Taken, one.ID)
				if one.Type == string(fallback.OAuth) {
					out[i].Logins = append(out[i].Logins, one.ID)
				}
			case sameSecret(secret, one.Secret.Reveal()):
				out[i].Same = append(out[i].Same, one.ID)
			default:
				out[i].Kept = append(out[i].Kept, one.ID)
			}
		}
		hints(c, in)
	}
	if !j.Write {
		return out
	}
	if len(in.Credentials) > 0 || len(in.Order) > 0 {
		if err := j.bring(ctx, agent, in, out); err != nil {
			return fail(err)
		}
	}
	for i := range out {
		if j.Own && out[i].Done() && out[i].Kind != "" {
			out[i].Backup, out[i].Stays = j.putAway(sources[i].Path, texts[i], flat[i])
		}
	}
	return out
}

// bring stores what is missing, and reads it back as anybody else would.
func (j Job) bring(ctx context.Context, agent fallback.AgentID, in store.Incoming, out []Outcome) error {
	saved, err := j.save(ctx, agent)
	if err != nil {
		return fmt.Errorf("nothing was stored, since no copy of the store could be made first: %w", err)
	}
	for i := range out {
		if out[i].Err == nil {
			out[i].Saved = saved
		}
	}
	if _, err := j.Vault.TakeIn(ctx, agent, in); err != nil {
		return fmt.Errorf("nothing was stored: %w", err)
	}
	now, err := j.stored(ctx, agent)
	if err != nil {
		return fmt.Errorf("stored, but what was stored cannot be read back: %w", err)
	}
	for _, one := range in.Credentials {
		if _, ok := now[one.ID]; !ok {
			return fmt.Errorf("%s was stored and cannot be found again, so the files stay as they are; try once more, and look at the disk if it stays so", one.ID)
		}
	}
	return nil
}

// save copies the agent's database as it is, if it has one [IL-210].
func (j Job) save(ctx context.Context, agent fallback.AgentID) (path string, err error) {
	list, err := j.Vault.List(ctx, agent)
	if err != nil || len(list) == 0 {
		return "", err // nothing that an import could harm
	}
	file, err := j.Vault.File(agent)
	if err != nil {
		return "", err
	}
	path = fmt.Sprintf("%s.before-import.%d.bak", file, j.Now.UnixMilli())
	return path, j.Vault.Backup(ctx, agent, path)
}

func (j Job) stored(ctx context.Context, agent fallback.AgentID) (map[fallback.ProfileID]string, error) {
	list, err := j.Vault.List(ctx, agent)
	if err != nil {
		return nil, err
	}
	secrets := map[fallback.ProfileID]string{}
	for _, one := range list {
		secrets[one.ID] = one.Secret.Reveal()
	}
	return secrets, nil
}

// contents reads a source, and its text for the comparison before it is moved.
func (j Job) contents(ctx context.Context, s Source) (c legacy.Contents, text []byte, err error) {
	if s.Kind != "" {
		if text, err = s.read(!j.Own); err != nil {
			return c, nil, err
		}
		c, err = legacy.Read(s.Kind, text)
		return c, text, err
	}
	profiles, state, err := store.OpenClawCredentials(ctx, s.Path)
	if err != nil {
		return c, nil, err
	}
	if profiles != nil {
		if c, err = legacy.Read(legacy.Profiles, profiles); err != nil {
			return c, nil, fmt.Errorf("its table auth_profile_store %w", err)
		}
	}
	if state != nil {
		more, err := legacy.Read(legacy.State, state)
		if err != nil {
			return c, nil, fmt.Errorf("its table auth_profile_state %w", err)
		}
		c.Order, c.LastGood, c.Usage = more.Order, more.LastGood, more.Usage
	}
	return c, nil, nil
}

// refused are the entries of a source that a person has to deal with. One that
// only says where its secret is stays, unless config says it too.
func (j Job) refused(c legacy.Contents) []legacy.Refusal {
	list := slices.Clone(c.Refused)
	for _, r := range c.Refs {
		if j.Named != nil && j.Named(fallback.ProfileID(r.ID)) {
			continue
		}
		no := legacy.Refusal{Entry: r.ID, Why: "only says where its secret is, which is the config's part"}
		switch r.Source {
		case "env", "file":
			name, _ := json.Marshal(r.Name)
			no.Mend = fmt.Sprintf("write auth.profiles[%q].keyRef: {source: %s, id: %s} into config.yaml", r.ID, r.Source, name)
		default:
			no.Why = fmt.Sprintf("has its secret from a program (%s), which standin does not run", r.Source)
			no.Mend = "store it with: standin auth add " + r.Provider
		}
		list = append(list, no)
	}
	return list
}

// hints adds what a source says of order and windows, where no earlier one has.
func hints(c legacy.Contents, in store.Incoming) {
	for name, ids := range c.Order {
		if _, has := in.Order[name]; has {
			continue
		}
		list := []fallback.ProfileID{}
		for _, id := range ids {
			list = append(list, fallback.ProfileID(id))
		}
		in.Order[name] = list
	}
	for id, text := range c.Usage {
		var s fallback.UsageStats
		if _, has := in.Usage[fallback.ProfileID(id)]; !has && json.Unmarshal(text, &s) == nil {
			in.Usage[fallback.ProfileID(id)] = s.Usage()
		}
	}
}

// sameSecret compares two secrets as JSON: the order of their fields and their
// spaces mean nothing.
func sameSecret(a, b string) bool {
	var x, y map[string]json.RawMessage
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil || len(x) != len(y) {
		return a == b
	}
	for k, v := range x {
		w, ok := y[k]
		var p, q bytes.Buffer
		if !ok || json.Compact(&p, v) != nil || json.Compact(&q, w) != nil || !bytes.Equal(p.Bytes(), q.Bytes()) {
			return false
		}
	}
	return true
}

// putAway renames the file to its backup, for this user's eyes only.
func (j Job) putAway(path string, text []byte, flat bool) (backup string, err error) {
	now, err := os.ReadFile(path)
	if err != nil {
		return "", errors.New(reason(err))
	}
	if !bytes.Equal(now, text) {
		return "", errors.New("somebody wrote to it meanwhile; run doctor --fix once more")
	}
	if backup, err = backupName(path, flat, j.Now.UnixMilli()); err != nil {
		return "", err
	}
	rename := j.rename
	if rename == nil {
		rename = os.Rename
	}
	err = os.Chmod(path, 0o600)
	if err == nil {
		err = rename(path, backup)
	}
	if err != nil {
		return "", fmt.Errorf("it cannot be moved to %s (%s); move it away by hand, since it holds secrets", filepath.Base(backup), reason(err))
	}
	if folder, err := os.Open(filepath.Dir(path)); err == nil { // the new name survives a power cut
		_ = folder.Sync()
		_ = folder.Close()
	}
	return backup, nil
}
