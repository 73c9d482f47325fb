package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"standin/bot"
	"standin/fallback"
	"standin/fallback/provider"
)

// compiler turns a document that has the right form into what the rooms want,
// and checks what no schema can: that names name something.
type compiler struct {
	Reader
	file   string
	lines  []string
	root   *Node
	doc    *document
	faults []Fault

	endpoints map[string]provider.Endpoint
	lists     map[string][]string // models.providers.<id>.models
	facts     map[fallback.Model]provider.Facts
	blind     map[fallback.Model]bool
	envKeys   map[string]string // provider → its vendor's variable
	aliases   map[string]fallback.Model
	allowed   []fallback.Model
	profiles  []fallback.Profile
	metas     map[fallback.ProfileID]fallback.ProfileMeta
}

func newCompiler(r Reader, file string, lines []string, root *Node, doc *document) *compiler {
	return &compiler{
		Reader: r, file: file, lines: lines, root: root, doc: doc,
		endpoints: map[string]provider.Endpoint{},
		lists:     map[string][]string{},
		facts:     map[fallback.Model]provider.Facts{},
		blind:     map[fallback.Model]bool{},
		envKeys:   map[string]string{},
		aliases:   map[string]fallback.Model{},
		metas:     map[fallback.ProfileID]fallback.ProfileMeta{},
	}
}

// report adds a fault at the value of p; where p is not written, at the nearest
// part that is.
func (c *compiler) report(p Path, msg, mend string) {
	n, _ := c.root.At(p)
	c.add(Fault{Line: n.Line, Col: n.Col, Path: p.String(), Msg: msg, Mend: mend})
}

// reportKey adds a fault at the last key of p instead of its value.
func (c *compiler) reportKey(p Path, msg, mend string) {
	parent, _ := c.root.At(p[:len(p)-1])
	f := Fault{Line: parent.Line, Col: parent.Col, Path: p.String(), Msg: msg, Mend: mend}
	if e := parent.Entry(fmt.Sprint(p[len(p)-1])); e != nil {
		f.Line, f.Col = e.Line, e.Col
	}
	c.add(f)
}

func (c *compiler) warn(p Path, msg, mend string) {
	c.report(p, msg, mend)
	c.faults[len(c.faults)-1].Warning = true
}

func (c *compiler) add(f Fault) {
	f.File = c.file
	c.faults = append(c.faults, f.In(c.lines))
}

// shown gives the value at p as a message may show it.
func (c *compiler) shown(p Path, text string) string {
	if n, written := c.root.At(p); written && n.Kind == Text {
		return Shown(n)
	}
	return fmt.Sprintf("%q", mask(text))
}

// compile gives the compiled config; it is of no use when a fault was found.
func (c *compiler) compile() *Compiled {
	c.readProviders()
	c.readAllowed()
	f := &fallback.Config{
		Agents:       map[fallback.AgentID]fallback.ModelChoice{},
		Profiles:     c.metas,
		Order:        map[string][]fallback.ProfileID{},
		Providers:    c.endpoints,
		Aliases:      c.aliases,
		Allowed:      c.allowed,
		Facts:        c.facts,
		Blind:        c.blind,
		DefaultAgent: "main",
	}
	b := bot.Defaults()
	b.Fallback, b.Agents = f, map[fallback.AgentID]bot.AgentConfig{}
	out := &Compiled{Fallback: f, Bot: &b}

	d := c.doc.Agents.Defaults
	f.Default = c.choice(d.Model, Path{"agents", "defaults", "model"}, fallback.Model{})
	f.Attempt = provider.Limits{
		Connect:    time.Duration(d.Attempt.Connect),
		FirstToken: time.Duration(d.Attempt.FirstToken),
		Idle:       time.Duration(d.Attempt.Idle),
	}
	f.RunTimeout = time.Duration(d.TimeoutSeconds) * time.Second
	f.MaxToolRounds = d.MaxToolRounds
	c.warnTimes(f)
	b.MaxConcurrent, b.HistoryTurns = d.MaxConcurrent, d.HistoryLimit
	b.Notices = bot.Notices(c.doc.Messages.FallbackNotices)
	b.Reminder = time.Duration(c.doc.Messages.FallbackReminder)
	b.ResetKeepsModel = c.doc.Session.ResetKeepsModel
	b.ResetTriggers = c.doc.Session.ResetTriggers
	b.ReplayMaxAge = time.Duration(c.doc.Inbox.ReplayMaxAge)
	c.readAgents(f, &b)
	b.DefaultAgent = f.DefaultAgent
	c.readTools(out)
	c.readMedia(f, &b)
	c.readVoice(out)
	c.readCompaction(&b)
	c.readCommitments(&b)
	out.Servers = c.readServers()

	c.readAuth(f)
	out.Logins = c.readLogins()
	out.Encryption = c.readEncryption()
	out.Profiles, f.Named = c.profiles, c.profiles
	f.SkipTTL, out.RetryMaxWait = c.readKnobs()
	b.Rules, out.Accounts = c.readRules()
	out.Maintenance = c.readMaintenance(c.doc.Session.Maintenance)
	out.DefaultAccounts = c.readDefaultAccounts(out.Accounts)
	c.readHeartbeats(out)
	c.readBudgets(out)
	out.Cron = c.readCron()
	c.readOperators(out)
	out.Gateway = c.doc.Gateway.settings(out.Accounts)
	out.Operator = c.readOperator(out.Accounts)
	out.Plans = plansOf(f, &b, c.doc)
	c.warnSinglePoint(out)
	c.warnUncounted(out)
	return out
}

