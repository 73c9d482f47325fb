package openclaw

import (
	"fmt"
	"regexp"
	"strings"

	"standin/cmd/standin/config"
	"standin/fallback/provider"
)

// takeSecrets takes plain secrets out of the config: a provider's key becomes a
// stored credential, a platform's token a file that the config refers to.
func (d *Draft) takeSecrets() {
	if providers := d.root.get("models", "providers"); providers != nil {
		for _, m := range providers.members {
			p := config.Path{"models", "providers", m.key}
			id := strings.ToLower(m.key)
			d.takeKey(m.value, p.Key("apiKey"), id, id+":default")
			d.headers(m.value.get("headers"), p.Key("headers"))
		}
	}
	if profiles := d.root.get("auth", "profiles"); profiles != nil {
		for _, m := range profiles.members {
			for _, key := range []string{"key", "apiKey", "token"} {
				id, _, _ := strings.Cut(strings.ToLower(m.key), ":")
				d.takeKey(m.value, config.Path{"auth", "profiles", m.key, key}, id, m.key)
			}
		}
	}
	for _, of := range []struct {
		name   string
		tokens []string
	}{{"slack", []string{"botToken", "appToken", "signingSecret"}}, {"discord", []string{"token"}}} {
		name, tokens := of.name, of.tokens
		platform := d.root.get("channels", name)
		d.takeTokens(platform, config.Path{"channels", name}, name, tokens)
		if accounts := platform.get("accounts"); accounts != nil {
			for _, m := range accounts.members {
				d.takeTokens(m.value, config.Path{"channels", name, "accounts", m.key}, name+"."+m.key, tokens)
			}
		}
	}
}

// envName is a text that OpenClaw takes for the name of a variable where it
// expects a key.
var envName = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*_(KEY|TOKEN)$`)

// takeKey takes the key of a provider out of o.
func (d *Draft) takeKey(o *value, p config.Path, vendor, profile string) {
	name := p[len(p)-1].(string)
	v := o.get(name)
	if v == nil || d.refers(o, name, p) {
		return
	}
	if v.form == text && envName.MatchString(v.text) {
		o.set(name, ref("env", v.text))
		return
	}
	if v.form != text || v.text == "" {
		return
	}
	o.take(name)
	d.Secrets = append(d.Secrets, Secret{Path: p.String(), Provider: vendor, Profile: profile, Key: provider.NewKey(strings.TrimSpace(v.text))})
}

// takeTokens takes the tokens of an account out of o.
func (d *Draft) takeTokens(o *value, p config.Path, account string, names []string) {
	for _, name := range names {
		v := o.get(name)
		if v == nil || d.refers(o, name, p.Key(name)) || v.form != text || v.text == "" {
			continue
		}
		file := "secrets/" + fileName.ReplaceAllString(account, "_") + "." + name
		o.set(name, ref("file", file))
		d.Secrets = append(d.Secrets, Secret{Path: p.Key(name).String(), File: file, Key: provider.NewKey(strings.TrimSpace(v.text))})
	}
}

var fileName = regexp.MustCompile(`[^A-Za-z0-9_.-]`)

// refers tells whether the value says where the secret is instead of being it,
// and gives such a reference our form: {source, id}.
func (d *Draft) refers(o *value, name string, p config.Path) bool {
	v := o.get(name)
	if v.form == text {
		return reference.MatchString(v.text)
	}
	source, id := v.get("source"), v.get("id")
	if v.form != object || source == nil || id == nil {
		return false
	}
	if source.text == "env" {
		o.set(name, ref("env", id.text))
		return true
	}
	// OpenClaw's files hold many secrets, and its programs print them.
	o.take(name)
	d.Notes = append(d.Notes, Note{Path: provider.Redact(p.String()), Must: false,
		Why:  fmt.Sprintf("has its secret from a source (%s) that standin does not read", source.text),
		Mend: "write a reference of ours: {source: env, id: NAME} or {source: file, id: path}"})
	return true
}

func ref(source, id string) *value {
	v := &value{form: object}
	v.set("source", textOf(source))
	v.set("id", textOf(id))
	return v
}

var secretHeader = regexp.MustCompile(`(?i)key|token|secret|auth|cookie|password`)

// headers takes out headers that hold a secret: a request cannot do without
// them, so the person is told where to put it.
func (d *Draft) headers(h *value, p config.Path) {
	if h == nil || h.form != object {
		return
	}
	for _, m := range append([]member(nil), h.members...) {
		if m.value.form != text || reference.MatchString(m.value.text) || !secretHeader.MatchString(m.key) && provider.Redact(m.value.text) == m.value.text {
			continue
		}
		h.take(m.key)
		d.note(p.Key(m.key), "holds a secret as plain text, and was left out", "put it into a variable and write ${NAME} there")
	}
}
