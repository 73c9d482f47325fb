package discord

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
)

// Past implements channels.Historian, with a limit of 100 messages. A thread
// that hangs on a message begins with that message [SL19].
func (c *Channel) Past(ctx context.Context, at channels.Address, before string, limit int) ([]channels.Said, error) {
	conversation := at.Conversation
	if at.Thread != "" {
		conversation = at.Thread
	}
	if limit = min(max(limit, 0), page); limit == 0 || !isSnowflake(conversation) {
		return nil, nil
	}
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if isSnowflake(before) {
		query.Set("before", before)
	}
	raw, err := c.history(ctx, conversation, query)
	if err != nil {
		return nil, err
	}
	var past []channels.Said
	for i := len(raw) - 1; i >= 0; i-- { // the API gives the newest first
		if s, ok := c.said(raw[i]); ok && s.ID != before {
			past = append(past, s)
		}
	}
	return past, nil
}

// said reads a message as one of the past; ok is false when it is nobody's words.
func (c *Channel) said(raw json.RawMessage) (s channels.Said, ok bool) {
	m, err := decodeMessage(raw)
	if err != nil {
		return s, false
	}
	if m.Type == discordgo.MessageTypeThreadStarterMessage && m.ReferencedMessage != nil && m.ReferencedMessage.Author != nil {
		m = m.ReferencedMessage
	}
	if !isTalk(m) {
		return s, false
	}
	text, _ := c.withoutMention(textOf(m), m)
	text = strings.TrimSpace(text)
	at := m.Timestamp
	if at.IsZero() {
		at = timeOf(m.ID)
	}
	s = channels.Said{ID: m.ID, From: userOf(m.Author, m.Member), Bot: m.Author.Bot || m.WebhookID != "", Own: c.me(m.Author.ID), Text: text, At: at}
	return s, text != ""
}
