package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
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
	for _, conversation := range sortedKeys(c.last.All(c.now())) {
		if !isSnowflake(conversation) {
			continue
		}
		in.put(ctx, conversation, func(ctx context.Context) {
			after, _ := c.last.Get(conversation, c.now())
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
		if last, _ := c.last.Get(conversation, c.now()); newer(id, last) {
			c.last.Put(conversation, id, c.now())
		}
	}
}

// page is how many messages one call reads (Discord: at most 100).
const page = 100

// readAgain takes the messages of a conversation that came after an id, at most
// CatchUp.Limit of other people's.
func (in *intake) readAgain(ctx context.Context, conversation, after string) {
	c := in.c
	for left := c.cfg.CatchUp.Limit; ; {
		raw, err := in.readPage(ctx, conversation, after)
		if err != nil {
			c.log.Warn("missed messages cannot be read", "conversation", conversation, "err", err)
			return
		}
		for i := len(raw) - 1; i >= 0; i-- { // the API gives the newest first
			m, err := decodeMessage(raw[i])
			if err != nil {
				continue
			}
			if after = m.ID; c.me(m.Author.ID) {
				continue
			}
			if left--; left < 0 {
				c.log.Warn("more was missed than is read again", "conversation", conversation, "limit", c.cfg.CatchUp.Limit)
				return
			}
			c.complete(ctx, m)
			in.take(ctx, m)
		}
		if len(raw) < page {
			return
		}
	}
}

// readPage reads the messages that came next after an id.
func (in *intake) readPage(ctx context.Context, conversation, after string) ([]json.RawMessage, error) {
	query := url.Values{"after": {after}, "limit": {strconv.Itoa(page)}}
	for try := 1; ; try++ {
		raw, err := in.c.history(ctx, conversation, query)
		if err == nil || try == tries || statusOf(err)/100 == 4 {
			return raw, err
		}
		if e := channels.Sleep(ctx, in.c.pace.retake); e != nil {
			return nil, e
		}
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
