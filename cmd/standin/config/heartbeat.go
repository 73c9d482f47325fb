package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"standin/fallback"
	"standin/heartbeat"
)

// heartbeatKeys is agents.defaults.heartbeat and agents.list[].heartbeat [H1–H22].
type heartbeatKeys struct {
	Every           interval         `json:"every,omitempty" jsonschema_description:"How often the agent looks after things by itself: a duration such as 30m, or minutes as a number; 0m is off. Default: off."`
	Target          string           `json:"target,omitempty" jsonschema:"enum=none,enum=last,enum=slack,enum=discord,enum=console,default=none" jsonschema_description:"Where it says what it has to say: nowhere, where its session was last spoken to, or a channel."`
	To              string           `json:"to,omitempty" jsonschema_description:"The conversation on that channel, by id. Default: the last one there."`
	AccountID       string           `json:"accountId,omitempty" jsonschema_description:"The channel's account. Default: default."`
	DirectPolicy    string           `json:"directPolicy,omitempty" jsonschema:"enum=allow,enum=block,default=allow" jsonschema_description:"Whether it may write into direct chats."`
	Session         string           `json:"session,omitempty" jsonschema_description:"The session whose conversation it sees: main, or a session's key. Default: main."`
	Prompt          string           `json:"prompt,omitempty" jsonschema_description:"What it is asked, instead of the usual text."`
	AckMaxChars     int              `json:"ackMaxChars,omitempty" jsonschema:"minimum=0,maximum=10000,default=300" jsonschema_description:"An answer of HEARTBEAT_OK and at most so many characters is not posted."`
	Dedupe          Duration         `json:"dedupe,omitempty" jsonschema:"default=24h" jsonschema_description:"How long the same text is not posted again; 0s: it always is."`
	ActiveHours     *activeHoursKeys `json:"activeHours,omitempty" jsonschema_description:"The part of the day in which it runs. Default: all day."`
	Model           string           `json:"model,omitempty" jsonschema_description:"Its own model, for these runs alone. Default: that of the session."`
	Fallbacks       *[]string        `json:"fallbacks,omitempty" jsonschema_description:"The models that stand in for it, in order; []: none. Default: those of the agent."`
	LightContext    bool             `json:"lightContext,omitempty" jsonschema:"default=false" jsonschema_description:"Whether only HEARTBEAT.md of the workspace is sent along."`
	IsolatedSession bool             `json:"isolatedSession,omitempty" jsonschema:"default=false" jsonschema_description:"Whether each run starts without the conversation, which costs least."`
	TimeoutSeconds  int              `json:"timeoutSeconds,omitempty" jsonschema:"minimum=1,maximum=172800" jsonschema_description:"Longest time of a run, in seconds. Default: the interval, at most 600."`
	IdleAfter       Duration         `json:"idleAfter,omitempty" jsonschema_description:"It pauses when nobody has spoken in the session for so long, such as 168h, until somebody does. Default: never."`
	MinSpacing      Duration         `json:"minSpacing,omitempty" jsonschema:"default=30s" jsonschema_description:"Least time between two runs that events cause."`
	SkipWhenBusy    bool             `json:"skipWhenBusy,omitempty" jsonschema:"default=false" jsonschema_description:"Whether it waits while another session of the agent is being answered."`
	AllowPaid       bool             `json:"allowPaid,omitempty" jsonschema:"default=true" jsonschema_description:"Whether models that cost money may be used."`
	MaxCostPerDay   float64          `json:"maxCostPerDay,omitempty" jsonschema:"minimum=0,maximum=1000000,default=0" jsonschema_description:"The most that its runs may cost in a day, in USD; 0: no limit."`
}

type activeHoursKeys struct {
	Start    string `json:"start,omitempty" jsonschema:"default=00:00" jsonschema_description:"From this time of day on, HH:MM."`
	End      string `json:"end,omitempty" jsonschema:"default=24:00" jsonschema_description:"Until this time of day, HH:MM; before start it is on the next day, and 24:00 is midnight."`
	Timezone string `json:"timezone,omitempty" jsonschema:"default=user" jsonschema_description:"user (agents.defaults.userTimezone), local (this machine's), or a name such as Europe/Berlin."`
}

// visibilityKeys is heartbeat of channels.defaults, of a channel and of an
// account [H14].
type visibilityKeys struct {
	ShowOk       *bool `json:"showOk,omitempty" jsonschema:"default=false" jsonschema_description:"Whether it also says that nothing needs attention."`
	ShowAlerts   *bool `json:"showAlerts,omitempty" jsonschema:"default=true" jsonschema_description:"Whether what it has to say is shown."`
	UseIndicator *bool `json:"useIndicator,omitempty" jsonschema:"default=true" jsonschema_description:"Whether it counts as at work; with all three off it does not run for this place."`
}

