package legacy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"standin/fallback/provider"
)

// fields are an entry's, by name; the values stay as they were written, so that
// a number keeps its digits.
type fields map[string]json.RawMessage

func (f fields) text(key string) string {
	s, _ := text(f[key])
	return s
}

// add reads one entry. owner is the provider that the file's key names, "" where
// the key is the profile's id.
func (c *Contents) add(m member, id, owner string) {
	shown := provider.Redact(m.key)
	refuse := func(why, mend string) { c.Refused = append(c.Refused, Refusal{shown, why, mend}) }
	if m.twice {
		refuse("stands twice in the file, and only one can be meant", "remove one of them")
		return
	}
	f, ok := readFields(m.value)
	if !ok {
		refuse("is no object with the fields of a credential", "store it with: standin auth add "+word(id))
		return
	}
	vendor := strings.ToLower(strings.TrimSpace(f.text("provider")))
	if vendor == "" {
		vendor = strings.ToLower(strings.TrimSpace(owner))
	}
	if vendor == "" {
		vendor, _, _ = strings.Cut(strings.ToLower(id), ":")
	}
	if !idForm.MatchString(id) || strings.TrimSpace(vendor) == "" {
		refuse("has no name of the form provider:name", "give it one in the file, such as openai:default")
		return
	}
	kind := f.kind()
	login := "log in again with: standin auth login " + vendor
	switch kind {
	case "api_key", "token", "oauth":
	case "aws-sdk":
		refuse("is a login of AWS, which standin does not use", "")
		return
	case "":
		refuse("holds neither a key nor a token nor a login", "store it with: standin auth add "+vendor)
		return
	default:
		refuse("is of a type that standin does not know", "the types are api_key, token and oauth")
		return
	}
	if _, has := f["oauthRef"]; has && f.text("access") == "" {
		refuse("keeps its login in another file of OpenClaw's, credentials/auth-profiles, which is sealed", login)
		return
	}
	if ref, has := f.ref(kind); has {
		ref.ID, ref.Provider, ref.Type = id, vendor, kind
		c.Refs = append(c.Refs, ref)
		return
	}
	if why := f.settle(kind); why != "" {
		mend := "store it with: standin auth add " + vendor
		if kind == "oauth" {
			mend = login
		}
		refuse(why, mend)
		return
	}
	for _, name := range []string{"type", "mode", "provider"} {
		delete(f, name) // columns of their own
	}
	secret, err := json.Marshal(f)
	if err != nil { // raw values that were read cannot fail to be written
		refuse("cannot be written down again", "")
		return
	}
	c.Credentials = append(c.Credentials, Credential{ID: id, Provider: vendor, Type: kind, Secret: provider.NewKey(string(secret))})
}

// idForm is provider:name: no spaces or slashes, nothing that a terminal would
// obey. A name may hold what an address does.
var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*:[^\s:/\pC][^\s/\pC]*$`)

// word is an id as it may stand in a command that is shown.
func word(id string) string {
	vendor, _, _ := strings.Cut(id, ":")
	if idForm.MatchString(vendor + ":x") {
		return vendor
	}
	return "openai"
}

func readFields(v json.RawMessage) (fields, bool) {
	if kindOf(v) != '{' {
		return nil, false
	}
	o, err := readObject(v)
	if err != nil {
		return nil, false
	}
	f := fields{}
	for _, m := range o {
		if m.twice {
			return nil, false
		}
		f[m.key] = m.value
	}
	return f, true
}

// kind gives the entry's type: the one that is written, in type or the older
// mode, else the one that its fields show.
func (f fields) kind() string {
	written := f.text("type")
	if written == "" {
		written = f.text("mode")
	}
	switch written {
	case "apiKey", "api-key":
		return "api_key"
	case "":
	default:
		return written
	}
	has := func(names ...string) bool {
		for _, name := range names {
			if t := kindOf(f[name]); t == '"' || t == '{' {
				return true
			}
		}
		return false
	}
	switch {
	case has("access", "refresh", "oauthRef"):
		return "oauth"
	case has("key", "apiKey", "api_key", "keyRef"):
		return "api_key"
	case has("token", "tokenRef"):
		return "token"
	}
	return ""
}

// names are where a type's secret stands, today's name first, and its reference.
var names = map[string][]string{
	"api_key": {"key", "apiKey", "api_key", "keyRef"},
	"token":   {"token", "access", "tokenRef"},
}

// variable is a key that only names the variable which holds it.
var variable = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// ref finds where the secret is, when the entry says so instead of holding it:
// {source, id} under its own name or the secret's, or ${NAME} as the secret.
func (f fields) ref(kind string) (r Ref, ok bool) {
	for _, name := range names[kind] {
		switch kindOf(f[name]) {
		case '{':
			var o struct{ Source, ID string }
			if json.Unmarshal(f[name], &o) == nil && o.Source != "" && o.ID != "" {
				return Ref{Source: o.Source, Name: o.ID}, true
			}
		case '"':
			if m := variable.FindStringSubmatch(strings.TrimSpace(f.text(name))); m != nil {
				return Ref{Source: "env", Name: m[1]}, true
			}
			return Ref{}, false
		}
	}
	return Ref{}, false
}

// settle gives the fields their names of today and says what is wrong with
// them, "" when nothing is.
func (f fields) settle(kind string) (why string) {
	if kind == "oauth" {
		return f.settleLogin()
	}
	list := names[kind]
	for _, name := range list[1 : len(list)-1] {
		if f.text(list[0]) == "" && f.text(name) != "" {
			f[list[0]] = f[name]
			delete(f, name)
		}
	}
	what := map[string]string{"api_key": "key", "token": "token"}[kind]
	secret := strings.TrimSpace(f.text(list[0]))
	switch {
	case secret == "":
		return "has no " + what
	case !sendable(secret):
		return fmt.Sprintf("has a %s with spaces, line breaks or letters that none has", what)
	}
	f[list[0]] = quote(secret) // line breaks around it came with a paste
	if v, has := f["expires"]; has && !number(v) {
		return "has an end (expires) that is no number of milliseconds"
	}
	return ""
}

func (f fields) settleLogin() string {
	access, refresh := strings.TrimSpace(f.text("access")), strings.TrimSpace(f.text("refresh"))
	switch {
	case access == "" && refresh == "":
		return "has neither an access nor a refresh token"
	case !sendable(access) || !sendable(refresh):
		return "has a token with spaces, line breaks or letters that none has"
	}
	for name, token := range map[string]string{"access": access, "refresh": refresh} {
		if token != "" {
			f[name] = quote(token)
		}
	}
	if v, has := f["expires"]; has && !number(v) {
		return "has an end (expires) that is no number of milliseconds"
	}
	return ""
}

// sendable tells whether a header can carry the text.
func sendable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < 0x21 || r > 0x7e })
}

func quote(s string) json.RawMessage {
	text, _ := json.Marshal(s) // strings always have a form in JSON
	return text
}

func number(v json.RawMessage) bool {
	var n float64
	return json.Unmarshal(v, &n) == nil && kindOf(v) != 'n'
}
