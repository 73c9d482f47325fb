package config

import (
	"fmt"
	"path"
	"time"

	"standin/bot"
	"standin/bot/policy"
	"standin/bot/tools"
	"standin/fallback"
)

// toolsKeys is tools [G36]: what models may do beside answering.
type toolsKeys struct {
	Enabled        bool          `json:"enabled,omitempty" jsonschema:"default=true" jsonschema_description:"Whether models may use tools at all."`
	Allow          []string      `json:"allow,omitempty" jsonschema_description:"The tools that agents have, by name; * stands for any letters. Default: all."`
	Deny           []string      `json:"deny,omitempty" jsonschema_description:"Those that they do not have, whatever allow says."`
	Rooms          toolListsKeys `json:"rooms,omitempty" jsonschema_description:"Tighter lists for rooms and groups, on top."`
	TimeoutSeconds int           `json:"timeoutSeconds,omitempty" jsonschema:"minimum=1,maximum=3600,default=60" jsonschema_description:"Longest time of one use, in seconds."`
	MaxResultChars int           `json:"maxResultChars,omitempty" jsonschema:"minimum=500,maximum=1000000,default=20000" jsonschema_description:"What is longer than so many characters is cut before the model sees it."`
	Web            webKeys       `json:"web,omitempty" jsonschema_description:"Pages on the web (web_fetch)."`
}

type toolListsKeys struct {
	Allow []string `json:"allow,omitempty" jsonschema_description:"The tools that are left there. Default: all."`
	Deny  []string `json:"deny,omitempty" jsonschema_description:"Those that are not, whatever allow says."`
}

type agentToolsKeys struct {
	Allow []string      `json:"allow,omitempty" jsonschema_description:"Instead of tools.allow."`
	Deny  []string      `json:"deny,omitempty" jsonschema_description:"Beside tools.deny: what is denied there stays denied."`
	Rooms toolListsKeys `json:"rooms,omitempty" jsonschema_description:"Tighter lists for rooms and groups: allow instead of that of tools.rooms, deny beside it."`
}

type webKeys struct {
	Enabled    bool     `json:"enabled,omitempty" jsonschema:"default=true" jsonschema_description:"Whether agents may fetch pages."`
	AllowHosts []string `json:"allowHosts,omitempty" jsonschema_description:"Hosts on this machine or in a private network whose pages may be fetched. All others must be public."`
}

func usualTools() toolsKeys {
	return toolsKeys{
		Enabled: true, TimeoutSeconds: int(tools.DefaultLimits.Time / time.Second), MaxResultChars: tools.DefaultLimits.Chars,
		Web: webKeys{Enabled: true},
	}
}

// Web is tools.web: who may fetch pages, and from where.
type Web struct {
	On    bool
	Hosts []string // let through although they are not public
}

// readTools reads tools, and what each agent has of them.
func (c *compiler) readTools(out *Compiled) {
	k, at := c.doc.Tools, Path{"tools"}
	out.Bot.Tools = bot.ToolConfig{On: k.Enabled, Limits: tools.Limits{
		Time: time.Duration(k.TimeoutSeconds) * time.Second, Chars: k.MaxResultChars, Side: tools.DefaultLimits.Side}}
	out.Web = Web{On: k.Web.Enabled, Hosts: k.Web.AllowHosts}
	c.patternsOfTools(k.Allow, at.Key("allow"))
	c.patternsOfTools(k.Deny, at.Key("deny"))
	c.patternsOfTools(k.Rooms.Allow, at.Key("rooms").Key("allow"))
	c.patternsOfTools(k.Rooms.Deny, at.Key("rooms").Key("deny"))
	own := map[fallback.AgentID]agentToolsKeys{}
	for i, a := range c.doc.Agents.List {
		id := fallback.AgentID(a.ID)
		if _, twice := own[id]; twice || a.Tools == nil {
			continue
		}
		p := c.item(Path{"agents", "list"}, i).Key("tools")
		c.patternsOfTools(a.Tools.Allow, p.Key("allow"))
		c.patternsOfTools(a.Tools.Deny, p.Key("deny"))
		c.patternsOfTools(a.Tools.Rooms.Allow, p.Key("rooms").Key("allow"))
		c.patternsOfTools(a.Tools.Rooms.Deny, p.Key("rooms").Key("deny"))
		own[id] = *a.Tools
	}
	zone := c.userZone()
	for id, agent := range out.Bot.Agents {
		agent.Tools = policyOf(k, own[id])
		agent.Workspace = c.workspace(id, out.Fallback.DefaultAgent)
		agent.Zone = zone
		out.Bot.Agents[id] = agent
	}
}

