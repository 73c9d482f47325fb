package config

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"standin/fallback"
	"standin/fallback/provider"
)

// readProviders reads models.providers over the table of known vendors.
func (c *compiler) readProviders() {
	for _, id := range provider.KnownIDs() {
		e, envKey, _ := provider.Known(id)
		c.endpoints[id], c.envKeys[id] = e, envKey
	}
	seen := map[string]bool{}
	at := Path{"models", "providers"}
	for _, name := range sortedKeys(c.doc.Models.Providers) {
		k, id, p := c.doc.Models.Providers[name], fallback.NormalProvider(name), at.Key(name)
		if id == "" || strings.ContainsAny(id, "/:@ ") {
			c.reportKey(p, "is no provider id", "use one word without / : @")
			continue
		}
		if seen[id] {
			c.reportKey(p, fmt.Sprintf("the provider %s stands twice", id), "provider ids are compared in lower case")
			continue
		}
		seen[id] = true
		c.endpoints[id] = c.endpoint(id, k, p)
		for _, m := range k.Models {
			c.lists[id] = append(c.lists[id], strings.TrimPrefix(m.ID, id+"/"))
		}
		c.readFacts(id, k.Models, p.Key("models"))
	}
}

// endpoint lays the keys of one provider over what is known of it.
func (c *compiler) endpoint(id string, k providerKeys, p Path) provider.Endpoint {
	e, known := c.endpoints[id]
	e.Provider = id
	if k.API != "" {
		e.API = provider.API(k.API)
	} else if !known {
		e.API = provider.OpenAICompletions
	}
	if len(k.Headers) > 0 {
		e.Headers = k.Headers
	}
	if k.BaseURL == "" {
		if !known {
			mend := "give its baseUrl"
			if n := nearest(id, sortedKeys(c.endpoints)); n != "" {
				mend += fmt.Sprintf(", or did you mean %q?", n)
			}
			c.reportKey(p, "is no provider that standin knows, and has no baseUrl", mend)
		}
		return e
	}
	e.BaseURL = strings.TrimRight(strings.TrimSpace(k.BaseURL), "/")
	local := c.checkURL(e, p.Key("baseUrl"))
	if !known {
		// A server on this machine is asked without a key when none is given.
		e.NoKey = local && !k.APIKey.given()
	}
	return e
}

// checkURL checks a base URL and tells whether it is on this machine. The URL
// itself is never shown: people put keys into it.
func (c *compiler) checkURL(e provider.Endpoint, p Path) (local bool) {
	u, err := url.Parse(e.BaseURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		c.report(p, "is not a web address", `begin with https:// (or http:// on this machine)`)
		return false
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		c.report(p, "holds more than host and path", "put a key into apiKey or headers")
		return false
	}
	local = loopback(u.Hostname())
	switch {
	case u.Scheme == "http" && !local: // D24
		c.report(p, "plain http would send the key in the clear", "use https, or a server on this machine")
	case e.API == provider.AnthropicMessages && strings.HasSuffix(u.Path, "/v1"):
		c.warn(p, "ends in /v1, which is added for this protocol", "remove /v1")
	case e.API != provider.AnthropicMessages && u.Path == "":
		c.warn(p, "has no path", "OpenAI's protocols are usually found under /v1")
	}
	return local
}

func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// readAllowed reads agents.defaults.models: who may be chosen, and aliases.
func (c *compiler) readAllowed() {
	owner := map[string]string{}
	at := Path{"agents", "defaults", "models"}
	for _, ref := range sortedKeys(c.doc.Agents.Defaults.Models) {
		p, use := at.Key(ref), c.doc.Agents.Defaults.Models[ref]
		m, _ := fallback.ParseRef(ref)
		if m.Provider == "" || m.Name == "" {
			c.reportKey(p, "names no model", "write provider/model or provider/*")
			continue
		}
		if m.Name == "*" {
			c.knownProvider(m.Provider, p)
			if use.Alias != "" {
				c.report(p.Key("alias"), "names a whole provider", "an alias stands for one model")
			}
		} else {
			c.knownModel(m, p, true)
		}
		if !slices.Contains(c.allowed, m) {
			c.allowed = append(c.allowed, m)
		}
		alias := strings.ToLower(use.Alias)
		switch {
		case alias == "" || m.Name == "*":
		case owner[alias] != "":
			c.report(p.Key("alias"), fmt.Sprintf("%s is the alias of %s too", c.shown(p.Key("alias"), use.Alias), owner[alias]), "")
		case alias == "default" || alias == "list" || alias == "status" || strings.Trim(alias, "0123456789") == "":
			c.report(p.Key("alias"), fmt.Sprintf("%s means something else after /model", c.shown(p.Key("alias"), use.Alias)), "choose another word")
		default:
			owner[alias], c.aliases[alias] = ref, m
		}
	}
}

