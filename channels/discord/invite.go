package discord

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
)

// permissions are what the bot needs in a server [D1], and threads to open them [D4].
const permissions = discordgo.PermissionViewChannel | discordgo.PermissionSendMessages | discordgo.PermissionSendMessagesInThreads |
	discordgo.PermissionCreatePublicThreads | discordgo.PermissionReadMessageHistory | discordgo.PermissionEmbedLinks |
	discordgo.PermissionAttachFiles | discordgo.PermissionAddReactions

// Invite gives the address at which a server's owner lets the bot in, with the
// permissions and the slash commands that it needs.
func Invite(appID string) string {
	q := url.Values{
		"client_id":   {appID},
		"permissions": {strconv.FormatInt(permissions, 10)},
		"scope":       {"bot applications.commands"},
	}
	return "https://discord.com/oauth2/authorize?" + q.Encode()
}

// Finding is something that Check found. One without Mend is a fact, for people.
type Finding struct {
	What string // in a few words
	Mend string // what to do, "" nothing
}

// flags of an application that tell which privileged intents are switched on; in
// a few servers (limited) or after verification.
const (
	flagPresence       = 1<<12 | 1<<13
	flagMembers        = 1<<14 | 1<<15
	flagMessageContent = 1<<18 | 1<<19
)

// Check looks at the bot's account without connecting: whether the token is
// good, which bot it is, whether its intents are switched on, whether a new
// session is allowed, and which servers it is in. It changes nothing and posts
// nothing.
func Check(ctx context.Context, o Options) []Finding {
	c, err := New(o)
	if err != nil {
		return []Finding{{What: err.Error(), Mend: "mend channels.discord"}}
	}
	var me struct{ ID, Username string }
	if err := c.api.do(ctx, call{method: http.MethodGet, path: "users/@me"}, &me); err != nil {
		if statusOf(err) == http.StatusUnauthorized {
			return []Finding{{What: closings[4004].why, Mend: closings[4004].mend}}
		}
		return []Finding{{What: "Discord cannot be reached: " + err.Error(), Mend: "look at the network and at channels.discord.apiUrl"}}
	}
	found := []Finding{{What: "bot " + me.Username + " (" + me.ID + ")"}}
	var app struct {
		ID    string
		Flags int64
	}
	if err := c.api.do(ctx, call{method: http.MethodGet, path: "applications/@me"}, &app); err == nil {
		found = append(found, c.checkIntents(app.Flags)...)
		found = append(found, Finding{What: "invite it with " + Invite(app.ID)})
	}
	var bot discordgo.GatewayBotResponse
	if err := c.api.do(ctx, call{method: http.MethodGet, path: "gateway/bot"}, &bot); err == nil {
		if l := bot.SessionStartLimit; l.Total > 0 && l.Remaining == 0 {
			found = append(found, Finding{What: "no new session is allowed today", Mend: "wait, and look for what connects so often"})
		}
		if bot.Shards > 1 {
			found = append(found, Finding{What: closings[4011].why, Mend: closings[4011].mend})
		}
	}
	var guilds []struct{ ID, Name string }
	if err := c.api.do(ctx, call{method: http.MethodGet, path: "users/@me/guilds"}, &guilds); err == nil {
		found = append(found, c.checkGuilds(guilds)...)
	}
	return found
}

func (c *Channel) checkIntents(flags int64) []Finding {
	var found []Finding
	for _, i := range []struct {
		wanted bool
		flag   int64
		name   string
	}{
		{c.cfg.Intents.MessageContent, flagMessageContent, "Message Content Intent"},
		{c.cfg.Intents.Members, flagMembers, "Server Members Intent"},
		{c.cfg.Intents.Presences, flagPresence, "Presence Intent"},
	} {
		if i.wanted && flags&i.flag == 0 {
			found = append(found, Finding{What: i.name + " is not switched on", Mend: "switch it on in Discord's developer portal, page Bot"})
		}
	}
	return found
}

func (c *Channel) checkGuilds(in []struct{ ID, Name string }) []Finding {
	found := []Finding{}
	there := map[string]bool{}
	for _, g := range in {
		there[g.ID] = true
		found = append(found, Finding{What: "in server " + g.Name + " (" + g.ID + ")"})
	}
	for _, id := range sortedKeys(c.cfg.Guilds) {
		if id != "*" && !there[id] {
			found = append(found, Finding{What: "not in server " + id + ", which guilds names", Mend: "invite the bot, or take the server out"})
		}
	}
	return found
}

var (
	_ channels.Channel  = (*Channel)(nil)
	_ channels.Finder   = (*Channel)(nil)
	_ channels.Drafter  = (*Channel)(nil)
	_ channels.Reporter = (*Channel)(nil)
)
