package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"standin/bot/policy"
	"standin/channels"
	"standin/channels/discord"
	"standin/channels/slack"
)

// Place names an account of a channel as an Address does: Account "" is the
// default one.
type Place struct{ Channel, Account string }

// String is how people read it: slack, or slack/work.
func (p Place) String() string {
	if p.Account == "" {
		return p.Channel
	}
	return p.Channel + "/" + p.Account
}

// Account is one account of a platform as the config means it. It is immutable.
type Account struct {
	Place
	Off     bool           // enabled: false
	Slack   slack.Config   // of a Slack account
	Discord discord.Config // of a Discord account
	Tokens  map[string]channels.Secret
	Surface policy.Surface
	// Faults keep it from being used, each with its mend; no other channel
	// suffers from them.
	Faults []string
}

// Same tells whether two accounts are connected alike. Who may speak is no part
// of it: that changes without a new connection [G8].
func (a Account) Same(b Account) bool {
	return a.Place == b.Place && a.Off == b.Off && reflect.DeepEqual(a.Slack, b.Slack) && reflect.DeepEqual(a.Discord, b.Discord) &&
		maps.Equal(reveal(a.Tokens), reveal(b.Tokens)) && slices.Equal(a.Faults, b.Faults)
}

func reveal(tokens map[string]channels.Secret) map[string]string {
	plain := map[string]string{}
	for name, s := range tokens {
		plain[name] = s.Reveal()
	}
	return plain
}

// Webhook is the path that the account's requests come in on, "" for none.
func (a Account) Webhook() string {
	if a.Channel == slack.Name && !a.Off && a.Slack.Mode == "http" {
		return a.Slack.WebhookPath
	}
	return ""
}

// tokenKey is a token of a platform: its key, and the variable that holds the
// default account's when the file does not say [SL4, D2].
type tokenKey struct {
	name, env string
	get       string // where a person finds one
	needed    func(Account) bool
}

var (
	slackTokens = []tokenKey{
		{"botToken", "SLACK_BOT_TOKEN", "the app's page OAuth & Permissions", func(Account) bool { return true }},
		{"appToken", "SLACK_APP_TOKEN", "the app's page Basic Information, with connections:write", func(a Account) bool { return a.Slack.Mode == "socket" }},
		{"signingSecret", "SLACK_SIGNING_SECRET", "the app's page Basic Information", func(a Account) bool { return a.Slack.Mode == "http" }},
	}
	discordTokens = []tokenKey{{"token", "DISCORD_BOT_TOKEN", "Discord's developer portal, page Bot", func(Account) bool { return true }}}
)

// readAccounts makes the accounts of both platforms.
func (c *compiler) readAccounts() (all []Account) {
	history := func(usual int) int {
		if own := c.doc.Messages.GroupChat.HistoryLimit; own != nil {
			return *own
		}
		return usual
	}
	one := platform{c, slack.Name, slackTokens, func(keys map[string]any, a *Account) ([]error, map[string]secret) {
		k := slackAccount{Config: slack.Defaults(), HistoryLimit: history(50)}
		fill(&k, keys)
		c.shared(keys, &k.AckReaction, &k.AckReactionScope, &k.RemoveAckAfterReply, slack.EmojiName)
		k.NativeCommands = c.native(keys, k.NativeCommands)
		a.Slack, a.Off, a.Surface = k.Config, !k.Enabled, k.surface(c.doc.Channels.Defaults)
		a.Surface.NativeOnly = c.nativeOnly(k.NativeCommands || k.SlashCommand.Enabled)
		return a.Slack.Validate(), map[string]secret{"botToken": k.BotToken, "appToken": k.AppToken, "signingSecret": k.SigningSecret}
	}}
	all = append(all, one.read()...)
	one.channel, one.tokens = discord.Name, discordTokens
	one.keys = func(keys map[string]any, a *Account) ([]error, map[string]secret) {
		k := discordAccount{Config: discord.Defaults(), HistoryLimit: history(20), Thread: discordThread{InitialHistoryLimit: 20}}
		fill(&k, keys)
		c.shared(keys, &k.AckReaction, &k.AckReactionScope, &k.RemoveAckAfterReply, slack.Emoji)
		k.NativeCommands = c.native(keys, k.NativeCommands)
		a.Discord, a.Off, a.Surface = k.config(), !k.Enabled, k.surface(c.doc.Channels.Defaults)
		a.Surface.NativeOnly = c.nativeOnly(k.NativeCommands)
		return a.Discord.Validate(), map[string]secret{"token": k.Token}
	}
	all = append(all, one.read()...)
	c.checkShared(all)
	return all
}