// warnTimes warns of a turn that is over before a silent model's limit ends: no
// time is left for the models behind it [D23, IL-168].
func (c *compiler) warnTimes(f *fallback.Config) {
	if f.RunTimeout <= 0 || f.Attempt.FirstToken < f.RunTimeout {
		return
	}
	c.warn(Path{"agents", "defaults", "timeoutSeconds"},
		fmt.Sprintf("a turn of %s is over before a silent model's time is (attempt.firstTokenTimeout is %s), so no other model is asked in its place", f.RunTimeout, f.Attempt.FirstToken),
		"give turns more time, or attempts less: an attempt leaves 60 s to each model after it, but takes at least 30 s")
}

// readAgents reads agents.list; without it there is one agent, main.
func (c *compiler) readAgents(f *fallback.Config, b *bot.Config) {
	system := c.doc.Agents.Defaults.SystemPrompt
	if len(c.doc.Agents.List) == 0 {
		b.Agents["main"] = bot.AgentConfig{Name: "main", System: system}
		return
	}
	marked := -1
	for i, a := range c.doc.Agents.List {
		id, p := fallback.AgentID(a.ID), c.item(Path{"agents", "list"}, i)
		if _, twice := b.Agents[id]; twice {
			c.report(p.Key("id"), fmt.Sprintf("an agent %q stands before it", id), "give each agent an id of its own")
			continue
		}
		agent := bot.AgentConfig{Name: a.Name, System: system}
		if agent.Name == "" {
			agent.Name = a.ID
		}
		if a.SystemPrompt != nil {
			agent.System = *a.SystemPrompt
		}
		b.Agents[id] = agent
		// An object with neither key is as none (failover.md 3.1).
		if a.Model.Primary != "" || a.Model.Listed || a.Model.Text {
			f.Agents[id] = c.choice(a.Model, p.Key("model"), f.Default.Primary)
		}
		if i == 0 {
			f.DefaultAgent = id
		}
		if a.Default {
			if marked >= 0 {
				c.report(p.Key("default"), fmt.Sprintf("%q is marked default too", c.doc.Agents.List[marked].ID), "mark one agent")
				continue
			}
			marked, f.DefaultAgent = i, id
		}
	}
}

// item leads to the i-th item that is left in the list at p, by its number in
// the file: faulty items were taken out.
func (c *compiler) item(p Path, i int) Path {
	if n, written := c.root.At(p); written && i < len(n.Items) {
		i = n.Items[i].Index
	}
	return p.Item(i)
}