// policyOf lays an agent's lists over the general ones. What is denied for all
// stays denied: a list of one agent cannot take it back by oversight.
func policyOf(general toolsKeys, own agentToolsKeys) tools.Policy {
	merged := func(g, o toolListsKeys) tools.Policy {
		p := tools.Policy{Allow: g.Allow, Deny: append(append([]string(nil), g.Deny...), o.Deny...)}
		if o.Allow != nil {
			p.Allow = o.Allow
		}
		return p
	}
	p := merged(toolListsKeys{general.Allow, general.Deny}, toolListsKeys{own.Allow, own.Deny})
	if rooms := merged(general.Rooms, own.Rooms); len(rooms.Allow) > 0 || len(rooms.Deny) > 0 {
		p.Rooms = &rooms
	}
	return p
}

// patternsOfTools judges names of tools. A list that allows nothing is written
// as deny: ["*"]: an empty one means all.
func (c *compiler) patternsOfTools(list []string, at Path) {
	if list != nil && len(list) == 0 && at[len(at)-1] == "allow" {
		c.report(at, "is empty, which would allow every tool", `write deny: ["*"] for none, or remove the line for all`)
	}
	for i, name := range list {
		p := c.item(at, i)
		if _, err := path.Match(name, ""); err != nil || name == "" {
			c.report(p, fmt.Sprintf("%s is no name of a tool", c.shown(p, name)), "write a name, with * for any letters")
		}
	}
}

// userZone is where people live, nil for this machine's zone.
func (c *compiler) userZone() *time.Location {
	name := c.doc.Agents.Defaults.UserTimezone
	if name == "" || name == "local" {
		return nil
	}
	return c.zone(name, Path{"agents", "defaults", "userTimezone"})
}

// compactionKeys is agents.defaults.compaction [G10, S19].
type compactionKeys struct {
	Mode               string `json:"mode,omitempty" jsonschema:"enum=default,enum=safeguard,enum=off,default=default" jsonschema_description:"default: a conversation is summed up before its model's window is full. safeguard is the same here. off: only when a person asks (/compact) or a model has refused it as too long."`
	ReserveTokens      int64  `json:"reserveTokens,omitempty" jsonschema:"minimum=1,maximum=10000000,default=16384" jsonschema_description:"Tokens of the window that are kept free for the answer."`
	ReserveTokensFloor int64  `json:"reserveTokensFloor" jsonschema:"minimum=0,maximum=10000000,default=20000" jsonschema_description:"And never less than so many; 0: no such bound."`
	KeepRecentTokens   int64  `json:"keepRecentTokens,omitempty" jsonschema:"minimum=1,maximum=10000000,default=20000" jsonschema_description:"Tokens of the latest messages that stay word for word."`
	Model              string `json:"model,omitempty" jsonschema_description:"Who writes the summary; no other stands in for it. Default: the models of the session."`
	NotifyUser         bool   `json:"notifyUser,omitempty" jsonschema:"default=false" jsonschema_description:"Whether the room is told when a conversation was summed up."`
}

func usualCompaction() compactionKeys {
	return compactionKeys{Mode: "default", ReserveTokens: 16_384, ReserveTokensFloor: 20_000, KeepRecentTokens: 20_000}
}

// readCompaction reads when conversations are summed up, and by whom.
func (c *compiler) readCompaction(b *bot.Config) {
	d := c.doc.Agents.Defaults
	k := d.Compaction
	b.ContextTokens = d.ContextTokens
	b.Compaction = policy.Compaction{Off: k.Mode == "off", Reserve: k.ReserveTokens, Floor: k.ReserveTokensFloor, Keep: k.KeepRecentTokens, Notify: k.NotifyUser}
	if k.ReserveTokensFloor == 0 {
		b.Compaction.Floor = -1
	}
	if k.Model != "" {
		at := Path{"agents", "defaults", "compaction", "model"}
		b.CompactionModel, _ = c.model(k.Model, at, b.Fallback.Default.Primary.Provider)
	}
}