// AccountsOf reads the accounts of one platform from the file at path, "" for
// none, and gives the faults of that part of the file. Faults of other parts do
// not matter here: people set a platform up first. Without a file, or without
// the platform in it, there is the default account with its usual settings and
// the tokens of the environment. With the error, which says that the file cannot
// be read at all, the faults say why.
func (r Reader) AccountsOf(channel, path string) ([]Account, []Fault, error) {
	doc := newDocument()
	c := newCompiler(r, "", nil, &Node{Kind: Object}, &doc)
	if path != "" {
		data, err := ReadBounded(path, MaxFile)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %s", path, ReasonOf(err))
		}
		root, faults := decodeYAML(path, data, r.Getenv, &doc)
		if root == nil {
			return nil, faults, fmt.Errorf("%s cannot be read", path)
		}
		r.Base = filepath.Dir(path)
		c = newCompiler(r, path, strings.Split(string(data), "\n"), root, &doc)
	}
	if _, written := c.root.At(Path{"channels", channel}); !written {
		c.root = &Node{Kind: Object, Entries: []Entry{{Key: "channels", Value: &Node{Kind: Object,
			Entries: []Entry{{Key: channel, Value: &Node{Kind: Object}}}}}}}
	}
	all := slices.DeleteFunc(c.readAccounts(), func(a Account) bool { return a.Channel != channel })
	return all, slices.DeleteFunc(c.faults, func(f Fault) bool {
		return f.Warning || !strings.HasPrefix(f.Path, "channels."+channel)
	}), nil
}

// fill reads keys, which have passed the schema, over the defaults in k.
func fill(k any, keys map[string]any) {
	text, err := json.Marshal(keys)
	if err == nil {
		err = json.Unmarshal(text, k)
	}
	if err != nil {
		panic("the schema of a channel and its keys disagree: " + err.Error()) // ours to mend; a test reads every key
	}
}

// platform reads the accounts of one platform.
type platform struct {
	*compiler
	channel string
	tokens  []tokenKey
	// keys reads the merged keys of an account into it and gives the adapter's
	// faults and the tokens that are written.
	keys func(keys map[string]any, a *Account) ([]error, map[string]secret)
}

var accountID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// read gives the platform's accounts, the default one first.
func (r platform) read() (all []Account) {
	at := Path{"channels", r.channel}
	block, written := r.root.At(at)
	if !written {
		return r.environmentOnly()
	}
	general := block.Plain().(map[string]any)
	own, _ := general["accounts"].(map[string]any)
	delete(general, "accounts")
	var ids []string
	for _, id := range sortedKeys(own) {
		if !accountID.MatchString(id) {
			r.reportKey(at.Key("accounts").Key(id), "is no account name", "use lower-case letters, digits, - and _, at most 64")
			continue
		}
		if id != "default" {
			ids = append(ids, id)
		}
	}
	_, named := own["default"]
	_, token := general[r.tokens[0].name]
	if named || token || len(own) == 0 || r.Getenv(r.tokens[0].env) != "" {
		layer, _ := own["default"].(map[string]any)
		path := at
		if named {
			path = at.Key("accounts").Key("default")
		}
		all = append(all, r.account("", inherit(general, layer), at, path))
	}
	for _, t := range r.tokens {
		delete(general, t.name) // an account's token is its own
	}
	for _, id := range ids {
		layer, _ := own[id].(map[string]any)
		all = append(all, r.account(id, inherit(general, layer), at, at.Key("accounts").Key(id)))
	}
	return all
}

