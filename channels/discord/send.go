package discord

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
	"standin/channels/markdown"
)

// progress is how far a delivery has come. It outlives a failed Send, so that
// the next one goes on with the message that is missing.
type progress struct {
	mu     sync.Mutex // one Send or Find of a delivery at a time
	target string     // the conversation that it really goes to, once known
	texts  []string   // its messages
	ids    []string   // those of them that are posted
	bare   string     // why it goes without its files, "" it does not
	draft  string     // a draft that becomes the first of them
	taken  bool       // the draft was asked for
	reply  bool       // it answers an interaction and needs no other place
}

func (p *progress) done() bool { return len(p.ids) > 0 && len(p.ids) >= len(p.texts) }

// receipt is the first message: it carries the reference.
func (p *progress) receipt() channels.Receipt {
	if len(p.ids) == 0 {
		return channels.Receipt{}
	}
	return channels.Receipt{MessageID: p.ids[0]}
}

// progressOf finds a delivery's progress, or begins it.
func (c *Channel) progressOf(out channels.Outbound) *progress {
	fresh := &progress{}
	if out.ID == "" || c.posts.Add(out.ID, fresh, c.now()) {
		return fresh
	}
	p, ok := c.posts.Get(out.ID, c.now())
	if !ok {
		return fresh
	}
	return p
}

// Send implements channels.Channel. Each message of a delivery carries a nonce
// made of the delivery's id, which Discord holds to: a repeated one within a few
// minutes is the same message [I2]. Files go with the first message.
func (c *Channel) Send(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return channels.Receipt{}, &channels.SendError{Outcome: channels.NotSent, Err: context.Cause(ctx)}
	}
	if out.To.Channel != Name {
		return channels.Receipt{}, refused("there is no channel " + out.To.Channel + " here")
	}
	p := c.progressOf(out)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done() {
		return p.receipt(), nil
	}
	if p.bare != "" {
		out = channels.WithoutFiles(out, p.bare)
	}
	err := c.sendAll(ctx, out, p)
	if why := unfit(err); why != "" && len(out.Files) > 0 && len(p.ids) == 0 {
		c.log.Warn("files are not sent", "conversation", out.To.Conversation, "delivery", out.ID, "why", why)
		p.texts, p.bare = nil, why
		err = c.sendAll(ctx, channels.WithoutFiles(out, why), p)
	}
	if err != nil {
		var se *channels.SendError
		if !errors.As(err, &se) {
			err = sendError(err)
		}
		if channels.OutcomeOf(err) == channels.Refused {
			c.drafts.became(ctx, out.ID, "")
		}
		return channels.Receipt{}, err
	}
	return p.receipt(), nil
}

// sendAll posts what is missing of a delivery, by the way that it goes.
func (c *Channel) sendAll(ctx context.Context, out channels.Outbound, p *progress) error {
	if p.texts == nil {
		if p.texts = c.texts(out); len(p.texts) == 0 {
			return refused("an empty message")
		}
	}
	if it := c.interactionOf(out); it != nil && len(out.Files) == 0 && (p.reply || len(p.ids) == 0) {
		p.reply = true
		return c.respond(ctx, it, out, p)
	}
	return c.postAll(ctx, out, p)
}

// texts are the messages of a delivery; one with files may have no text.
func (c *Channel) texts(out channels.Outbound) []string {
	texts := c.split(out.Text)
	if len(texts) == 0 && len(out.Files) > 0 {
		return []string{""}
	}
	return texts
}

// split cuts a text into Discord's messages [D10, D12, D13].
func (c *Channel) split(text string) []string {
	limit := markdown.Limit{Max: c.cfg.TextChunkLimit, Count: markdown.UTF16, Lines: c.cfg.MaxLinesPerMessage}
	text = markdown.Tables(text, c.cfg.Markdown.Tables)
	if c.cfg.ChunkMode != chunkNewline {
		return markdown.Split(text, limit)
	}
	var all []string
	for _, paragraph := range markdown.Paragraphs(text) {
		all = append(all, markdown.Split(paragraph, limit)...)
	}
	return all
}