// over lays the keys over what lies around them.
func (k visibilityKeys) over(v heartbeat.Visibility) heartbeat.Visibility {
	for _, one := range []struct {
		key *bool
		to  *bool
	}{{k.ShowOk, &v.OK}, {k.ShowAlerts, &v.Alerts}, {k.UseIndicator, &v.Indicator}} {
		if one.key != nil {
			*one.to = *one.key
		}
	}
	return v
}

// interval is heartbeat.every: a duration, or minutes [H1].
type interval time.Duration

// UnmarshalJSON reads both forms.
func (i *interval) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return (*Duration)(i).UnmarshalJSON(data)
	}
	var minutes float64
	err := json.Unmarshal(data, &minutes)
	*i = interval(minutes * float64(time.Minute))
	return err
}

// JSONSchema describes both forms.
func (interval) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		Duration(0).JSONSchema(), {Type: "number", Minimum: json.Number("0"), Maximum: json.Number("525600")},
	}}
}

// usualHeartbeat are the keys of an empty block.
func usualHeartbeat() heartbeatKeys {
	d := heartbeat.Defaults()
	return heartbeatKeys{Target: d.Target, DirectPolicy: "allow", AckMaxChars: d.AckMax, Dedupe: Duration(d.Dedupe),
		MinSpacing: Duration(d.Spacing), AllowPaid: d.AllowPaid}
}

// shortest is the least interval of a heartbeat: each beat is a request that
// somebody pays for.
const shortest = time.Minute

// readHeartbeats reads who has a heartbeat, and how [H2].
func (c *compiler) readHeartbeats(out *Compiled) {
	at := Path{"agents", "defaults", "heartbeat"}
	files := map[fallback.AgentID]string{}
	s := &heartbeat.Settings{Fallback: out.Fallback, Of: map[fallback.AgentID]heartbeat.Config{}, Files: files, Seen: c.visibilities()}
	general := c.layer(at)
	s.Base = c.heartbeat(general, at, at, out)
	for id := range out.Bot.Agents {
		files[id] = filepath.Join(c.workspace(id, out.Fallback.DefaultAgent), "HEARTBEAT.md")
	}
	seen := map[fallback.AgentID]bool{}
	for i, a := range c.doc.Agents.List {
		own, id := c.item(Path{"agents", "list"}, i).Key("heartbeat"), fallback.AgentID(a.ID)
		if a.Heartbeat == nil || seen[id] {
			continue
		}
		seen[id] = true
		one := c.heartbeat(inherit(general, c.layer(own)), own, at, out)
		one.File = files[id]
		s.Agents, s.Of[id] = append(s.Agents, id), one
	}
	if len(s.Agents) == 0 {
		id := out.Fallback.DefaultAgent
		one := s.Base
		one.File = files[id]
		s.Agents, s.Of[id] = []fallback.AgentID{id}, one
	}
	out.Heartbeats = s
}

// layer gives the keys that are written at p.
func (c *compiler) layer(p Path) map[string]any {
	if n, written := c.root.At(p); written && n.Kind == Object {
		return n.Plain().(map[string]any)
	}
	return map[string]any{}
}

// heartbeat reads merged keys. A fault is told where its key is written: at own,
// else in the defaults.
func (c *compiler) heartbeat(keys map[string]any, own, general Path, out *Compiled) heartbeat.Config {
	k := usualHeartbeat()
	fill(&k, keys)
	place := func(key string) Path {
		if p := own.Key(key); c.written(p) {
			return p
		}
		return general.Key(key)
	}
	h := heartbeat.Config{
		Every: time.Duration(k.Every), Target: k.Target, To: k.To, Account: k.AccountID, BlockDirect: k.DirectPolicy == "block",
		Session: fallback.SessionID(strings.TrimSpace(k.Session)), Prompt: strings.TrimSpace(k.Prompt), AckMax: k.AckMaxChars,
		Dedupe: time.Duration(k.Dedupe), Light: k.LightContext, Isolated: k.IsolatedSession,
		Timeout: time.Duration(k.TimeoutSeconds) * time.Second, IdleAfter: time.Duration(k.IdleAfter), Spacing: time.Duration(k.MinSpacing),
		SkipWhenBusy: k.SkipWhenBusy, AllowPaid: k.AllowPaid, MaxCostPerDay: k.MaxCostPerDay,
	}
	if h.Every > 0 && h.Every < shortest {
		c.report(place("every"), fmt.Sprintf("%s is too often: each beat is a request", h.Every), "write at least 1m")
	}
	if k.Session != "" && k.Session != "main" && !strings.HasPrefix(k.Session, "agent:") {
		c.report(place("session"), fmt.Sprintf("%s is no session", c.shown(place("session"), k.Session)), "write main, or a key that begins with agent:")
	}
	if h.Session == "main" {
		h.Session = ""
	}
	if k.To != "" && (k.Target == heartbeat.TargetNone || k.Target == heartbeat.TargetLast) {
		c.warn(place("to"), "is not used with target "+k.Target, "write the channel as target, such as target: slack")
	}
	if k.Model != "" {
		if m, ok := c.model(k.Model, place("model"), out.Fallback.Default.Primary.Provider); ok {
			h.Model = m
		}
	}
	if h.Listed = k.Fallbacks != nil; h.Listed {
		h.Fallbacks = []fallback.Model{}
		for i, text := range *k.Fallbacks {
			if m, ok := c.model(text, c.item(place("fallbacks"), i), cmp.Or(h.Model, out.Fallback.Default.Primary).Provider); ok {
				h.Fallbacks = append(h.Fallbacks, m)
			}
		}
	}
	if k.ActiveHours != nil {
		h.Hours = c.hours(*k.ActiveHours, place("activeHours"))
	}
	return h
}

