package discordtest

import (
	"regexp"
	"strings"
	"time"
)

var mention = regexp.MustCompile(`<@!?(\d+)>`)
var roleMention = regexp.MustCompile(`<@&(\d+)>`)

// messageLocked writes a message as the wire has it; whose intents lack message
// contents sees only what is for it.
func (s *Server) messageLocked(m *Message, intents int, event bool) map[string]any {
	mentions, named := []any{}, false
	add := func(id string) {
		if u := s.users[id]; u != nil {
			mentions = append(mentions, u.wire())
			named = named || id == s.Bot.ID
		}
	}
	for _, f := range mention.FindAllStringSubmatch(m.Content, -1) {
		add(f[1])
	}
	roles := []any{}
	for _, f := range roleMention.FindAllStringSubmatch(m.Content, -1) {
		roles = append(roles, f[1])
	}
	w := map[string]any{
		"id": m.ID, "channel_id": m.Channel, "author": m.Author.wire(), "content": m.Content,
		"timestamp": idTime(m.ID).Format(time.RFC3339Nano), "edited_timestamp": nil, "tts": false,
		"mention_everyone": strings.Contains(m.Content, "@everyone"), "mention_roles": roles,
		"embeds": []any{}, "pinned": false, "type": m.Type, "flags": m.Flags, "components": []any{}, "attachments": []any{},
	}
	if m.webhook {
		w["webhook_id"] = m.Author.ID
	}
	if m.Reference != "" {
		w["message_reference"] = map[string]any{"message_id": m.Reference, "channel_id": m.Channel, "guild_id": m.Guild, "type": 0}
		if to := s.findLocked(m.Channel, m.Reference); to != nil {
			ref := *to
			ref.Reference = ""
			w["referenced_message"] = s.messageLocked(&ref, intents, false)
			if !strings.Contains(m.Content, to.Author.Mention()) {
				add(to.Author.ID)
			}
		} else {
			w["referenced_message"] = nil
		}
	}
	w["mentions"] = mentions
	var files []any
	for _, f := range m.Files {
		files = append(files, map[string]any{"id": f.ID, "filename": f.Name, "content_type": f.Type, "size": f.Size, "url": f.URL, "proxy_url": f.URL})
	}
	if files != nil {
		w["attachments"] = files
	}
	if m.Components != nil {
		w["components"] = m.Components
	}
	if m.Edits > 0 {
		w["edited_timestamp"] = s.opt.Now().UTC().Format(time.RFC3339Nano)
	}
	if event {
		if c := s.channels[m.Channel]; c != nil {
			w["channel_type"] = c.Type
		}
		if m.Nonce != "" && m.Author.ID == s.Bot.ID {
			w["nonce"] = m.Nonce
		}
		if m.Guild != "" {
			w["guild_id"] = m.Guild
			w["member"] = s.memberLocked(m.Author.ID)
		}
	}
	if intents&intentMessageContent == 0 && m.Guild != "" && m.Author.ID != s.Bot.ID && !named {
		w["content"], w["embeds"], w["attachments"], w["components"] = "", []any{}, []any{}, []any{}
	}
	for k, v := range m.extra {
		w[k] = v
	}
	return w
}

func (u User) wire() map[string]any {
	return map[string]any{"id": u.ID, "username": u.Name, "discriminator": "0", "global_name": u.Name, "avatar": nil, "bot": u.IsBot}
}

func (s *Server) memberLocked(user string) map[string]any {
	roles := []string{}
	if u := s.users[user]; u != nil {
		roles = append(roles, u.Roles...)
	}
	return map[string]any{"roles": roles, "joined_at": "2020-01-01T00:00:00Z", "deaf": false, "mute": false, "flags": 0, "nick": nil}
}

func (c *Channel) wire() map[string]any {
	w := map[string]any{"id": c.ID, "type": c.Type, "name": c.Name, "flags": 0}
	if c.Guild != "" {
		w["guild_id"], w["parent_id"], w["position"], w["permission_overwrites"] = c.Guild, nil, 0, []any{}
	}
	if c.Parent != "" {
		w["parent_id"], w["owner_id"] = c.Parent, c.Owner
		w["thread_metadata"] = map[string]any{"archived": c.Archived, "locked": false, "auto_archive_duration": 60, "archive_timestamp": idTime(c.ID).Format(time.RFC3339)}
		w["message_count"], w["member_count"] = 0, 1
	}
	if c.Guild == "" {
		var with []any
		for _, id := range c.With {
			with = append(with, c.s.users[id].wire())
		}
		w["recipients"] = with
		w["last_message_id"] = nil
		delete(w, "name")
	}
	return w
}

func (s *Server) guildLocked(g *Guild) map[string]any {
	rooms, threads := []any{}, []any{}
	for _, c := range s.channels {
		switch {
		case c.Guild != g.ID:
		case c.Type == TypeThread:
			threads = append(threads, c.wire())
		default:
			rooms = append(rooms, c.wire())
		}
	}
	role := func(id, name string, tags map[string]any) map[string]any {
		return map[string]any{"id": id, "name": name, "permissions": "0", "position": 0, "color": 0, "hoist": false, "managed": tags != nil, "mentionable": false, "flags": 0, "tags": tags}
	}
	everyone := role(g.ID, "@everyone", nil)
	delete(everyone, "tags")
	return map[string]any{
		"id": g.ID, "name": g.Name, "owner_id": "1", "unavailable": false, "large": false, "member_count": len(s.users),
		"channels": rooms, "threads": threads, "members": []any{}, "emojis": []any{}, "features": []any{}, "stickers": []any{},
		"presences": []any{}, "voice_states": []any{}, "stage_instances": []any{}, "guild_scheduled_events": []any{},
		"roles":     []any{everyone, role(g.BotRole, s.Bot.Name, map[string]any{"bot_id": s.Bot.ID})},
		"joined_at": "2020-01-01T00:00:00Z", "afk_timeout": 300, "verification_level": 0, "default_message_notifications": 0,
		"explicit_content_filter": 0, "mfa_level": 0, "system_channel_flags": 0, "premium_tier": 0, "preferred_locale": "en-US",
		"nsfw_level": 0, "premium_progress_bar_enabled": false, "icon": nil, "splash": nil,
	}
}
