package config

import (
	"fmt"
	"maps"
	"strings"

	"standin/fallback"
	"standin/fallback/auth"
	"standin/fallback/provider"
)

// oauthKeys describe a provider's logins; for OpenAI each changes what is
// built in.
type oauthKeys struct {
	AuthorizeURL string            `json:"authorizeUrl,omitempty" jsonschema_description:"The page where a person agrees. Default: no login with a browser."`
	TokenURL     string            `json:"tokenUrl,omitempty" jsonschema_description:"Where codes and refresh tokens are exchanged."`
	DeviceURL    string            `json:"deviceUrl,omitempty" jsonschema_description:"Where a device code is asked for (RFC 8628). Default: no login on another device."`
	ClientID     string            `json:"clientId,omitempty" jsonschema_description:"The id under which the vendor knows this client."`
	ClientSecret secret            `json:"clientSecret,omitempty" jsonschema_description:"For vendors that give one out. Default: none; PKCE protects the login."`
	Scopes       []string          `json:"scopes,omitempty" jsonschema_description:"What the login is for. Vendors often give a refresh token only with offline_access."`
	Params       map[string]string `json:"params,omitempty" jsonschema_description:"Added to the address that the person opens."`
	RedirectHost string            `json:"redirectHost,omitempty" jsonschema:"enum=127.0.0.1,enum=localhost" jsonschema_description:"How this machine is called in the redirect, as registered with the vendor. Default: 127.0.0.1."`
	RedirectPort int               `json:"redirectPort,omitempty" jsonschema:"minimum=0,maximum=65535,default=0" jsonschema_description:"The port of the redirect, as registered with the vendor; 0: any free one."`
	RedirectPath string            `json:"redirectPath,omitempty" jsonschema:"pattern=^/" jsonschema_description:"The path of the redirect, as registered with the vendor. Default: /callback."`
	Headers      map[string]string `json:"headers,omitempty" jsonschema_description:"Sent along with each request for tokens."`
	BaseURL      string            `json:"baseUrl,omitempty" jsonschema_description:"Where the models are reached with a login. Default: where the vendor serves subscriptions, else models.providers.<id>.baseUrl."`
}

// readLogins reads auth.oauth over the vendors that are built in, and tells the
// endpoints where logins go.
func (c *compiler) readLogins() map[string]auth.Vendor {
	logins := auth.Builtin()
	at := Path{"auth", "oauth"}
	seen := map[string]bool{}
	for _, name := range sortedKeys(c.doc.Auth.OAuth) {
		k, p, id := c.doc.Auth.OAuth[name], at.Key(name), fallback.CredentialProviders(name)[0]
		c.knownProvider(id, p)
		if seen[id] {
			c.reportKey(p, fmt.Sprintf("the logins of %s stand twice", id), "keep one of them")
			continue
		}
		seen[id] = true
		own := auth.Vendor{
			Provider: id, AuthorizeURL: k.AuthorizeURL, TokenURL: k.TokenURL, DeviceURL: k.DeviceURL, ClientID: k.ClientID, Scopes: k.Scopes, Params: k.Params,
			RedirectHost: k.RedirectHost, RedirectPort: k.RedirectPort, RedirectPath: k.RedirectPath, Headers: maps.Clone(k.Headers),
		}
		if k.ClientSecret.given() {
			own.ClientSecret, _ = c.resolve(k.ClientSecret, p.Key("clientSecret"), strings.TrimSuffix(c.variableFor(id), "_API_KEY")+"_CLIENT_SECRET")
		}
		sound := true
		for _, u := range []struct{ key, url string }{{"authorizeUrl", k.AuthorizeURL}, {"tokenUrl", k.TokenURL}, {"deviceUrl", k.DeviceURL}, {"baseUrl", k.BaseURL}} {
			if u.url == "" {
				continue
			}
			if err := provider.CheckBaseURL(u.url); err != nil {
				c.report(p.Key(u.key), "is no address that a secret may be sent to", "begin with https:// (or http:// on this machine)")
				sound = false
			}
		}
		vendor := logins[id].Over(own)
		if _, builtin := logins[id]; sound && !builtin {
			if err := vendor.Validate(); err != nil {
				c.report(p, "describes no login: "+strings.ReplaceAll(err.Error(), "\n", "; "), "write clientId, tokenUrl, and authorizeUrl or deviceUrl")
			}
		}
		logins[id] = vendor
		if e, ok := c.endpoints[id]; ok && k.BaseURL != "" {
			e.LoginURL = k.BaseURL
			c.endpoints[id] = e
		}
	}
	return logins
}
