package discord

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"
)

// catchUp reads what was said while no session was there: after a session was
// lost, in the conversations that were spoken in; at the start, in those that
// Options.Known names [IL-010, IL-264]. A session that was resumed needs none of
// it. The reading is queued in each conversation before anything that the new
// session brings, so order is kept; what was taken before is not taken twice.
func (in *intake) catchUp(ctx context.Context) {
	c := in.c
	maxAge := time.Duration(c.cfg.CatchUp.MaxAgeMinutes) * time.Minute
	if maxAge == 0 {
		return
	}
	oldest := snowflakeAt(c.now().Add(-maxAge))
	for _, conversation := range sortedKeys(c.last.all(c.now())) {
		if !isSnowflake(conversation) {
			continue
		}
		in.put(ctx, conversation, func(ctx context.Context) {
			after, _ := c.last.get(conversation, c.now())
			if newer(oldest, after) {
				after = oldest
			}
			in.readAgain(ctx, conversation, after)
		})
	}
}

// recall learns from Options.Known where to read on.
func (c *Channel) recall(ctx context.Context) {
	if c.opt.Known == nil || c.cfg.CatchUp.MaxAgeMinutes == 0 {
		return
	}
	known, err := c.opt.Known(ctx)
	if err != nil {
		c.log.Warn("it is not known where to read on", "err", err)
	}
	for conversation, id := range known {
		if last, _ := c.last.get(conversation, c.now()); newer(id, last) {
			c.last.put(conversation, id, c.now())
		}
	}
}

// readAgain takes the messages of a conversation that came after an id.
func (in *intake) readAgain(ctx context.Context, conversation, after string) {
	c := in.c
	query := url.Values{"after": {after}, "limit": {strconv.Itoa(c.cfg.CatchUp.Limit)}}
	raw, err := c.history(ctx, conversation, query)
	for try := 1; err != nil && try < tries && statusOf(err)/100 != 4; try++ {
		if sleep(ctx, c.pace.retake) != nil {
			return
		}
		raw, err = c.history(ctx, conversation, query)
	}
	if err != nil {
		c.log.Warn("missed messages cannot be read", "conversation", conversation, "err", err)
		return
	}
	for i := len(raw) - 1; i >= 0; i-- { // the API gives the newest first
		m, err := decodeMessage(raw[i])
		if err != nil || c.me(m.Author.ID) {
			continue
		}
		c.complete(ctx, m)
		in.take(ctx, m)
	}
}

// complete adds what the API leaves out and the gateway does not: the server, and
// the sender's roles in it.
func (c *Channel) complete(ctx context.Context, m *discordgo.Message) {
	w, err := c.places.look(ctx, m.ChannelID)
	if err != nil || w.guild == "" || m.GuildID != "" {
		return
	}
	m.GuildID = w.guild
	if m.WebhookID != "" {
		return
	}
	var member discordgo.Member
	if err := c.api.do(ctx, call{method: http.MethodGet, path: "guilds/" + w.guild + "/members/" + m.Author.ID}, &member); err == nil {
		m.Member = &member
	}
}
