package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"standin/bot/incidents"
	"standin/bot/netguard"
	"standin/channels"
	"standin/channels/discord"
	"standin/channels/slack"
)

// operatorsKeys is operators: who is told of what goes wrong.
type operatorsKeys struct {
	Notify             []notifyKeys `json:"notify,omitempty" jsonschema_description:"Who is told of what goes wrong, once when it begins and once when it is over. Default: nobody; standin incidents lists it all the same."`
	FallbackLongerThan Duration     `json:"fallbackLongerThan,omitempty" jsonschema:"default=30m" jsonschema_description:"How long another model may answer in place of the selected one before that is told; 0s: it never is."`
	WebhookAllowHosts  []string     `json:"webhookAllowHosts,omitempty" jsonschema_description:"Hosts on this machine or in a private network that notices may be sent to. All others must be public, and reached by https."`
}

type notifyKeys struct {
	To      string   `json:"to" jsonschema:"required,minLength=1" jsonschema_description:"slack:<id> or discord:<id> of a channel, with user: before the id of a person; or the URL of a webhook."`
	Account string   `json:"account,omitempty" jsonschema_description:"The channel's account. Default: the default account."`
	Events  []string `json:"events,omitempty" jsonschema_description:"What it is told of: models, fallback, auth, billing, login, channel, job, heartbeat, budget, mcp. Default: all of these."`
	Token   secret   `json:"token,omitempty" jsonschema_description:"Sent to a webhook, as Authorization: Bearer."`
}

// usualOperators are the keys of an empty block.
func usualOperators() operatorsKeys {
	return operatorsKeys{FallbackLongerThan: Duration(30 * time.Minute)} // [IL-160]
}

// readOperators reads operators. The accounts have been read.
func (c *compiler) readOperators(out *Compiled) {
	k, at := c.doc.Operators, Path{"operators"}
	s := incidents.Settings{FallbackLongerThan: time.Duration(k.FallbackLongerThan)}
	for _, host := range k.WebhookAllowHosts {
		s.Hosts = append(s.Hosts, strings.ToLower(strings.TrimSpace(host)))
	}
	for i, n := range k.Notify {
		p := c.item(at.Key("notify"), i)
		t, ok := c.notified(n, p, s.Hosts, out)
		if t.Events, ok = c.eventsOf(n.Events, p.Key("events"), ok); ok {
			s.Targets = append(s.Targets, t)
		}
	}
	out.Operators = s
}

// eventsOf reads the words of events; ok goes on being false.
func (c *compiler) eventsOf(words []string, at Path, ok bool) (kinds []incidents.Kind, _ bool) {
	var known []string
	for _, k := range incidents.Kinds() {
		known = append(known, string(k))
	}
	for i, word := range words {
		p := c.item(at, i)
		if !slices.Contains(known, word) {
			mend := "use " + strings.Join(known, ", ")
			if near := OnlyNear(word, known); near != "" {
				mend = near
			}
			c.report(p, fmt.Sprintf("%s is no event", c.shown(p, word)), mend)
			ok = false
			continue
		}
		kinds = append(kinds, incidents.Kind(word))
	}
	if words != nil && len(words) == 0 {
		c.report(at, "is empty: it would be told of nothing", "name events, or leave it out for all")
		ok = false
	}
	return kinds, ok
}

// The forms of the platforms' ids. What people call a channel is none.
var (
	slackID   = regexp.MustCompile(`^[CDGUW][A-Z0-9]+$`)
	discordID = regexp.MustCompile(`^[0-9]+$`)
)

// notified reads who is told.
func (c *compiler) notified(n notifyKeys, p Path, hosts []string, out *Compiled) (t incidents.Target, ok bool) {
	to := p.Key("to")
	channel, id, _ := strings.Cut(strings.TrimSpace(n.To), ":")
	kind, bare, typed := strings.Cut(id, ":")
	if !typed {
		kind, bare = "channel", id
	}
	switch channel {
	case "http", "https":
		return c.webhookOf(n, p, hosts)
	case slack.Name, discord.Name:
	default:
		c.report(to, c.shown(to, n.To)+" is no place that can be told", "write slack:<id>, discord:<id>, or the URL of a webhook")
		return t, false
	}
	form, such := slackID, "slack:C0123456789"
	if channel == discord.Name {
		form, such = discordID, "discord:123456789012345678"
	}
	if kind != "channel" && kind != "user" || !form.MatchString(bare) {
		c.report(to, c.shown(to, n.To)+" holds no id of "+channel+"'s", "write the id and not the name, such as "+such+"; "+channel+":user:<id> is a person")
		return t, false
	}
	if n.Token.given() {
		c.report(p.Key("token"), "is for webhooks alone; "+channel+" has the account's own", "remove it")
		return t, false
	}
	t.To = channels.Address{Channel: channel, Account: n.Account, Conversation: bare}
	if kind == "user" && channel == discord.Name {
		t.To.Conversation = "user:" + bare // the adapter opens the direct chat
	}
	return c.withAccount(t, n, p, out)
}

// withAccount finds the account that tells: the incident of a connection is told
// elsewhere, so it has to be known which one this is.
func (c *compiler) withAccount(t incidents.Target, n notifyKeys, p Path, out *Compiled) (incidents.Target, bool) {
	if t.To.Account == "default" {
		t.To.Account = ""
	}
	var names []string
	for _, a := range out.Accounts {
		if a.Channel != t.To.Channel {
			continue
		}
		names = append(names, a.Account)
		if a.Account == t.To.Account && a.Off {
			c.warn(p.Key("to"), "its account is switched off, so nobody hears of anything there", "enable the account, or name another place")
		}
	}
	own := slices.Contains(names, t.To.Account)
	switch other := out.DefaultAccounts[t.To.Channel]; {
	case own:
	case n.Account == "" && other != "":
		t.To.Account = other
	case n.Account != "":
		c.report(p.Key("account"), fmt.Sprintf("%s has no account %s", t.To.Channel, c.shown(p.Key("account"), n.Account)), DidYouMean(n.Account, names))
		return t, false
	case len(names) == 0:
		c.warn(p.Key("to"), t.To.Channel+" is not connected, so nobody hears of anything there", "set up channels."+t.To.Channel+", or name another place")
	}
	return t, true
}

func (c *compiler) webhookOf(n notifyKeys, p Path, hosts []string) (t incidents.Target, ok bool) {
	to := p.Key("to")
	u, err := url.Parse(strings.TrimSpace(n.To))
	switch {
	case err != nil || u.Host == "":
		c.report(to, "is no http(s) URL", "a webhook needs one, such as https://example.org/hook")
		return t, false
	case u.User != nil:
		c.report(to, "holds a name or password", "put what the receiver wants into token")
		return t, false
	case u.Scheme == "http" && !netguard.Lists(hosts, u.Host):
		c.report(to, "is not encrypted", "use https, or put the host into operators.webhookAllowHosts if it is yours")
		return t, false
	case n.Account != "":
		c.report(p.Key("account"), "means nothing for a webhook", "remove it")
		return t, false
	}
	t.URL = u.String()
	if n.Token.given() {
		t.Token, ok = c.resolve(n.Token, p.Key("token"), "OPERATORS_WEBHOOK_TOKEN")
		return t, ok
	}
	return t, true
}
