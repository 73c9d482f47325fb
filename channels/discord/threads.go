package discord

import (
	"context"
	"net/http"
	"strings"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
)

// opening is a thread that is not there yet: the first post in it opens it. Its
// id will be that of the message it hangs on.
type opening struct {
	parent  string
	name    string
	archive int // quiet minutes
}

// opensThread moves a message at the top of a channel with autoThread into the
// thread that its answer will open, so that what follows there meets the same
// session [D4]. Nothing is opened before something is said in it: whether the
// message is answered at all is not decided here.
func (c *Channel) opensThread(msg *channels.Inbound, w where) {
	if msg.Chat != channels.Room || msg.Bot || w.isThread() || w.isForum() {
		return
	}
	set := c.cfg.channel(msg.Guild, msg.To.Conversation)
	if !set.AutoThread {
		return
	}
	msg.Parent = msg.To.Conversation
	msg.To.Conversation = msg.ID
	c.unopened.Put(msg.ID, opening{parent: msg.Parent, name: threadName(msg.Text), archive: set.AutoArchiveDuration}, c.now())
}

// threadName is the beginning of a text, as long as a name may be (Discord: 100).
func threadName(text string) string {
	name := strings.Join(strings.Fields(text), " ")
	if r := []rune(name); len(r) > 80 {
		name = strings.TrimSpace(string(r[:79])) + "…"
	}
	if name == "" {
		return "thread"
	}
	return name
}

// opened gives the conversation itself, after its thread was opened if it is one
// that is not there yet.
func (c *Channel) opened(ctx context.Context, id string) (string, error) {
	o, waiting := c.unopened.Get(id, c.now())
	if !waiting {
		return id, nil
	}
	if err := c.open(ctx, id, o); err != nil {
		return "", repeatable(err)
	}
	c.unopened.Drop(id)
	return id, nil
}

// open opens the thread under a message; that it is there already is fine.
func (c *Channel) open(ctx context.Context, message string, o opening) error {
	body := map[string]any{"name": o.name}
	if o.archive != 0 {
		body["auto_archive_duration"] = o.archive
	}
	var w wireChannel
	err := c.api.do(ctx, call{method: http.MethodPost, path: "channels/" + o.parent + "/messages/" + message + "/threads", body: body}, &w)
	if codeOf(err) == codeThreadExists {
		return nil
	}
	if err == nil {
		c.places.learn("", w)
	}
	return err
}

// threadUnder gives the thread of an Address that names it by itself, opening it
// under the message with that id when it is not there.
func (c *Channel) threadUnder(ctx context.Context, parent, thread string) (string, error) {
	if !isSnowflake(parent) || !isSnowflake(thread) {
		return "", refused("a thread that is none: " + thread)
	}
	if _, err := c.places.look(ctx, thread); codeOf(err) == codeUnknownChannel {
		if err := c.open(ctx, thread, opening{parent: parent, name: threadName("")}); err != nil {
			return "", repeatable(err)
		}
	}
	return thread, nil
}

// reopen opens the thread of a message whose parent was forgotten in a restart:
// it is in one of the channels that have autoThread.
func (c *Channel) reopen(ctx context.Context, message string) error {
	err := error(&callError{Status: http.StatusNotFound, Code: codeUnknownChannel, Message: "Unknown Channel"})
	for _, guild := range sortedKeys(c.cfg.Guilds) {
		for _, id := range sortedKeys(c.cfg.Guilds[guild].Channels) {
			set := c.cfg.channel(guild, id)
			if !set.AutoThread || id == "*" {
				continue
			}
			var m struct{ Content string }
			if err = c.api.do(ctx, call{method: http.MethodGet, path: "channels/" + id + "/messages/" + message}, &m); err == nil {
				return c.open(ctx, message, opening{parent: id, name: threadName(m.Content), archive: set.AutoArchiveDuration})
			}
		}
	}
	return err
}

// openPost says something in a forum, which opens a post there [D5]; what
// follows goes into it.
func (c *Channel) openPost(ctx context.Context, p *progress, m outgoing) (string, error) {
	m.Reference = nil
	body := map[string]any{
		"name":    threadName(strings.TrimLeft(strings.SplitN(m.Content, "\n", 2)[0], "#> ")),
		"message": m.MessageSend,
	}
	var post struct {
		wireChannel
		Message struct{ ID string }
	}
	if err := c.api.do(ctx, call{method: http.MethodPost, path: "channels/" + p.target + "/threads", body: body}, &post); err != nil {
		return "", err
	}
	c.places.learn("", wireChannel{ID: post.ID, Type: discordgo.ChannelTypeGuildPublicThread, ParentID: p.target})
	p.target = post.ID
	if post.Message.ID != "" {
		return post.Message.ID, nil
	}
	return post.ID, nil
}
