package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
)

// interaction is a slash command or a click that waits for its answer. Its token
// is good for a quarter of an hour.
type interaction struct {
	id, token, application string
	message                string // the message with the menu that was used, "" for a command
	private                bool   // its answer is seen by the asker alone

	told   chan struct{} // closed once Discord knows that it was seen
	failed bool          // it could not be told; set before told is closed
	used   bool          // its first answer is given; guarded by the order of an address's sends
}

// wireInteraction is what is read of an interaction. discordgo's own type fails
// as a whole on a kind it does not know.
type wireInteraction struct {
	ID          string
	Application string `json:"application_id"`
	Type        discordgo.InteractionType
	Token       string
	ChannelID   string `json:"channel_id"`
	GuildID     string `json:"guild_id"`
	Channel     *wireChannel
	Member      *struct {
		Nick  string
		Roles []string
		User  *discordgo.User
	}
	User *discordgo.User
	Data struct {
		Name     string
		Options  []wireOption
		CustomID string `json:"custom_id"`
		Values   []string
	}
	Message *struct {
		ID    string
		Flags discordgo.MessageFlags
	}
}

type wireOption struct {
	Name    string
	Value   any
	Options []wireOption
}

func (w *wireInteraction) author() *discordgo.User {
	if w.Member != nil && w.Member.User != nil {
		return w.Member.User
	}
	return w.User
}

// What people read of the adapter itself. Everything else that is read comes
// from package bot.
const (
	sayNotYours = "This menu belongs to somebody else."
	sayExpired  = "This menu has expired. Ask for it again."
	sayLost     = "This could not be taken. Try again."
)

// menuLife is how long a menu can be used [D17].
const menuLife = 30 * time.Minute

// interaction takes an INTERACTION_CREATE off the gateway: Discord is told at
// once, beside everything else, that it was seen, for it waits three seconds
// only; what it says is handed over in its conversation's order [D16].
func (in *intake) interaction(ctx context.Context, raw json.RawMessage) {
	c := in.c
	var w wireInteraction
	if err := json.Unmarshal(raw, &w); err != nil || w.ID == "" || w.Token == "" || w.ChannelID == "" || w.author() == nil {
		c.log.Warn("an interaction cannot be read", "err", err)
		return
	}
	if w.Channel != nil && w.Channel.ID == w.ChannelID {
		c.places.learn(w.GuildID, *w.Channel)
	}
	it := &interaction{id: w.ID, token: w.Token, application: w.Application, private: c.cfg.EphemeralCommands, told: make(chan struct{})}
	var text string
	switch w.Type {
	case discordgo.InteractionApplicationCommand:
		text = commandText(w.Data.Name, w.Data.Options)
	case discordgo.InteractionMessageComponent:
		if w.Message == nil {
			return
		}
		it.message, it.private = w.Message.ID, w.Message.Flags&discordgo.MessageFlagsEphemeral != 0
		var refusal string
		if text, refusal = c.chosen(&w); refusal != "" {
			in.beside(ctx, func(ctx context.Context) { c.tellAlone(ctx, it, refusal) })
			return
		}
	}
	if text == "" || !c.seen.Add(w.ID, struct{}{}, c.now()) {
		return
	}
	c.asked.Put(w.ID, it, c.now())
	in.beside(ctx, func(ctx context.Context) { c.acknowledge(ctx, it) })
	in.put(ctx, w.ChannelID, func(ctx context.Context) {
		if !in.handOver(ctx, c.command(ctx, &w, text)) {
			c.seen.Drop(w.ID)
			<-it.told
			_ = c.editOriginal(context.WithoutCancel(ctx), it, map[string]any{"content": sayLost})
		}
	})
}

// command reads the facts of an interaction.
func (c *Channel) command(ctx context.Context, w *wireInteraction, text string) channels.Inbound {
	msg := channels.Inbound{
		ID: w.ID, To: c.address(w.ChannelID), Chat: channels.Room, From: userOf(w.author(), nil), Text: text,
		Mentioned: true, Command: true, Public: w.Message == nil && !c.cfg.EphemeralCommands, Guild: w.GuildID, At: timeOf(w.ID), Bot: w.author().Bot,
	}
	if msg.At.IsZero() {
		msg.At = c.now()
	}
	if w.Member != nil {
		msg.Roles = w.Member.Roles
		if w.Member.Nick != "" {
			msg.From.Name = w.Member.Nick
		}
	}
	place, err := c.places.look(ctx, w.ChannelID)
	msg.Parent = place.parent
	if w.GuildID == "" {
		msg.Chat = channels.Direct
		if err == nil && place.kind == discordgo.ChannelTypeGroupDM {
			msg.Chat = channels.Group
		}
	}
	return msg
}

// commandText writes a slash command as it would be typed.
func commandText(name string, options []wireOption) string {
	words := []string{"/" + name}
	for len(options) > 0 {
		next := options[0].Options // of a sub-command
		for _, o := range options {
			if o.Value == nil {
				words = append(words, o.Name)
			} else if s := strings.TrimSpace(fmt.Sprint(o.Value)); s != "" {
				words = append(words, s)
			}
		}
		options = next
	}
	return strings.Join(words, " ")
}

