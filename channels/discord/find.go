package discord

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"standin/channels"
)

// lookBack is how old a post may be to be taken for a delivery by its text: a
// look comes seconds after the send, or with the next start.
const lookBack = 15 * time.Minute

// Find implements channels.Finder. The gateway tells the nonce of our own posts;
// where it did not, the conversation's last messages are read: ours with that
// nonce, or with that very text, recent, and not known to be another delivery. A
// delivery of several messages is posted when its last one is; of others Send
// goes on with what is missing. A wrong "not posted" is caught by the enforced
// nonce.
func (c *Channel) Find(ctx context.Context, out channels.Outbound) (channels.Receipt, bool, error) {
	p := c.progressOf(out)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done() {
		return p.receipt(), true, nil
	}
	if p.reply || c.interactionOf(out) != nil {
		return channels.Receipt{}, false, nil // the answer of an interaction is an edit: making it again changes nothing
	}
	if p.bare != "" {
		out = channels.WithoutFiles(out, p.bare)
	}
	if p.texts == nil {
		p.texts = c.texts(out)
	}
	if p.target == "" {
		target, err := c.target(ctx, out)
		if err != nil {
			return channels.Receipt{}, false, err
		}
		p.target = target
	}
	self, err := c.whoAmI(ctx)
	if err != nil {
		return channels.Receipt{}, false, err
	}
	history, err := c.history(ctx, p.target, url.Values{"limit": {"100"}})
	if status := statusOf(err); status == http.StatusForbidden {
		return channels.Receipt{}, false, errors.ErrUnsupported // it may not read there
	}
	if err != nil && codeOf(err) != codeUnknownChannel { // a thread that is not open holds nothing
		return channels.Receipt{}, false, err
	}
	for len(p.ids) < len(p.texts) {
		id := c.among(history, self, out, p, len(p.ids))
		if id == "" {
			break
		}
		p.ids = append(p.ids, id)
		c.claim(id, out.ID)
	}
	return p.receipt(), p.done(), nil
}

// posted is what is read of a message in the history.
type posted struct {
	ID        string
	Content   string
	Nonce     any
	Author    struct{ ID string }
	Files     []struct{ Filename string } `json:"attachments"`
	Reference *struct {
		MessageID string `json:"message_id"`
	} `json:"message_reference"`
}

// carries tells whether message i of a delivery would have those files.
func (m posted) carries(out channels.Outbound, i int) bool {
	want := out.Files
	if i > 0 {
		want = nil
	}
	return slices.EqualFunc(m.Files, want, func(got struct{ Filename string }, f channels.File) bool {
		return got.Filename == strings.ReplaceAll(channels.FileName(f.Name), " ", "_") || got.Filename == channels.FileName(f.Name)
	})
}

// history reads messages of a conversation, newest first.
func (c *Channel) history(ctx context.Context, conversation string, query url.Values) ([]json.RawMessage, error) {
	var raw []json.RawMessage
	err := c.api.do(ctx, call{method: http.MethodGet, path: "channels/" + conversation + "/messages", query: query}, &raw)
	return raw, err
}

// whoAmI gives the bot's user id, also before the gateway has told it.
func (c *Channel) whoAmI(ctx context.Context) (string, error) {
	if self := c.self.Load(); self != nil {
		return self.user, nil
	}
	var me struct{ ID string }
	err := c.api.do(ctx, call{method: http.MethodGet, path: "users/@me"}, &me)
	return me.ID, err
}

// among finds message i of a delivery in the history, after the one before it.
func (c *Channel) among(history []json.RawMessage, self string, out channels.Outbound, p *progress, i int) string {
	delivery := out.ID
	if id, known := c.echoes.Get(nonce(delivery, i), c.now()); known && delivery != "" {
		return id
	}
	after := ""
	if i > 0 {
		after = p.ids[i-1]
	}
	for j := len(history) - 1; j >= 0; j-- { // oldest first: what was posted first was posted by the first try
		var m posted
		if json.Unmarshal(history[j], &m) != nil || m.Author.ID != self || !newer(m.ID, after) {
			continue
		}
		if n, ok := m.Nonce.(string); ok && delivery != "" && n == nonce(delivery, i) {
			return m.ID
		}
		owner, claimed := c.claims.Get(m.ID, c.now())
		if claimed && owner != delivery || c.now().Sub(timeOf(m.ID)) > lookBack {
			continue
		}
		if m.Reference != nil && c.refers(out, p, i) && m.Reference.MessageID != out.ReplyTo {
			continue // the same words, but to somebody else
		}
		if strings.TrimSpace(m.Content) == strings.TrimSpace(p.texts[i]) && m.carries(out, i) {
			return m.ID
		}
	}
	return ""
}

// claim remembers whose a message is, so that the same words of another delivery
// are not taken for it.
func (c *Channel) claim(message, delivery string) { c.claims.Put(message, delivery, c.now()) }