// choice reads a model setting. inherited is the primary that stands in when
// the setting is an agent's and names none; zero for the default setting.
func (c *compiler) choice(k modelChoice, p Path, inherited fallback.Model) fallback.ModelChoice {
	out := fallback.ModelChoice{Listed: k.Listed}
	at := p
	if !k.Text {
		at = p.Key("primary")
	}
	isDefault := inherited.IsZero()
	switch {
	case strings.TrimSpace(k.Primary) != "":
		if m, ok := c.model(k.Primary, at, ""); ok {
			out.Primary = m
			c.checkPermitted(m, at)
		}
	case k.Text || c.written(at):
		c.report(at, "is empty", "write provider/model")
	case isDefault: // 2.10
		out.Primary = fallback.Model{Provider: "openai", Name: "gpt-5.5"}
		c.checkPermitted(out.Primary, at)
		if !c.AnyModel && len(c.faults) == 0 {
			c.warn(at, fmt.Sprintf("is not set: %s is used", out.Primary), "name the model that should answer")
		}
	}
	primary := out.Primary
	if primary.IsZero() {
		primary = inherited
	}
	chain := []fallback.Model{primary}
	for i, text := range k.Fallbacks {
		at := c.item(p.Key("fallbacks"), i)
		if strings.TrimSpace(text) == "" { // 2.9
			c.warn(at, "is empty and is passed over", "")
			continue
		}
		m, ok := c.model(text, at, primary.Provider)
		switch {
		case !ok:
		case slices.Contains(chain, m): // 2.4
			c.warn(at, fmt.Sprintf("%s is in this chain already and is passed over", c.shown(at, text)), "")
		default:
			chain = append(chain, m)
			out.Fallbacks = append(out.Fallbacks, m)
		}
	}
	return out
}

func (c *compiler) written(p Path) bool {
	_, ok := c.root.At(p)
	return ok
}

// checkPermitted reports a primary that nobody may choose: that list was meant
// otherwise [IL-031]. Fallbacks need not be listed (2.6).
func (c *compiler) checkPermitted(m fallback.Model, p Path) {
	if len(c.allowed) == 0 {
		return
	}
	for _, a := range c.allowed {
		if a == m || a.Name == "*" && a.Provider == m.Provider {
			return
		}
	}
	c.report(p, fmt.Sprintf("%s is not among agents.defaults.models, the models that may be used", m),
		fmt.Sprintf("add %q there, or %q", m.String(), m.Provider+"/*"))
}

// model finds the model that text names: an alias, provider/model, or a bare id
// of the provider home (2.7, 2.8).
func (c *compiler) model(text string, p Path, home string) (fallback.Model, bool) {
	m, pin := fallback.ParseRef(text)
	if pin != "" {
		c.warn(p, "the profile after @ is not used here", "auth.order says which profile is used")
	}
	if target, ok := c.aliases[strings.ToLower(m.Name)]; ok && m.Provider == "" {
		return target, true
	}
	switch {
	case m.Name == "" || m.Name == "*":
		c.report(p, fmt.Sprintf("%s names no model", c.shown(p, text)), "write provider/model")
		return m, false
	case m.Provider != "":
		return m, c.knownModel(m, p, false)
	case c.AnyModel || home != "" && slices.Contains(c.modelsOf(home), m.Name):
		if m.Provider = home; home == "" {
			m.Provider = "openai" // 2.10
		}
		return m, true
	}
	c.report(p, fmt.Sprintf("%s is neither an alias nor provider/model", c.shown(p, text)), c.bareMend(m.Name, home))
	return m, false
}

