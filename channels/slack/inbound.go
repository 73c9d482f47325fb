package slack

import (
	"context"
	"regexp"
	"strings"

	"standin/channels"
)

// maxFiles of one message are taken [SL26].
const maxFiles = 8

// inbound reads a message as facts. why says that it is none to hand over; an
// error, that this cannot be told now.
func (c *Channel) inbound(ctx context.Context, ev event) (in channels.Inbound, why string, err error) {
	chat := c.chatType(ctx, ev.Channel, ev.ChannelType)
	if ev.Type == "app_mention" && chat != channels.Room {
		return in, "a mention in a direct chat comes as its message", nil // [SL13]
	}
	self := c.self.Load()
	at, ok := parseTS(ev.TS)
	if !ok {
		return in, "its id is no time", nil
	}
	thread, ok, err := c.threadOf(ctx, ev)
	if err != nil {
		return in, "", err
	}
	if !ok {
		return in, "its thread is not known", nil // never mis-route to the room [SL17]
	}
	in = channels.Inbound{
		ID:    ev.TS,
		To:    channels.Address{Channel: Name, Account: c.opt.Account, Conversation: ev.Channel, Thread: thread},
		Chat:  chat,
		From:  channels.User{ID: ev.User, Name: ev.Username},
		At:    at,
		Guild: self.Team,
		Bot:   ev.Bot != "" || ev.SubType == "bot_message",
		Files: c.attached(ev.Files),
	}
	if in.From.ID == "" {
		in.From.ID = ev.Bot
	}
	if in.From.ID == "" {
		return in, "nobody sent it", nil
	}
	if !in.Bot && in.From.Name == "" {
		in.From.Name = c.displayName(ctx, ev.User)
	}
	if thread == "" {
		in.ThreadRoot = ev.TS
	}
	named := mentionsIn(ev.Text)
	in.Mentioned = chat == channels.Direct || named[self.User] || ev.Type == "app_mention"
	if !in.Mentioned && c.groupNamesUs(ctx, ev.Text) {
		in.Mentioned = true
	}
	if !in.Mentioned {
		in.MentionsOthers = len(named) > 0
		in.Implicit = c.takesPart(ctx, ev, thread)
	}
	in.Text = plainText(withoutLeading(ev.Text, self.User))
	return in, "", nil
}

// threadOf gives the thread that a message is in, "" for none. A message whose
// thread is its own id is the root, not a reply [SL17]. It is false when the
// message is a reply and Slack does not say to what; an error is a look-up that
// failed for a passing reason.
func (c *Channel) threadOf(ctx context.Context, ev event) (thread string, ok bool, err error) {
	switch {
	case ev.ThreadTS == ev.TS:
		return "", true, nil
	case ev.ThreadTS != "":
		return ev.ThreadTS, true, nil
	case ev.ParentUser == "":
		return "", true, nil
	}
	thread, err = c.lookUpThread(ctx, ev.Channel, ev.TS)
	return thread, thread != "", err
}

var userToken = regexp.MustCompile(`<@([UW][A-Z0-9]+)(?:\|[^>]*)?>`)

// mentionsIn gives the users that a text names.
func mentionsIn(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range userToken.FindAllStringSubmatch(text, -1) {
		all[m[1]] = true
	}
	return all
}

// withoutLeading takes mentions of the bot off the beginning, where they only
// address it, so that a command behind them is one.
func withoutLeading(text, bot string) string {
	for bot != "" {
		text = strings.TrimLeft(text, " \t\n")
		m := userToken.FindStringSubmatchIndex(text)
		if m == nil || m[0] != 0 || text[m[2]:m[3]] != bot {
			break
		}
		text = strings.TrimLeft(text[m[1]:], ":, \t")
	}
	return text
}

// token is one of Slack's: <kind and target|label>.
var token = regexp.MustCompile(`<([@#!][^<>|]+|[a-zA-Z][a-zA-Z0-9+.-]*:[^<>|\s]+)(?:\|([^<>]*))?>`)

// unescape undoes Slack's three escapes.
var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// plainText turns Slack's tokens into what a person reads. Mentions of people
// stay as they are: a model can use them again.
func plainText(text string) string {
	text = token.ReplaceAllStringFunc(text, func(s string) string {
		m := token.FindStringSubmatch(s)
		target, label := m[1], m[2]
		switch {
		case strings.HasPrefix(target, "@"):
			return s
		case strings.HasPrefix(target, "#"):
			if label == "" {
				return s
			}
			return "#" + label
		case strings.HasPrefix(target, "!subteam^"), strings.HasPrefix(target, "!date^"):
			if label != "" {
				return label
			}
			return s
		case strings.HasPrefix(target, "!"):
			return "@" + target[1:]
		}
		target = strings.TrimPrefix(target, "mailto:")
		if label == "" || label == target || "http://"+label == target || "https://"+label == target {
			return target
		}
		return label + " (" + target + ")"
	})
	return unescape.Replace(text)
}
