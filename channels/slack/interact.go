package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	slackapi "github.com/slack-go/slack"

	"standin/channels"
)

const (
	choiceAction = "standin:choice:" // begins the action ids of our buttons and menus
	choiceBlock  = "standin:for:"    // begins the block id; behind it, who may use it

	maxButtons = 5   // more choices make a menu [SL28]
	maxMenus   = 5   // of maxChoices each, in one message
	maxLabel   = 75  // characters of a button or an option (Slack)
	maxValue   = 150 // characters of an option's value (Slack)
)

// choiceBlocks offers the choices of a message: up to five as buttons, more as
// menus. The block says whom they are for [D17]; what is chosen travels in the
// value, so that it works after a restart too.
func choiceBlocks(out channels.Outbound) []slackapi.Block {
	var usable []channels.Choice
	for _, ch := range out.Choices {
		if ch.Text != "" && len([]rune(ch.Text)) <= maxValue {
			usable = append(usable, ch)
		}
	}
	if len(usable) == 0 {
		return nil
	}
	label := func(ch channels.Choice) *slackapi.TextBlockObject {
		l := ch.Label
		if l == "" {
			l = ch.Text
		}
		if r := []rune(l); len(r) > maxLabel {
			l = string(r[:maxLabel-1]) + "…"
		}
		return slackapi.NewTextBlockObject(slackapi.PlainTextType, l, false, false)
	}
	var elements []slackapi.BlockElement
	if len(usable) <= maxButtons {
		for i, ch := range usable {
			elements = append(elements, slackapi.NewButtonBlockElement(fmt.Sprint(choiceAction, i), ch.Text, label(ch)))
		}
	}
	for i := 0; len(usable) > maxButtons && i*maxChoices < len(usable) && i < maxMenus; i++ {
		var options []*slackapi.OptionBlockObject
		for _, ch := range usable[i*maxChoices : min((i+1)*maxChoices, len(usable))] {
			options = append(options, slackapi.NewOptionBlockObject(ch.Text, label(ch), nil))
		}
		hint := slackapi.NewTextBlockObject(slackapi.PlainTextType, "Choose…", false, false)
		elements = append(elements, slackapi.NewOptionsSelectBlockElement(slackapi.OptTypeStatic, hint, fmt.Sprint(choiceAction, i), options...))
	}
	return []slackapi.Block{slackapi.NewActionBlock(choiceBlock+out.For, elements...)}
}

// action is what is used of an interactive payload.
type action struct {
	Type      string `json:"type"`
	App       string `json:"api_app_id"`
	Response  string `json:"response_url"`
	Team      struct{ ID string }
	Channel   struct{ ID, Name string }
	User      struct{ ID, Name, Username string }
	Container struct {
		Channel string `json:"channel_id"`
		Message string `json:"message_ts"`
		Thread  string `json:"thread_ts"`
	}
	Message struct {
		Thread string `json:"thread_ts"`
	}
	Actions []struct {
		ID       string `json:"action_id"`
		Block    string `json:"block_id"`
		At       string `json:"action_ts"`
		Value    string
		Selected struct{ Value string } `json:"selected_option"`
	}
}

// sortAction reads a use of our buttons and menus as the command that it
// stands for.
func (c *Channel) sortAction(d delivery) (lane string, work func(context.Context, channels.Receiver)) {
	var a action
	if json.Unmarshal(d.payload, &a) != nil || a.Type != "block_actions" || len(a.Actions) == 0 || a.User.ID == "" {
		return "", nil
	}
	use := a.Actions[0]
	if !strings.HasPrefix(use.ID, choiceAction) || !c.isOurs(outer{App: a.App, Team: a.Team.ID}) {
		return "", nil
	}
	text := use.Value
	if text == "" {
		text = use.Selected.Value
	}
	owner, ours := strings.CutPrefix(use.Block, choiceBlock)
	conversation := a.Channel.ID
	if conversation == "" {
		conversation = a.Container.Channel
	}
	if !ours || text == "" || conversation == "" {
		return "", nil
	}
	thread := a.Container.Thread
	if thread == "" {
		thread = a.Message.Thread
	}
	id := "action:" + use.At + ":" + a.User.ID + ":" + a.Container.Message
	return conversation, func(ctx context.Context, receive channels.Receiver) {
		if owner != "" && owner != a.User.ID {
			d.ack()
			c.deny(ctx, conversation, a.Response)
			return
		}
		c.command(ctx, receive, d, channels.Inbound{
			ID: id, Text: text, Chat: c.chatType(ctx, conversation, ""),
			To:   channels.Address{Channel: Name, Account: c.opt.Account, Conversation: conversation, Thread: thread},
			From: channels.User{ID: a.User.ID, Name: a.User.Username},
		}, a.Response)
	}
}

