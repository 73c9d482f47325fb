package config

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
)

// readProfiles reads auth.profiles, and makes the profiles that need no store:
// those whose key the config refers to, those whose vendor's variable is set,
// and the keyless one of a local server.
func (c *compiler) readProfiles(profiles map[string]profileKeys) {
	at := Path{"auth", "profiles"}
	for _, name := range sortedKeys(profiles) {
		k, p, id := profiles[name], at.Key(name), fallback.ProfileID(name)
		owner, rest, ok := strings.Cut(name, ":")
		if !ok || strings.TrimSpace(owner) == "" || rest == "" {
			c.reportKey(p, "is no profile id", "write provider:name, such as openai:default")
			continue
		}
		if k.Provider != "" && fallback.NormalProvider(k.Provider) != id.Provider() {
			c.report(p.Key("provider"), fmt.Sprintf("differs from %s, which the profile id begins with", id.Provider()), "make them equal")
			continue
		}
		c.knownProvider(id.Provider(), p)
		c.metas[id] = fallback.ProfileMeta{Provider: id.Provider(), Mode: fallback.CredentialType(k.Mode)}
		if !k.KeyRef.given() {
			continue
		}
		kind := fallback.CredentialType(k.Mode)
		if kind == "" {
			kind = fallback.APIKey
		}
		if kind == fallback.OAuth {
			c.report(p.Key("keyRef"), "an OAuth login is more than one key", "remove keyRef; the login is stored")
			continue
		}
		if key, ok := c.resolve(k.KeyRef, p.Key("keyRef"), c.variableFor(id.Provider())); ok {
			c.profiles = append(c.profiles, fallback.Profile{ID: id, Provider: id.Provider(), Type: kind, Key: key, Account: k.Email, Origin: "config"})
		}
	}
	for _, id := range sortedKeys(c.endpoints) {
		c.defaultProfile(id)
	}
}

// defaultProfile makes <provider>:default, unless auth.profiles has made it.
func (c *compiler) defaultProfile(id string) {
	made := fallback.Profile{ID: fallback.ProfileID(id + ":default"), Provider: id, Type: fallback.APIKey}
	name, k := id, providerKeys{}
	for n, own := range c.doc.Models.Providers {
		if fallback.NormalProvider(n) == id {
			name, k = n, own
		}
	}
	p := Path{"models", "providers", name, "apiKey"}
	for _, other := range c.profiles {
		if other.ID == made.ID {
			if k.APIKey.given() {
				c.report(p, fmt.Sprintf("auth.profiles has a key for %s too", made.ID), "keep one of them")
			}
			return
		}
	}
	switch env := c.envKeys[id]; {
	case k.APIKey.given():
		key, ok := c.resolve(k.APIKey, p, c.variableFor(id))
		if !ok {
			return
		}
		made.Key, made.Origin = key, "config"
	case env != "" && c.Getenv(env) != "":
		made.Key, made.Origin = provider.NewKey(strings.TrimSpace(c.Getenv(env))), "$"+env
	case c.endpoints[id].NoKey:
		made.Keyless, made.Origin = true, "no key needed"
	default:
		return
	}
	c.profiles = append(c.profiles, made)
}

// variableFor is the variable that usually holds a provider's key.
func (c *compiler) variableFor(id string) string {
	if env := c.envKeys[id]; env != "" {
		return env
	}
	clean := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(id))
	if clean == "" || clean[0] >= '0' && clean[0] <= '9' {
		clean = "P_" + clean
	}
	return clean + "_API_KEY"
}

// maxSecret bounds a secret file in bytes.
const maxSecret = 64 << 10