// environmentOnly gives the account of a platform that only the environment
// speaks of: closed to all rooms, and told aloud [SL10, D4].
func (r platform) environmentOnly() []Account {
	a := Account{Place: Place{Channel: r.channel}}
	faults, _ := r.keys(nil, &a)
	if len(faults) > 0 || r.AnyModel {
		return nil
	}
	for _, t := range r.tokens {
		if t.needed(a) && r.Getenv(t.env) == "" {
			return nil
		}
	}
	r.readTokens(&a, nil, nil)
	r.faults = append(r.faults, Fault{File: "environment", Path: r.tokens[0].env, Warning: true,
		Msg:  fmt.Sprintf("is set, so %s is used although the config has no channels.%s: people must be paired, no room is listened to", r.channel, r.channel),
		Mend: fmt.Sprintf("write channels.%s, with enabled: false to leave it out", r.channel)})
	return []Account{a}
}

// inherit lays an account's keys over the general ones. Objects with keys of
// ours are merged; lists, and maps by the platform's ids, are replaced whole, so
// that an account that lists its rooms has no others.
func inherit(general, own map[string]any) map[string]any {
	out := maps.Clone(general)
	for key, value := range own {
		below, isObject := value.(map[string]any)
		under, both := out[key].(map[string]any)
		byID := slices.Contains([]string{"channels", "guilds", "replyToModeByChatType"}, key)
		if _, isSecret := below["source"]; isObject && both && !byID && !isSecret {
			value = inherit(under, below)
		}
		out[key] = value
	}
	return out
}

// account reads one account. general and own are where its keys may stand.
func (r platform) account(id string, keys map[string]any, general, own Path) Account {
	a := Account{Place: Place{r.channel, id}}
	faults, secrets := r.keys(keys, &a)
	for _, err := range faults {
		text, msg, _ := strings.Cut(err.Error(), ": ")
		r.report(r.find(general, own, pathOf(text)), msg, "")
	}
	r.checkPeople(a, general, own)
	if !r.AnyModel { // a rehearsal connects nothing and needs no token
		r.readTokens(&a, secrets, func(name string) Path { return r.find(general, own, Path{name}) })
	}
	if len(a.Faults) > 0 && !a.Off && len(faults) == 0 {
		r.warn(own, fmt.Sprintf("%s cannot be used: %s", a.Place, strings.Join(a.Faults, "; ")), "")
	}
	return a
}

// find leads to a key of an account where it is written.
func (c *compiler) find(general, own, p Path) Path {
	at := append(slices.Clone(own), p...)
	if c.written(at) {
		return at
	}
	return append(slices.Clone(general), p...)
}

// pathOf reads an adapter's path: guilds.1.channels.2, commandGuilds[0].
func pathOf(text string) (p Path) {
	for step := range strings.SplitSeq(text, ".") {
		name, rest, listed := strings.Cut(step, "[")
		p = append(p, name)
		if i, err := strconv.Atoi(strings.TrimSuffix(rest, "]")); listed && err == nil {
			p = append(p, i)
		}
	}
	return p
}