// deny tells a person, and nobody else, that a menu belongs to another.
func (c *Channel) deny(ctx context.Context, conversation, reply string) {
	if !safeURL(reply) {
		return
	}
	err := c.writing(ctx, func(ctx context.Context) error {
		_, _, _, err := c.api.SendMessageContext(ctx, conversation, slackapi.MsgOptionText("Only the person who asked for this can use it.", false),
			slackapi.MsgOptionResponseURL(reply, slackapi.ResponseTypeEphemeral))
		return err
	})
	if err != nil {
		c.log.Debug("denial not posted", "err", err)
	}
}

// sortSlash reads a slash command. The one command of slashCommand.name takes
// anything as its text; any other is the command of that name [SL28]. Slack
// keeps /status for itself, so /agentstatus stands for it.
func (c *Channel) sortSlash(d delivery) (lane string, work func(context.Context, channels.Receiver)) {
	var s slackapi.SlashCommand
	if json.Unmarshal(d.payload, &s) != nil || s.UserID == "" || s.ChannelID == "" || s.TriggerID == "" {
		c.log.Warn("slack sent a command that cannot be read")
		return "", nil
	}
	if !c.isOurs(outer{App: s.APIAppID, Team: s.TeamID, Enterprise: s.EnterpriseID}) {
		return "", nil
	}
	text := strings.TrimSpace(s.Text)
	switch name := strings.TrimPrefix(s.Command, "/"); {
	case name == c.cfg.SlashCommand.Name:
		if !c.cfg.SlashCommand.Enabled {
			return "", nil
		}
		if text == "" {
			text = "/help"
		}
	case name == "agentstatus":
		text = strings.TrimSpace("/status " + text)
	default:
		text = strings.TrimSpace("/" + name + " " + text)
	}
	chat := map[string]channels.ChatType{"directmessage": channels.Direct}[s.ChannelName]
	if chat == "" {
		chat = channels.Room
		if strings.HasPrefix(s.ChannelName, "mpdm-") {
			chat = channels.Group
		}
	}
	return s.ChannelID, func(ctx context.Context, receive channels.Receiver) {
		c.command(ctx, receive, d, channels.Inbound{
			ID: "slash:" + s.TriggerID, Text: plainText(text), Chat: chat, Public: !c.cfg.SlashCommand.Ephemeral,
			To:   channels.Address{Channel: Name, Account: c.opt.Account, Conversation: s.ChannelID},
			From: channels.User{ID: s.UserID, Name: s.UserName},
		}, s.ResponseURL)
	}
}

// command hands over what was not written as a message. Its id is no message
// id, so that no answer refers to it; the response URL is kept for the answer.
func (c *Channel) command(ctx context.Context, receive channels.Receiver, d delivery, in channels.Inbound, reply string) {
	if _, again := c.seen.Get(in.ID, c.now()); again {
		d.ack()
		return
	}
	in.Command, in.Mentioned, in.At, in.Guild = true, true, c.now(), c.self.Load().Team
	if safeURL(reply) {
		c.replies.Put(in.ID, reply, c.now())
	}
	if c.hand(ctx, receive, in, d) {
		c.seen.Put(in.ID, struct{}{}, c.now())
	}
}

// safeURL tells whether something may be sent to a URL that Slack gave: TLS, or
// this machine [D24].
func safeURL(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.User == nil && (u.Scheme == "https" && u.Host != "" || u.Scheme == "http" && channels.IsLoopback(u.Hostname()))
}