// readAuth reads auth: profiles, order, cooldowns.
func (c *compiler) readAuth(f *fallback.Config) {
	a := c.doc.Auth
	c.readProfiles(a.Profiles)
	at := Path{"auth", "order"}
	for _, name := range sortedKeys(a.Order) {
		id, p := fallback.NormalProvider(name), at.Key(name)
		c.knownProvider(id, p)
		if _, twice := f.Order[id]; twice {
			c.reportKey(p, fmt.Sprintf("the provider %s stands twice", id), "keep one order")
		}
		order := []fallback.ProfileID{} // explicit, also when empty (failover.md 8.2)
		for i, text := range a.Order[name] {
			if pid, ok := c.ordered(text, id, c.item(p, i)); ok && !slices.Contains(order, pid) {
				order = append(order, pid)
			}
		}
		f.Order[id] = order
	}
	f.Cooldowns = c.cooldowns(a.Cooldowns)
}

// ordered checks one profile id of auth.order.
func (c *compiler) ordered(text, providerID string, p Path) (fallback.ProfileID, bool) {
	pid := fallback.ProfileID(strings.TrimSpace(text))
	var known []string
	for id, m := range c.metas {
		if m.Provider == providerID {
			known = append(known, string(id))
		}
	}
	for _, own := range c.profiles {
		if own.Provider == providerID && !slices.Contains(known, string(own.ID)) {
			known = append(known, string(own.ID))
		}
	}
	if c.Stored != nil {
		known = append(known, c.Stored(providerID)...)
	}
	switch {
	case slices.Contains(known, string(pid)):
	case strings.Contains(text, ":") && pid.Provider() != providerID:
		c.report(p, fmt.Sprintf("%s is a profile of %s", c.shown(p, text), pid.Provider()), fmt.Sprintf("list profiles of %s here", providerID))
		return "", false
	case c.AnyModel:
	case c.Stored != nil || nearest(text, known) != "" || !strings.Contains(text, ":"):
		c.report(p, fmt.Sprintf("there is no profile %s", c.shown(p, text)), DidYouMean(text, known))
		return "", false
	default: // it may be stored; this reader cannot look
		c.warn(p, fmt.Sprintf("%s is not in auth.profiles", c.shown(p, text)), "it is used once standin has stored a profile of that name")
	}
	return pid, true
}

// cooldowns reads auth.cooldowns [M23, M24].
func (c *compiler) cooldowns(k cooldownKeys) fallback.CooldownConfig {
	at := Path{"auth", "cooldowns"}
	byProvider := map[string]time.Duration{}
	for _, name := range sortedKeys(k.BillingBackoffHoursByProvider) {
		p := at.Key("billingBackoffHoursByProvider").Key(name)
		hours, id := k.BillingBackoffHoursByProvider[name], fallback.NormalProvider(name)
		c.knownProvider(id, p)
		if hours <= 0 || hours > 8760 {
			c.report(p, "must be greater than 0 and at most 8760", "")
			continue
		}
		byProvider[id] = span(hours, time.Hour)
	}
	if k.BillingMaxHours < k.BillingBackoffHours {
		c.warn(at.Key("billingMaxHours"), "is shorter than billingBackoffHours, which is used instead", "")
	}
	if k.AuthPermanentMaxMinutes < k.AuthPermanentBackoffMinutes {
		c.warn(at.Key("authPermanentMaxMinutes"), "is shorter than authPermanentBackoffMinutes, which is used instead", "")
	}
	return fallback.CooldownConfig{
		BillingBackoff:            span(k.BillingBackoffHours, time.Hour),
		BillingBackoffByProvider:  byProvider,
		BillingMax:                span(max(k.BillingMaxHours, k.BillingBackoffHours), time.Hour),
		AuthPermanentBackoff:      span(k.AuthPermanentBackoffMinutes, time.Minute),
		AuthPermanentMax:          span(max(k.AuthPermanentMaxMinutes, k.AuthPermanentBackoffMinutes), time.Minute),
		FailureWindow:             span(k.FailureWindowHours, time.Hour),
		OverloadedProfileRotation: k.OverloadedProfileRotations,
		OverloadedBackoff:         time.Duration(k.OverloadedBackoffMs) * time.Millisecond,
		RateLimitedRotation:       k.RateLimitedProfileRotations,
	}
}

func span(n float64, unit time.Duration) time.Duration { return time.Duration(n * float64(unit)) }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