// postAll posts what is missing of a delivery.
func (c *Channel) postAll(ctx context.Context, out channels.Outbound, p *progress) error {
	if p.target == "" {
		target, err := c.target(ctx, out)
		if err != nil {
			return err
		}
		p.target = target
	}
	if !p.taken {
		p.taken = true
		p.draft = c.drafts.settle(ctx, out, len(out.Files) == 0 && p.target == out.To.Conversation)
	}
	for len(p.ids) < len(p.texts) {
		i := len(p.ids)
		if id, known := c.echoes.Get(nonce(out.ID, i), c.now()); known && out.ID != "" {
			p.ids = append(p.ids, id) // the gateway told what the answer of an earlier try did not
			continue
		}
		var attached []channels.File
		if i == 0 {
			attached = out.Files
		}
		id, err := c.postOne(ctx, out, p, i, attached)
		if err != nil {
			return err
		}
		p.ids = append(p.ids, id)
		c.claim(id, out.ID)
		c.stands(p.target, id)
	}
	c.drafts.became(ctx, out.ID, p.ids[0])
	c.stopThinking(ctx, out)
	return nil
}

// stands notes that a message stands in a conversation, so that no draft above
// it becomes an answer that came later [N31].
func (c *Channel) stands(conversation, id string) {
	if last, _ := c.latest.Get(conversation, c.now()); newer(id, last) {
		c.latest.Put(conversation, id, c.now())
	}
}

// outgoing is a message as the API takes it; discordgo lacks the nonce.
type outgoing struct {
	*discordgo.MessageSend
	Nonce        string `json:"nonce,omitempty"`
	EnforceNonce bool   `json:"enforce_nonce,omitempty"`
}

// nonceSize is the most characters of a nonce (Discord).
const nonceSize = 25

// nonce names message i of a delivery.
func nonce(delivery string, i int) string {
	tail := "." + strconv.Itoa(i)
	if len(delivery)+len(tail) > nonceSize {
		sum := sha256.Sum256([]byte(delivery))
		delivery = strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))[:nonceSize-len(tail)]
	}
	return delivery + tail
}

// compose makes message i of a delivery.
func (c *Channel) compose(out channels.Outbound, p *progress, i int) outgoing {
	m := &discordgo.MessageSend{
		Content: p.texts[i], Embeds: []*discordgo.MessageEmbed{}, Components: []discordgo.MessageComponent{},
		StickerIDs: []string{}, AllowedMentions: mentionsOf(out.Kind),
	}
	if c.cfg.SuppressEmbeds {
		m.Flags |= discordgo.MessageFlagsSuppressEmbeds
	}
	if out.Kind == channels.Notice {
		m.Flags |= discordgo.MessageFlagsSuppressNotifications // it is for those who look, not worth a ping
	}
	if c.refers(out, p, i) {
		gone := false
		m.Reference = &discordgo.MessageReference{MessageID: out.ReplyTo, ChannelID: p.target, FailIfNotExists: &gone} // [D11]
	}
	if i == len(p.texts)-1 {
		m.Components = append(m.Components, c.components(out)...)
	}
	send := outgoing{MessageSend: m}
	if out.ID != "" {
		send.Nonce, send.EnforceNonce = nonce(out.ID, i), true
	}
	return send
}

// refers tells whether message i of a delivery refers to what it answers: the
// first one does, in mode all each [D11]. What begins a thread is above it anyway.
func (c *Channel) refers(out channels.Outbound, p *progress, i int) bool {
	if i > 0 && c.cfg.ReplyToMode != channels.ReplyAll {
		return false
	}
	return p.target == out.To.Conversation && c.reference(p.target, out.ReplyTo) != ""
}

// mentionsOf lets a message ping the people it names and whom it answers, never
// everyone and never a role; an operational message pings nobody [D13].
func mentionsOf(k channels.Kind) *discordgo.MessageAllowedMentions {
	if k == channels.Notice {
		return &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}}
	}
	return &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{discordgo.AllowedMentionTypeUsers}, RepliedUser: true}
}

