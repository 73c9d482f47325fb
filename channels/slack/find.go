package slack

import (
	"context"
	"errors"
	"strconv"

	slackapi "github.com/slack-go/slack"

	"standin/channels"
)

const (
	lookPage  = 200 // messages per request
	lookPages = 5   // requests of one look
)

// look reads what stands where the delivery belongs and writes the parts that
// are there into p. It looks no further back than the message that is answered.
func (c *Channel) look(ctx context.Context, out channels.Outbound, p *progress) error {
	if len(out.Files) > 0 {
		if err := c.lookForFiles(ctx, out, p); err != nil || len(p.parts) == 1 {
			return err
		}
	}
	return c.lookFor(ctx, out.ID, out.To.Conversation, threadFor(out), tsOf(out.ReplyTo), p)
}

// lookFor looks for the parts of an id in a conversation or a thread of it, back
// to a message id ("" to the beginning).
func (c *Channel) lookFor(ctx context.Context, id, conversation, thread, oldest string, p *progress) error {
	cursor := ""
	for range lookPages {
		messages, next, err := c.page(ctx, conversation, thread, oldest, cursor)
		if codeOf(err) == "thread_not_found" {
			thread, cursor = "", "" // it then went to the conversation
			continue
		}
		if err != nil {
			return err
		}
		for _, m := range messages {
			note(m, id, p)
		}
		if next == "" || complete(p) {
			return nil
		}
		cursor = next
	}
	return errors.New("too much was said since")
}

// page reads one page, of a thread or of the conversation.
func (c *Channel) page(ctx context.Context, conversation, thread, oldest, cursor string) ([]slackapi.Message, string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.pace.call)
	defer cancel()
	if thread != "" {
		messages, _, next, err := c.api.GetConversationRepliesContext(ctx, &slackapi.GetConversationRepliesParameters{
			ChannelID: conversation, Timestamp: thread, Oldest: oldest, Cursor: cursor, Limit: lookPage, IncludeAllMetadata: true,
		})
		return messages, next, err
	}
	history, err := c.api.GetConversationHistoryContext(ctx, &slackapi.GetConversationHistoryParameters{
		ChannelID: conversation, Oldest: oldest, Cursor: cursor, Limit: lookPage, IncludeAllMetadata: true,
	})
	if err != nil {
		return nil, "", err
	}
	return history.Messages, history.ResponseMetaData.NextCursor, nil
}

// note writes down a message that is a part of the delivery.
func note(m slackapi.Message, id string, p *progress) {
	if m.Metadata.EventType != deliveryEvent || m.Metadata.EventPayload["id"] != id {
		return
	}
	part := 0
	switch n := m.Metadata.EventPayload["part"].(type) {
	case float64:
		part = int(n)
	case string: // some proxies and older workspaces give numbers as text
		part, _ = strconv.Atoi(n)
	}
	if part >= 0 && part < len(p.parts) {
		p.parts[part] = m.Timestamp
	}
}

func complete(p *progress) bool {
	for _, ts := range p.parts {
		if ts == "" {
			return false
		}
	}
	return true
}

// Past implements channels.Historian, with a limit of 200 messages [SL19].
func (c *Channel) Past(ctx context.Context, at channels.Address, before string, limit int) ([]channels.Said, error) {
	ctx, cancel := context.WithTimeout(ctx, c.pace.call)
	defer cancel()
	before, limit = tsOf(before), min(max(limit, 0), lookPage)
	self := c.self.Load()
	if limit == 0 || self == nil {
		return nil, nil
	}
	var messages []slackapi.Message
	if at.Thread != "" {
		all, err := c.thread(ctx, at, before)
		if err != nil {
			return nil, plainError(err)
		}
		messages = all
	} else {
		history, err := c.api.GetConversationHistoryContext(ctx, &slackapi.GetConversationHistoryParameters{
			ChannelID: at.Conversation, Latest: before, Limit: limit,
		})
		if err != nil {
			return nil, plainError(err)
		}
		for i := len(history.Messages) - 1; i >= 0; i-- { // newest first, there
			messages = append(messages, history.Messages[i])
		}
	}
	var past []channels.Said
	for _, m := range messages {
		when, ok := parseTS(m.Timestamp)
		if !ok || m.Timestamp == before || !accepted[m.SubType] {
			continue
		}
		from := channels.User{ID: m.User, Name: m.Username}
		if from.ID == "" {
			from.ID = m.BotID
		}
		past = append(past, channels.Said{
			ID: m.Timestamp, From: from, Text: plainText(m.Text), At: when,
			Bot: m.BotID != "", Own: self.User != "" && m.User == self.User || self.Bot != "" && m.BotID == self.Bot,
		})
	}
	past = past[max(0, len(past)-limit):]
	for i := range past {
		if past[i].From.Name == "" && !past[i].Bot {
			past[i].From.Name = c.displayName(ctx, past[i].From.ID)
		}
	}
	return past, nil
}

// maxThreadPages bounds how much of a thread is read for its last messages:
// Slack gives a thread from its beginning.
const maxThreadPages = 5

// thread gives a thread's messages before an id, oldest first; of a very long
// one not the last.
func (c *Channel) thread(ctx context.Context, at channels.Address, before string) (all []slackapi.Message, err error) {
	cursor := ""
	for range maxThreadPages {
		messages, more, next, err := c.api.GetConversationRepliesContext(ctx, &slackapi.GetConversationRepliesParameters{
			ChannelID: at.Conversation, Timestamp: at.Thread, Latest: before, Limit: lookPage, Cursor: cursor,
		})
		if err != nil {
			return nil, err
		}
		all = append(all, messages...)
		if cursor = next; !more || next == "" {
			break
		}
	}
	return all, nil
}