// resolve reads a secret, once and eagerly: a reference that leads nowhere is a
// fault now and not in the middle of an outage [G6].
func (c *compiler) resolve(s secret, p Path, usual string) (provider.Key, bool) {
	text := s.Text
	switch s.Source {
	case "env":
		if text = c.Getenv(s.ID); text == "" {
			c.report(p.Key("id"), fmt.Sprintf("the variable %s is not set, or empty", c.shown(p.Key("id"), s.ID)), "set it in the environment of standin")
			return provider.Key{}, false
		}
	case "file":
		path := s.ID
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Base, path)
		}
		data, err := ReadBounded(path, maxSecret)
		switch {
		case err != nil:
			c.report(p.Key("id"), "the file cannot be read: "+ReasonOf(err), "its path is relative to the config file")
			return provider.Key{}, false
		case len(data) > maxSecret || bytes.IndexByte(data, 0) >= 0:
			c.report(p.Key("id"), "the file does not hold a single key", "")
			return provider.Key{}, false
		}
		text = string(data)
	default:
		n, written := c.root.At(p)
		if written && n.Kind == Text && !n.expanded && !loopbackURL(c.endpoints, p) {
			c.warn(p, "the secret stands in the file as plain text", fmt.Sprintf("put it into a variable and write ${%s}", usual))
		}
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "" && s.Source == "":
		return provider.Key{}, false // a variable that is not set: reported where it stands
	case text == "":
		c.report(p, "the secret is empty", "")
	case strings.ContainsAny(text, "\r\n\t ") || !Printable(text):
		c.report(p, "the secret holds spaces, line breaks or other characters that no key has", "")
	default:
		return provider.NewKey(text), true
	}
	return provider.Key{}, false
}

// Printable tells whether s holds only what a key may consist of: visible ASCII.
func Printable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// loopbackURL tells whether the secret at p goes to this machine only, where
// servers take any word as a key.
func loopbackURL(endpoints map[string]provider.Endpoint, p Path) bool {
	if len(p) != 4 || p[0] != "models" {
		return false
	}
	e := endpoints[fallback.NormalProvider(p[2].(string))]
	return strings.HasPrefix(e.BaseURL, "http://") // checkURL lets that pass on this machine only
}

// readKnobs reads the settings that are environment variables [D15].
func (c *compiler) readKnobs() (skip, retryMax time.Duration) {
	skip, told := skipTTL(knob(c.Getenv, "FALLBACK_SKIP_TTL_MS"))
	if told != "" {
		c.faults = append(c.faults, Fault{File: "environment", Path: "STANDIN_FALLBACK_SKIP_TTL_MS", Msg: told, Warning: true})
	}
	retryMax, told = retryMaxWait(knob(c.Getenv, "SDK_RETRY_MAX_WAIT_SECONDS"))
	if told != "" {
		c.faults = append(c.faults, Fault{File: "environment", Path: "STANDIN_SDK_RETRY_MAX_WAIT_SECONDS", Msg: told, Warning: true})
	}
	return skip, retryMax
}

// knob reads STANDIN_<name>, and OPENCLAW_<name> when that is unset.
func knob(getenv func(string) string, name string) string {
	if v := getenv("STANDIN_" + name); v != "" {
		return v
	}
	return getenv("OPENCLAW_" + name)
}

// skipTTL reads the skip cache's time as the cache does. told says when that is
// not what was written.
func skipTTL(s string) (ttl time.Duration, told string) {
	s, ttl = strings.TrimSpace(s), fallback.ParseSkipTTL(s)
	ms, err := strconv.ParseInt(s, 10, 64)
	switch {
	case s == "" || s == "0":
		return 0, ""
	case ttl == 0:
		return 0, "is no number of milliseconds above 0: the skip cache is off"
	case err != nil || ms != ttl.Milliseconds():
		told = fmt.Sprintf("is used as %s (milliseconds, between 1 s and 10 min)", ttl)
	}
	return ttl, told
}

// retryMaxWait reads the cap of waits for a vendor's hint, in seconds; 0: no cap
// (failover.md 21.B.5).
func retryMaxWait(s string) (limit time.Duration, told string) {
	const usual = 60 * time.Second
	switch s = strings.ToLower(strings.TrimSpace(s)); s {
	case "":
		return usual, ""
	case "0", "false", "off", "none", "disabled":
		return 0, ""
	}
	if strings.Trim(s, "0123456789.") != "" {
		return usual, "is not a number of seconds: 60 is used"
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n <= 0 {
		return usual, "is not a number of seconds: 60 is used"
	}
	return time.Duration(min(n, 1e9) * float64(time.Second)), ""
}