// hours reads activeHours [H11]. What cannot be read is a fault here, where
// there is somebody to mend it, and the whole day where a daemon runs.
func (c *compiler) hours(k activeHoursKeys, at Path) heartbeat.Hours {
	h := heartbeat.Hours{Set: true}
	sound := true
	clock := func(key, text, usual string, end bool) int {
		m, err := heartbeat.ParseClock(cmp.Or(text, usual))
		if err != nil || m == 24*60 && !end {
			c.report(at.Key(key), fmt.Sprintf("%s is not a time of day", c.shown(at.Key(key), text)), "write HH:MM, such as 08:00")
			sound = false
		}
		return m
	}
	h.Start, h.End = clock("start", k.Start, "00:00", false), clock("end", k.End, "24:00", true)
	zone, p := cmp.Or(k.Timezone, "user"), at.Key("timezone")
	if zone == "user" {
		zone, p = cmp.Or(c.doc.Agents.Defaults.UserTimezone, "local"), Path{"agents", "defaults", "userTimezone"}
	}
	h.Zone = c.zone(zone, p)
	if h.Zone == nil || !sound {
		return heartbeat.Hours{}
	}
	if h.Start == h.End {
		c.warn(at, "begins and ends at the same time, so the heartbeat never runs", "leave activeHours out for the whole day")
	}
	return h
}

// zone reads a time zone, nil when there is none of that name.
func (c *compiler) zone(name string, p Path) *time.Location {
	if name == "local" {
		return time.Local
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" {
		c.report(p, fmt.Sprintf("%s is no time zone", c.shown(p, name)), "write a name such as Europe/Berlin or America/New_York, UTC, or local")
		return nil
	}
	return zone
}

// visibilities reads heartbeat of channels.defaults, of channels and of their
// accounts [H14].
func (c *compiler) visibilities() heartbeat.Visibilities {
	read := func(p Path, around heartbeat.Visibility) heartbeat.Visibility {
		var k visibilityKeys
		fill(&k, c.layer(p))
		return k.over(around)
	}
	v := heartbeat.Visibilities{Channels: map[string]heartbeat.Visibility{}, Accounts: map[string]map[string]heartbeat.Visibility{}}
	v.Default = read(Path{"channels", "defaults", "heartbeat"}, heartbeat.Visible())
	for _, name := range []string{"slack", "discord"} {
		at := Path{"channels", name}
		v.Channels[name] = read(at.Key("heartbeat"), v.Default)
		v.Accounts[name] = map[string]heartbeat.Visibility{}
		accounts, _ := c.root.At(at.Key("accounts"))
		if !c.written(at.Key("accounts")) || accounts.Kind != Object {
			continue
		}
		for _, e := range accounts.Entries {
			id := e.Key
			if id == "default" {
				id = ""
			}
			v.Accounts[name][id] = read(at.Key("accounts").Key(e.Key).Key("heartbeat"), v.Channels[name])
		}
	}
	return v
}

// workspace is the folder of an agent: its own key, else the shared one for the
// default agent, else one beside it that carries its name [G34].
func (c *compiler) workspace(id, standard fallback.AgentID) string {
	for _, a := range c.doc.Agents.List {
		if fallback.AgentID(a.ID) == id && a.Workspace != "" {
			return c.home(a.Workspace)
		}
	}
	dir := cmp.Or(c.home(c.doc.Agents.Defaults.Workspace), filepath.Join(StateDir(c.getenv), "workspace"))
	if id != standard {
		dir += "-" + string(id)
	}
	return dir
}

// home reads a leading ~/ as the home folder.
func (c *compiler) home(dir string) string {
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		return filepath.Join(c.getenv("HOME"), rest)
	}
	return dir
}

// getenv reads the environment, which a reader may have none of.
func (c *compiler) getenv(name string) string {
	if c.Getenv == nil {
		return ""
	}
	return c.Getenv(name)
}