// readTokens resolves what the account needs. A reference that leads nowhere is
// a fault of the file, unless nobody uses the account [G6]; a token that nobody
// has given yet keeps only this account from running.
func (r platform) readTokens(a *Account, written map[string]secret, at func(string) Path) {
	a.Tokens = map[string]channels.Secret{}
	for _, t := range r.tokens {
		text, before := "", len(r.faults)
		switch s := written[t.name]; {
		case s.given():
			key, ok := r.resolve(s, at(t.name), t.env)
			if !ok && !a.Off {
				a.Faults = append(a.Faults, t.name+" cannot be read")
			}
			text = key.Reveal()
		case a.Account == "":
			text = strings.TrimSpace(r.Getenv(t.env))
		}
		if a.Off {
			for i := before; i < len(r.faults); i++ {
				r.faults[i].Warning = true
			}
		}
		if text != "" {
			a.Tokens[t.name] = channels.NewSecret(text)
			continue
		}
		if t.needed(*a) && len(r.faults) == before {
			where := fmt.Sprintf("set %s, or channels.%s.%s", t.env, a.Channel, t.name)
			if a.Account != "" {
				where = fmt.Sprintf("set channels.%s.accounts.%s.%s", a.Channel, a.Account, t.name)
			}
			a.Faults = append(a.Faults, fmt.Sprintf("%s is missing: %s (from %s)", t.name, where, t.get))
		}
	}
	if len(a.Faults) == 0 && !a.Off {
		if _, err := a.Open(Opening{}); err != nil { // a token of another kind
			a.Faults = strings.Split(strings.TrimPrefix(err.Error(), "channels."+a.Channel+": "), "\n")
		}
	}
}

// checkShared looks for what two accounts cannot both have: a token [D2], and
// the path of their requests [SL1].
func (c *compiler) checkShared(all []Account) {
	tokens, paths := map[string]Place{}, map[string]Place{}
	for i := range all {
		a := &all[i]
		if a.Off {
			continue
		}
		at := Path{"channels", a.Channel}
		if a.Account != "" {
			at = at.Key("accounts").Key(a.Account)
		}
		name := map[string]string{slack.Name: "botToken", discord.Name: "token"}[a.Channel]
		if token := a.Tokens[name].Reveal(); token != "" {
			if first, twice := tokens[token]; twice {
				a.Faults = append(a.Faults, fmt.Sprintf("it has the token of %s, which alone uses it", first))
				c.warn(at.Key(name), fmt.Sprintf("%s has the same token as %s, which alone uses it", a.Place, first), "give each account a bot of its own")
			} else {
				tokens[token] = a.Place
			}
		}
		if path := a.Webhook(); path != "" {
			if first, twice := paths[path]; twice {
				c.report(at.Key("webhookPath"), fmt.Sprintf("%s listens on %q too", first, path), "give each account in http mode a path of its own")
			}
			paths[path] = a.Place
		}
	}
}

var (
	slackUser, slackRoomID = regexp.MustCompile(`^[UWB][A-Z0-9]+$`), regexp.MustCompile(`^[CGD][A-Z0-9]+$`)
	snowflake              = regexp.MustCompile(`^[0-9]{5,20}$`)
)

// checkPeople looks for lists that let in nobody, or somebody else: names of
// people and rooms may be taken by anybody, so ids count [SL10].
func (c *compiler) checkPeople(a Account, general, own Path) {
	s := a.Surface
	if s.DMPolicy == policy.DMOpen && !slices.Contains(s.AllowFrom, "*") {
		c.report(c.find(general, own, Path{"dmPolicy"}), `open lets in nobody without "*" in allowFrom`, `add allowFrom: ["*"], which lets everybody write and give commands`)
	}
	user, room := slackUser, slackRoomID
	if a.Channel == discord.Name {
		user, room = snowflake, snowflake
	}
	for i, entry := range s.AllowFrom {
		if id := bareID(entry); id != "*" && !user.MatchString(strings.ToUpper(id)) {
			c.warn(c.find(general, own, Path{"allowFrom", i}), fmt.Sprintf("%q is no id of a person", mask(entry)), "names do not count; /whoami tells the id")
		}
	}
	for _, id := range sortedKeys(s.Rooms) {
		if id != "*" && !room.MatchString(strings.ToUpper(id)) {
			c.warn(c.find(general, own, Path{"channels", id}), fmt.Sprintf("%q is no id of a room", mask(id)), "names do not count; the id stands in the room's details")
		}
	}
}

// bareID is an entry of a list of people without what may stand around the id.
func bareID(entry string) string {
	entry = strings.TrimSpace(entry)
	if i := strings.LastIndex(entry, ":"); i >= 0 {
		entry = entry[i+1:]
	}
	return strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(entry, "<@"), ">"), "!")
}
