package slack

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"

	"standin/channels"
)

// lookTime bounds a look-up on the way of a message: Slack wants its
// acknowledgement within three seconds, and each of these has a fair answer
// for the case that Slack does not tell.
const lookTime = 800 * time.Millisecond

// chatType says what a conversation is. Events of messages tell it; for the
// others Slack is asked, once an hour at most.
func (c *Channel) chatType(ctx context.Context, conversation, told string) channels.ChatType {
	now := c.now()
	kind := map[string]channels.ChatType{
		"im": channels.Direct, "mpim": channels.Group, "channel": channels.Room, "group": channels.Room, "app_home": channels.Direct,
	}[told]
	if kind == "" {
		if known, ok := c.kinds.Get(conversation, now); ok {
			return known
		}
		kind = channels.Room
		if strings.HasPrefix(conversation, "D") {
			kind = channels.Direct
		} else {
			ctx, cancel := context.WithTimeout(ctx, lookTime)
			defer cancel()
			info, err := c.api.GetConversationInfoContext(ctx, &slackapi.GetConversationInfoInput{ChannelID: conversation})
			switch {
			case err != nil && codeOf(err) == "":
				c.log.Debug("conversation not looked up", "conversation", conversation, "err", plainError(err))
				return kind // not kept: the next event asks again
			case err == nil && info.IsMpIM:
				kind = channels.Group
			}
		}
	}
	c.kinds.Put(conversation, kind, now)
	return kind
}

// displayName gives what people call a user, "" when Slack does not tell.
func (c *Channel) displayName(ctx context.Context, user string) string {
	if name, ok := c.names.Get(user, c.now()); ok {
		return name
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	name := ""
	if u, err := c.api.GetUserInfoContext(ctx, user); err == nil {
		for _, n := range []string{u.Profile.DisplayName, u.RealName, u.Name} {
			if name == "" {
				name = n
			}
		}
	}
	c.names.Put(user, name, c.now()) // also that it is not to be had
	return name
}

// lookUpThread asks for the thread of a reply that came without it [SL17], ""
// when Slack knows none. An error is a passing one: nothing was learnt.
func (c *Channel) lookUpThread(ctx context.Context, conversation, ts string) (thread string, err error) {
	key := factKey(conversation, ts)
	if thread, ok := c.parents.Get(key, c.now()); ok {
		return thread, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	history, err := c.api.GetConversationHistoryContext(ctx, &slackapi.GetConversationHistoryParameters{
		ChannelID: conversation, Latest: ts, Oldest: ts, Inclusive: true, Limit: 1,
	})
	if passing(err) {
		return "", plainError(err)
	}
	if err == nil && len(history.Messages) == 1 && history.Messages[0].Timestamp == ts {
		thread = history.Messages[0].ThreadTimestamp
	}
	if thread == "" { // a reply that was not sent to the room stands in its thread only
		replies, _, _, err := c.api.GetConversationRepliesContext(ctx, &slackapi.GetConversationRepliesParameters{
			ChannelID: conversation, Timestamp: ts, Limit: 1,
		})
		if passing(err) {
			return "", plainError(err)
		}
		if err == nil && len(replies) == 1 {
			thread = replies[0].ThreadTimestamp
		}
	}
	c.parents.Put(key, thread, c.now())
	return thread, nil
}

// passing tells whether a look-up failed for a reason that may be gone in a
// moment: a limit, a fault of Slack's or of the line. What else Slack says, it
// will say again.
func passing(err error) bool {
	if err == nil {
		return false
	}
	code := codeOf(err)
	if code == "" {
		return true
	}
	outcome, _ := outcomeOfCode(code)
	_, credential := mends[code]
	return outcome != channels.Refused && !credential
}

// takesPart tells whether a message in a thread is meant for the bot although
// it does not say so: the thread is an answer to the bot, or the bot wrote in
// it [SL12]. What memory does not know is read from Slack, which keeps it
// durably: the answer is the same after a restart.
func (c *Channel) takesPart(ctx context.Context, ev event, thread string) bool {
	if thread == "" || c.cfg.Thread.RequireExplicitMention {
		return false
	}
	self := c.self.Load().User
	if ev.ParentUser == self && self != "" {
		return true
	}
	key := factKey(ev.Channel, thread)
	if part, ok := c.threads.Get(key, c.now()); ok {
		return part
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	replies, _, _, err := c.api.GetConversationRepliesContext(ctx, &slackapi.GetConversationRepliesParameters{
		ChannelID: ev.Channel, Timestamp: thread, Limit: 200,
	})
	if err != nil {
		c.log.Debug("thread not read", "thread", thread, "err", plainError(err))
		return false // not kept: the next message asks again
	}
	part := slices.ContainsFunc(replies, func(m slackapi.Message) bool { return m.User == self })
	c.threads.Put(key, part, c.now())
	return part
}

// joined remembers that the bot wrote in a thread.
func (c *Channel) joined(conversation, thread string) {
	if thread != "" {
		c.threads.Put(factKey(conversation, thread), true, c.now())
	}
}

var groupToken = regexp.MustCompile(`<!subteam\^(S[A-Z0-9]+)(?:\|[^>]*)?>`)

// groupNamesUs tells whether a text names a user group with the bot in it [SL12].
func (c *Channel) groupNamesUs(ctx context.Context, text string) bool {
	for _, m := range groupToken.FindAllStringSubmatch(text, 3) {
		in, known := c.groups.Get(m[1], c.now())
		if !known {
			ctx, cancel := context.WithTimeout(ctx, lookTime)
			members, err := c.api.GetUserGroupMembersContext(ctx, m[1])
			cancel()
			if err != nil && codeOf(err) == "" {
				c.log.Debug("user group not read", "group", m[1], "err", plainError(err))
				continue // not kept: the next message asks again
			}
			in = err == nil && slices.Contains(members, c.self.Load().User)
			c.groups.Put(m[1], in, c.now())
		}
		if in {
			return true
		}
	}
	return false
}

// Member tells whether a user is in a conversation; what Slack said holds for a
// minute [SL15]. An error means that it cannot be known now.
func (c *Channel) Member(ctx context.Context, to channels.Address, user string) (bool, error) {
	if members, ok := c.members.Get(to.Conversation, c.now()); ok {
		return slices.Contains(members, user), nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.pace.call)
	defer cancel()
	var all []string
	cursor := ""
	for {
		members, next, err := c.api.GetUsersInConversationContext(ctx, &slackapi.GetUsersInConversationParameters{
			ChannelID: to.Conversation, Cursor: cursor, Limit: 1000,
		})
		if err != nil {
			return false, fmt.Errorf("slack: members of %s: %w", to.Conversation, plainError(err))
		}
		all = append(all, members...)
		if next == "" || len(all) > 20_000 {
			break
		}
		cursor = next
	}
	c.members.Put(to.Conversation, all, c.now())
	return slices.Contains(all, user), nil
}