// callback answers an interaction itself, which can be done once.
func (c *Channel) callback(ctx context.Context, it *interaction, kind discordgo.InteractionResponseType, data map[string]any) error {
	body := map[string]any{"type": kind}
	if data != nil {
		body["data"] = data
	}
	err := c.api.do(ctx, call{method: http.MethodPost, path: "interactions/" + it.id + "/" + it.token + "/callback", body: body, free: true}, nil)
	if codeOf(err) == codeAcknowledged {
		return nil // by an earlier try whose answer was lost
	}
	return err
}

// acknowledge tells Discord that the answer will come.
func (c *Channel) acknowledge(ctx context.Context, it *interaction) {
	defer close(it.told)
	kind, data := discordgo.InteractionResponseDeferredChannelMessageWithSource, map[string]any{}
	if it.private {
		data["flags"] = discordgo.MessageFlagsEphemeral
	}
	if it.message != "" {
		kind, data = discordgo.InteractionResponseDeferredMessageUpdate, nil
	}
	err := c.callback(ctx, it, kind, data)
	if statusOf(err)/100 == 5 || err != nil && statusOf(err) == 0 && ctx.Err() == nil {
		err = c.callback(ctx, it, kind, data)
	}
	if err != nil {
		it.failed = true // it will be answered in the conversation
		c.log.Warn("an interaction could not be acknowledged", "interaction", it.id, "err", err)
	}
}

// tellAlone answers an interaction with words for the asker alone.
func (c *Channel) tellAlone(ctx context.Context, it *interaction, text string) {
	err := c.callback(ctx, it, discordgo.InteractionResponseChannelMessageWithSource, map[string]any{
		"content": text, "flags": discordgo.MessageFlagsEphemeral, "allowed_mentions": mentionsOf(channels.Notice),
	})
	if err != nil {
		c.log.Warn("an interaction could not be answered", "interaction", it.id, "err", err)
	}
}

// interactionOf gives the interaction that a delivery answers. Only the answer of
// a command goes back the way it came; what a turn says is said in the room.
func (c *Channel) interactionOf(out channels.Outbound) *interaction {
	it, ok := c.asked.Get(out.ReplyTo, c.now())
	if !ok || out.Kind != channels.Command && out.Kind != channels.Failure {
		return nil
	}
	return it
}

// respond answers an interaction: the first message takes the place of Discord's
// "is thinking", or of the menu that was used; further ones follow it. When the
// interaction can no longer be answered, the conversation gets the answer.
func (c *Channel) respond(ctx context.Context, it *interaction, out channels.Outbound, p *progress) error {
	select {
	case <-it.told:
	case <-ctx.Done():
		return &channels.SendError{Outcome: channels.NotSent, Err: context.Cause(ctx)}
	}
	hidden := out.Only != "" && !it.private // the place that is shown to all is not the one
	if it.failed {
		p.reply = false
		return c.postAll(ctx, out, p)
	}
	if hidden && !it.used && it.message == "" {
		_ = c.dropOriginal(ctx, it)
		it.used = true
	}
	for len(p.ids) < len(p.texts) {
		i := len(p.ids)
		body := map[string]any{"content": p.texts[i], "allowed_mentions": mentionsOf(out.Kind), "components": []discordgo.MessageComponent{}}
		if i == len(p.texts)-1 {
			body["components"] = append([]discordgo.MessageComponent{}, c.components(out)...)
		}
		var err error
		id := it.id
		if i == 0 && !it.used && !hidden {
			err = repeatable(c.editOriginal(ctx, it, body))
		} else {
			id, err = c.followUp(ctx, it, body, it.private || hidden)
		}
		if gone(err) && i == 0 {
			it.failed, p.reply = true, false
			return c.postAll(ctx, out, p)
		}
		if err != nil {
			return err
		}
		it.used = true
		p.ids = append(p.ids, id)
	}
	return nil
}

// stopThinking takes Discord's "is thinking" away from a command whose turn was
// answered in the room.
func (c *Channel) stopThinking(ctx context.Context, out channels.Outbound) {
	it, ok := c.asked.Get(out.ReplyTo, c.now())
	if !ok || out.Kind != channels.Reply || it.message != "" {
		return
	}
	select {
	case <-it.told:
	case <-ctx.Done():
		return
	}
	if it.failed || it.used {
		return
	}
	it.used = true
	if err := c.dropOriginal(ctx, it); err != nil {
		c.log.Debug("a command goes on thinking", "interaction", it.id, "err", err)
	}
}

// gone tells whether an interaction cannot be answered any more.
func gone(err error) bool {
	switch codeOf(err) {
	case codeUnknownAction, codeUnknownHook, codeUnknownMessage, 50027:
		return true
	}
	return false
}

func (c *Channel) hook(it *interaction) string { return "webhooks/" + it.application + "/" + it.token }

func (c *Channel) editOriginal(ctx context.Context, it *interaction, body any) error {
	return c.api.do(ctx, call{method: http.MethodPatch, path: c.hook(it) + "/messages/@original", body: body, free: true}, nil)
}

func (c *Channel) dropOriginal(ctx context.Context, it *interaction) error {
	return c.api.do(ctx, call{method: http.MethodDelete, path: c.hook(it) + "/messages/@original", free: true}, nil)
}

func (c *Channel) followUp(ctx context.Context, it *interaction, body map[string]any, private bool) (string, error) {
	if private {
		body["flags"] = discordgo.MessageFlagsEphemeral
	}
	var m struct{ ID string }
	err := c.api.do(ctx, call{method: http.MethodPost, path: c.hook(it), body: body, free: true}, &m)
	return m.ID, err
}