// bareMend guesses what a name without a provider was meant to be.
func (c *compiler) bareMend(name, home string) string {
	if n := nearest(name, sortedKeys(c.aliases)); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	var whole []string
	for _, id := range sortedKeys(c.endpoints) {
		if slices.Contains(c.modelsOf(id), name) {
			whole = append(whole, id+"/"+name)
		}
	}
	for _, id := range []string{"openai", "anthropic", "google", "gemini"} { // makers before resellers
		if i := slices.Index(whole, id+"/"+name); i >= 0 {
			whole = whole[i : i+1]
		}
	}
	if len(whole) == 0 && home != "" {
		if n := nearest(name, c.modelsOf(home)); n != "" {
			whole = []string{home + "/" + n}
		}
	}
	if len(whole) == 1 {
		return fmt.Sprintf("did you mean %q?", whole[0])
	}
	return "write provider/model"
}

// modelsOf gives the models of a provider: the config's list, else the
// catalogue's.
func (c *compiler) modelsOf(id string) []string {
	if list := c.lists[id]; len(list) > 0 {
		return list
	}
	return provider.CatalogModels(id)
}

// knownModel checks that a model exists as far as that can be known. Vendors
// bring out models faster than catalogues follow, so one that only the
// catalogue lacks is a warning.
func (c *compiler) knownModel(m fallback.Model, p Path, key bool) bool {
	if c.AnyModel {
		if _, ok := c.endpoints[m.Provider]; !ok {
			c.endpoints[m.Provider] = provider.Endpoint{Provider: m.Provider, API: provider.OpenAICompletions}
		}
		return true
	}
	report := c.report
	if key {
		report = c.reportKey
	}
	if _, ok := c.endpoints[m.Provider]; !ok {
		mend := "describe it in models.providers"
		if n := nearest(m.Provider, sortedKeys(c.endpoints)); n != "" {
			mend = fmt.Sprintf("did you mean %q? Or %s", n+"/"+m.Name, mend)
		}
		report(p, fmt.Sprintf("%s: no provider of that name is known", c.refShown(p, m, key)), mend)
		return false
	}
	var among []string
	if c.Catalogue || len(c.lists[m.Provider]) > 0 {
		among = c.modelsOf(m.Provider)
	}
	if len(among) == 0 || slices.Contains(among, m.Name) {
		return true
	}
	near := nearest(m.Name, among)
	if len(c.lists[m.Provider]) > 0 {
		mend := DidYouMean(m.Name, among)
		if near != "" {
			mend = fmt.Sprintf("did you mean %q?", m.Provider+"/"+near)
		}
		report(p, fmt.Sprintf("%s is not in models.providers.%s.models", c.refShown(p, m, key), m.Provider), mend)
		return false
	}
	if own := c.doc.Models.Providers[m.Provider]; own.BaseURL != "" {
		return true // another server under a known name: its models are its own
	}
	mend := "a newer model may be right"
	if near != "" {
		mend = fmt.Sprintf("did you mean %q? A newer model may be right as it is", m.Provider+"/"+near)
	}
	report(p, fmt.Sprintf("%s is not in the catalogue", c.refShown(p, m, key)), mend)
	c.faults[len(c.faults)-1].Warning = true
	return true
}

// refShown gives a model as it may be shown: a key of the file as it is, a
// value as written.
func (c *compiler) refShown(p Path, m fallback.Model, key bool) string {
	if key {
		return fmt.Sprintf("%q", mask(m.String()))
	}
	return c.shown(p, m.String())
}

// knownProvider checks the provider that is the last key of p.
func (c *compiler) knownProvider(id string, p Path) {
	if _, ok := c.endpoints[id]; !ok && !c.AnyModel {
		c.reportKey(p, "no provider of that name is known", DidYouMean(id, sortedKeys(c.endpoints)))
	}
}
