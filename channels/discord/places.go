package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/bwmarrin/discordgo"
)

// places knows the conversations: what kind each is, and which one a thread
// belongs to [D5]. It learns from the gateway and asks the API for the rest.
type places struct {
	c *Channel

	mu    sync.Mutex
	known map[string]where
	order []string            // of known, oldest first
	roles map[string][]string // the bot's own roles by guild
}

// where is a conversation.
type where struct {
	id     string
	kind   discordgo.ChannelType
	guild  string
	parent string // of a thread
	owner  string // who opened it
	name   string
}

// maxPlaces bounds what is remembered of conversations.
const maxPlaces = 50_000

func newPlaces(c *Channel) *places {
	return &places{c: c, known: map[string]where{}, roles: map[string][]string{}}
}

// wireChannel is what is read of a channel, by the names of the wire.
type wireChannel struct {
	ID       string                `json:"id"`
	Type     discordgo.ChannelType `json:"type"`
	GuildID  string                `json:"guild_id"`
	ParentID string                `json:"parent_id"`
	OwnerID  string                `json:"owner_id"`
	Name     string                `json:"name"`
}

func (w wireChannel) where(guild string) where {
	if w.GuildID != "" {
		guild = w.GuildID
	}
	p := where{id: w.ID, kind: w.Type, guild: guild, owner: w.OwnerID, name: w.Name}
	if p.isThread() {
		p.parent = w.ParentID // of others it is the category
	}
	return p
}

func (w where) isThread() bool {
	switch w.kind {
	case discordgo.ChannelTypeGuildNewsThread, discordgo.ChannelTypeGuildPublicThread, discordgo.ChannelTypeGuildPrivateThread:
		return true
	}
	return false
}

// isForum tells whether what is said there opens a post [D5].
func (w where) isForum() bool {
	return w.kind == discordgo.ChannelTypeGuildForum || w.kind == discordgo.ChannelTypeGuildMedia
}

// event learns from an event of the gateway.
func (p *places) event(ev discordgo.Event) {
	switch ev.Type {
	case "GUILD_CREATE":
		var g struct {
			ID       string
			Channels []wireChannel
			Threads  []wireChannel
			Roles    []struct {
				ID   string
				Tags *struct {
					BotID string `json:"bot_id"`
				}
			}
		}
		if p.read(ev, &g) {
			p.learn(g.ID, append(g.Channels, g.Threads...)...)
			for _, r := range g.Roles {
				if r.Tags != nil && p.c.me(r.Tags.BotID) {
					p.ownRole(g.ID, r.ID)
				}
			}
		}
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		var w wireChannel
		if p.read(ev, &w) {
			p.learn(w.GuildID, w)
		}
	case "THREAD_LIST_SYNC":
		var l struct {
			GuildID string `json:"guild_id"`
			Threads []wireChannel
		}
		if p.read(ev, &l) {
			p.learn(l.GuildID, l.Threads...)
		}
	case "CHANNEL_DELETE", "THREAD_DELETE":
		var w wireChannel
		if p.read(ev, &w) {
			p.mu.Lock()
			delete(p.known, w.ID)
			p.mu.Unlock()
		}
	}
}

// read decodes an event; one that cannot be read costs only itself.
func (p *places) read(ev discordgo.Event, into any) bool {
	if err := json.Unmarshal(ev.RawData, into); err != nil {
		p.c.log.Warn("an event cannot be read", "event", ev.Type, "err", err)
		return false
	}
	return true
}

func (p *places) learn(guild string, all ...wireChannel) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range all {
		if w.ID == "" {
			continue
		}
		if _, known := p.known[w.ID]; !known {
			p.order = append(p.order, w.ID)
		}
		p.known[w.ID] = w.where(guild)
	}
	for len(p.order) > maxPlaces {
		delete(p.known, p.order[0])
		p.order = p.order[1:]
	}
}

func (p *places) ownRole(guild, role string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.roles[guild] = append(p.roles[guild][:0:0], role) // a bot has one role of its own per server
}

// isOwnRole tells whether a mentioned role is the bot's own in the guild.
func (p *places) isOwnRole(guild, role string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.roles[guild] {
		if r == role {
			return true
		}
	}
	return false
}

// get gives what is known of a conversation without asking anybody.
func (p *places) get(id string) (where, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, ok := p.known[id]
	return w, ok
}

// look gives a conversation, asking the API when it is not known.
func (p *places) look(ctx context.Context, id string) (where, error) {
	if w, ok := p.get(id); ok {
		return w, nil
	}
	var w wireChannel
	if err := p.c.api.do(ctx, call{method: http.MethodGet, path: "channels/" + id}, &w); err != nil {
		return where{}, err
	}
	p.learn(w.GuildID, w)
	return w.where(w.GuildID), nil
}
