package config

import (
	"strings"
	"testing"

	"standin/fallback/auth"
)

// auth.oauth: OpenAI's logins are built in and can be changed key by key, those
// of others are described, and a fault says where it is and what mends it.
func TestLogins(t *testing.T) {
	const others = `clientId: me, tokenUrl: "https://login.test/token"`
	for name, c := range map[string]struct {
		oauth string
		fault string // "": none
		look  func(*Compiled) bool
	}{
		"nothing is needed for OpenAI": {look: func(c *Compiled) bool {
			return c.Logins["openai"].TokenURL == auth.OpenAI().TokenURL && c.Logins["openai"].OwnDevice != nil && c.Fallback.Providers["openai"].LoginURL == ""
		}},
		"one key changes one thing": {oauth: `{openai: {tokenUrl: "http://127.0.0.1:9/token"}}`, look: func(c *Compiled) bool {
			v := c.Logins["openai"]
			return v.TokenURL == "http://127.0.0.1:9/token" && v.ClientID == auth.OpenAI().ClientID && v.RedirectPort == 1455
		}},
		"the subscription's models elsewhere": {oauth: `{openai: {baseUrl: "http://127.0.0.1:9/codex"}}`, look: func(c *Compiled) bool {
			e := c.Fallback.Providers["openai"]
			return e.LoginURL == "http://127.0.0.1:9/codex" && !strings.Contains(e.BaseURL, "codex")
		}},
		"the alias is OpenAI's": {oauth: `{openai-codex: {clientId: mine}}`, look: func(c *Compiled) bool { return c.Logins["openai"].ClientID == "mine" }},
		"another vendor": {oauth: `{xai: {` + others + `, authorizeUrl: "https://login.test/authorize", scopes: [a, b], redirectPort: 8085}}`, look: func(c *Compiled) bool {
			v := c.Logins["xai"]
			return v.Provider == "xai" && v.Validate() == nil && len(v.Scopes) == 2 && v.RedirectPort == 8085
		}},
		"a secret by reference": {oauth: `{xai: {` + others + `, deviceUrl: "https://login.test/device", clientSecret: {source: env, id: CLIENT_SECRET}}}`,
			look: func(c *Compiled) bool { return c.Logins["xai"].ClientSecret.Reveal() == "hush" }},
		"plain http":             {oauth: `{openai: {tokenUrl: "http://login.test/token"}}`, fault: "config.yaml:2:35: auth.oauth.openai.tokenUrl: is no address that a secret may be sent to"},
		"half a vendor":          {oauth: `{xai: {clientId: me}}`, fault: "auth.oauth.xai: describes no login: tokenUrl is missing"},
		"twice under two names":  {oauth: `{openai: {clientId: a}, openai-codex: {clientId: b}}`, fault: "the logins of openai stand twice"},
		"an unknown provider":    {oauth: `{opneai: {clientId: a}}`, fault: "no provider of that name is known"},
		"an unknown key":         {oauth: `{openai: {tokenURI: "https://login.test"}}`, fault: "tokenURI"},
		"a path without a slash": {oauth: `{openai: {redirectPath: back}}`, fault: "redirectPath"},
		"a secret that is unset": {oauth: `{openai: {clientSecret: {source: env, id: NOT_SET}}}`, fault: "auth.oauth.openai.clientSecret.id: the variable"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "agents: {defaults: {model: openai/gpt-5.5}}\n"
			if c.oauth != "" {
				text += "auth: {oauth: " + c.oauth + "}\n"
			}
			compiled, faults := Parse("config.yaml", []byte(text), env("CLIENT_SECRET", "hush"), t.TempDir())
			var said []string
			for _, f := range faults {
				if !f.Warning {
					said = append(said, f.String())
				}
			}
			switch all := strings.Join(said, "\n"); {
			case c.fault != "" && !strings.Contains(all, c.fault):
				t.Errorf("faults %q, want %q", all, c.fault)
			case c.fault == "" && (compiled == nil || !c.look(compiled)):
				t.Errorf("faults %q, logins %+v", all, compiled)
			}
		})
	}
}