// postOne posts message i and gives its id. What Discord objects to and can be
// mended is mended once: a thread that is archived or not there yet, a forum, a
// reference to what is gone.
func (c *Channel) postOne(ctx context.Context, out channels.Outbound, p *progress, i int, files []channels.File) (string, error) {
	if i == 0 && p.draft != "" {
		id, err := c.adopt(ctx, out, p)
		if codeOf(err) != codeUnknownMessage {
			return id, err
		}
		p.draft = ""
	}
	m := c.compose(out, p, i)
	var mended []int
	for {
		if i == 0 {
			if w, ok := c.places.get(p.target); ok && w.isForum() {
				return c.openPost(ctx, p, m)
			}
		}
		id, err := c.create(ctx, p.target, m, files)
		code := codeOf(err)
		if err == nil || slices.Contains(mended, code) {
			return id, err
		}
		mended = append(mended, code)
		ce := &callError{}
		errors.As(err, &ce)
		switch {
		case code == codeArchived:
			if e := c.api.do(ctx, call{method: http.MethodPatch, path: "channels/" + p.target, body: map[string]any{"archived": false}}, nil); e != nil {
				return "", err
			}
		case code == codeNotText:
			if w, e := c.places.look(ctx, p.target); e != nil || !w.isForum() {
				return "", err
			}
		case code == codeUnknownChannel && out.ReplyTo == p.target:
			if e := c.reopen(ctx, p.target); e != nil {
				return "", err
			}
		case m.Reference != nil && (code == codeNoHistory || code == codeInvalidForm && strings.HasPrefix(ce.Field, "message_reference")):
			m.Reference = nil
		default:
			return "", err
		}
	}
}

// create posts a message.
func (c *Channel) create(ctx context.Context, conversation string, m outgoing, files []channels.File) (string, error) {
	attached, err := c.attach(ctx, files)
	if err != nil {
		return "", err
	}
	var posted struct{ ID string }
	err = c.api.do(ctx, call{method: http.MethodPost, path: "channels/" + conversation + "/messages", body: m, files: attached}, &posted)
	if err == nil && posted.ID == "" {
		err = &callError{Status: http.StatusOK, Message: "an answer without an id", Reached: true}
	}
	return posted.ID, err
}

// adopt turns the draft into the first message. An edit can be repeated without
// harm, so one whose answer was lost was simply not made.
func (c *Channel) adopt(ctx context.Context, out channels.Outbound, p *progress) (string, error) {
	m := c.compose(out, p, 0)
	body := map[string]any{"content": m.Content, "components": m.Components, "allowed_mentions": m.AllowedMentions}
	err := c.api.do(ctx, call{method: http.MethodPatch, path: "channels/" + p.target + "/messages/" + p.draft, body: body}, nil)
	return p.draft, repeatable(err)
}

// repeatable turns "unknown" into "not sent" for calls that may simply be made again.
func repeatable(err error) error {
	if err == nil {
		return nil
	}
	var se *channels.SendError
	if errors.As(sendError(err), &se) && se.Outcome == channels.Unknown {
		return &channels.SendError{Outcome: channels.NotSent, RetryAfter: se.RetryAfter, Err: se.Err}
	}
	return err
}

// target gives the conversation that a delivery goes to. A conversation may be
// written as channel:<id>, or as user:<id>, which is that person's direct chat
// [IL-018]. What only one person may see and no interaction can carry goes to
// that person's direct chat.
func (c *Channel) target(ctx context.Context, out channels.Outbound) (string, error) {
	kind, id, typed := strings.Cut(out.To.Conversation, ":")
	if !typed {
		kind, id = "channel", out.To.Conversation
	}
	if out.Only != "" && isSnowflake(out.Only) && !c.isDirect(ctx, id) {
		kind, id = "user", out.Only
	} else if out.To.Thread != "" {
		return c.threadUnder(ctx, id, out.To.Thread)
	}
	switch {
	case !isSnowflake(id):
		return "", refused("a conversation that is none: " + out.To.Conversation)
	case kind == "channel":
		return c.opened(ctx, id)
	case kind == "user":
		return c.directChat(ctx, id)
	}
	return "", refused("a conversation of an unknown kind: " + kind)
}

func (c *Channel) isDirect(ctx context.Context, id string) bool {
	w, err := c.places.look(ctx, id)
	return err == nil && w.kind == discordgo.ChannelTypeDM
}

// directChat opens a person's direct chat; opening it again gives the same one.
func (c *Channel) directChat(ctx context.Context, user string) (string, error) {
	var w wireChannel
	if err := c.api.do(ctx, call{method: http.MethodPost, path: "users/@me/channels", body: map[string]any{"recipient_id": user}}, &w); err != nil {
		return "", repeatable(err)
	}
	c.places.learn("", w)
	return w.ID, nil
}
