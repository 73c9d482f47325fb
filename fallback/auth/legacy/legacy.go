// Package legacy reads the credential files that came before the store: what
// OpenClaw and its forebears wrote into JSON files beside each agent
// (failover.md 21.C.3). It only reads: bytes in, credentials out, and a clear
// line for each entry that is none. Who takes them into the store, and what then
// becomes of the file, is package takeover's.
package legacy

import (
	"encoding/json"
	"fmt"

	"standin/fallback/provider"
)

// Kind is a sort of file, by its customary name.
type Kind string

// The kinds, in the order in which they count: what an earlier one says of a
// profile, a later one does not change.
const (
	// Profiles is an agent's auth-profiles.json: {version, profiles, order,
	// lastGood, usageStats}, or the older flat map {provider: {apiKey}}.
	Profiles Kind = "auth-profiles.json"
	// State is an agent's auth-state.json: order, lastGood and usageStats alone.
	State Kind = "auth-state.json"
	// Auth is an agent's auth.json: {provider: credential}.
	Auth Kind = "auth.json"
	// OAuth is credentials/oauth.json of the state folder: {provider: login}. It
	// is older than agents are and belongs to the main one.
	OAuth Kind = "oauth.json"
)

// MaxFile bounds a file in bytes; real ones have some kilobytes.
const MaxFile = 4 << 20

// Credential is an entry in the store's form: Type is api_key, token or oauth,
// and Secret the entry's own JSON object with key, token or access and refresh
// under their names of today. Fields that nobody here knows are kept in it.
type Credential struct {
	ID       string // provider:name
	Provider string
	Type     string
	Secret   provider.Key // unprintable, as what is in it [I12]
}

// Ref is an entry without a secret of its own: it says where the secret is.
type Ref struct {
	ID, Provider, Type string
	Source             string // env, file or exec
	Name               string // the variable, the path or the secret's id
}

// Refusal is an entry that cannot be taken over as it stands.
type Refusal struct {
	Entry string // the profile's id or the provider's name, fit for people
	Why   string
	Mend  string
}

// Contents is what a file holds.
type Contents struct {
	Flat        bool // the older flat map, which has a backup name of its own
	Credentials []Credential
	Refs        []Ref
	Refused     []Refusal
	Order       map[string][]string        // profile ids by provider
	LastGood    map[string]string          // profile id by provider
	Usage       map[string]json.RawMessage // usageStats by profile id, in the names of failover.md 7.1
}

// Names gives the ids of the file's credentials, in its order.
func (c Contents) Names() []string {
	var ids []string
	for _, one := range c.Credentials {
		ids = append(ids, one.ID)
	}
	return ids
}

// Read reads a file of the kind. The error says that the file as a whole cannot
// be understood, with line and column and without a word of what is in it.
func Read(kind Kind, data []byte) (Contents, error) {
	if len(data) > MaxFile {
		return Contents{}, fmt.Errorf("is larger than %d MB, which no file of credentials is", MaxFile>>20)
	}
	root, err := readObject(data)
	if err != nil {
		return Contents{}, err
	}
	var c Contents
	if kind == State {
		c.readState(root)
		return c, nil
	}
	if profiles, ok := root.get("profiles"); kind == Profiles && ok {
		list, err := readObject(profiles)
		if err != nil {
			return Contents{}, fmt.Errorf("its profiles are not an object: nothing of it can be told apart")
		}
		c.readState(root)
		for _, m := range list {
			c.add(m, m.key, "")
		}
		return c, nil
	}
	c.Flat = kind == Profiles
	for _, m := range root {
		if notes[m.key] {
			continue
		}
		if t := kindOf(m.value); kind == Profiles && t != '{' && t != '"' {
			continue // version: 1 of an empty store
		}
		c.add(m, m.key+":default", m.key)
	}
	return c, nil
}

// notes are keys of a flat file that are no provider.
var notes = map[string]bool{"version": true, "$schema": true, "order": true, "lastGood": true, "usageStats": true}
