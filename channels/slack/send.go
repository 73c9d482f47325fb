package slack

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	slackapi "github.com/slack-go/slack"

	"standin/channels"
)

// deliveryEvent is the type of the metadata that our posts carry: the delivery
// id and which part of it the post is. It is how a post is found again [I2].
const deliveryEvent = "standin_delivery"

// progress is what is known of one delivery: which of its parts stand in Slack.
type progress struct {
	mu    sync.Mutex
	parts []string // message ids by part, "" not posted; nil: not cut yet
	draft string   // message that the single part replaces, "" none
	refs  []string // uploads that stand for its files
	bare  string   // why it goes without its files, "" it does not
	done  bool
}

// progressOf gives the delivery's progress; fresh says that this process has
// not seen it before.
func (c *Channel) progressOf(id string) (p *progress, fresh bool) {
	if p, ok := c.posts.Get(id, c.now()); ok && id != "" {
		return p, false
	}
	p = &progress{}
	if id != "" {
		c.posts.Put(id, p, c.now())
	}
	return p, true
}

// Send implements channels.Channel. The receipt is that of the first post. A
// delivery that was posted in part goes on where it stopped; the same ID again
// is not posted again [I2].
func (c *Channel) Send(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return channels.Receipt{}, &channels.SendError{Outcome: channels.NotSent, Err: err}
	}
	if len(c.texts(out)) == 0 {
		return channels.Receipt{}, &channels.SendError{Outcome: channels.Refused, Err: errors.New("the message is empty")}
	}
	p, fresh := c.progressOf(out.ID)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return channels.Receipt{MessageID: p.parts[0]}, nil
	}
	if p.bare != "" {
		out = channels.WithoutFiles(out, p.bare)
	}
	err := c.sendParts(ctx, out, p, fresh)
	var u *unfit
	if errors.As(err, &u) {
		c.log.Warn("files are not sent", "conversation", out.To.Conversation, "delivery", out.ID, "why", u.why)
		p.parts, p.bare = nil, u.why
		err = c.sendParts(ctx, channels.WithoutFiles(out, u.why), p, false)
	}
	if err != nil {
		if channels.OutcomeOf(err) == channels.Refused {
			c.drafts.became(ctx, out.ID, "")
		}
		return channels.Receipt{}, err
	}
	return channels.Receipt{MessageID: p.parts[0]}, nil
}

// sendParts posts what is missing of a delivery.
func (c *Channel) sendParts(ctx context.Context, out channels.Outbound, p *progress, fresh bool) error {
	texts, thread := c.texts(out), threadFor(out)
	if p.parts == nil {
		p.parts = make([]string, len(texts))
		if len(texts) > 1 && fresh && out.Only == "" {
			// A former process may have died between two parts.
			_ = c.look(ctx, out, p)
		}
	}
	if p.draft == "" {
		p.draft = c.drafts.claim(ctx, out, thread, len(texts) == 1 && len(out.Files) == 0)
	}
	for i, text := range texts {
		if p.parts[i] != "" {
			continue
		}
		post := func() (string, error) { return c.post(ctx, out, thread, text, i, len(texts), p.draft) }
		if i == 0 && len(out.Files) > 0 {
			post = func() (string, error) { return c.share(ctx, out, thread, text, p) }
		}
		ts, err := post()
		if err != nil {
			return err
		}
		p.parts[i] = ts
		c.stands(out, thread, ts)
	}
	p.done = true
	c.drafts.became(ctx, out.ID, p.parts[0])
	c.joined(out.To.Conversation, thread)
	c.answered(ctx, out, thread)
	return nil
}

// texts are the posts of a delivery; one with files may have no text.
func (c *Channel) texts(out channels.Outbound) []string {
	texts := c.cut(out.Text)
	if len(texts) == 0 && len(out.Files) > 0 {
		return []string{""}
	}
	return texts
}

// stands notes that a post stands at its place, so that no draft above it
// becomes an answer that came later [N31].
func (c *Channel) stands(out channels.Outbound, thread, ts string) {
	key := factKey(out.To.Conversation, thread)
	last, _ := c.latest.Get(key, c.now())
	if _, ok := parseTS(ts); ok && out.Only == "" && ts > last {
		c.latest.Put(key, ts, c.now())
	}
}

// threadFor gives the thread that a post goes to: the one it was addressed to,
// else the one under the message it refers to [SL20, N27].
func threadFor(out channels.Outbound) string {
	if out.To.Thread != "" {
		return out.To.Thread
	}
	return tsOf(out.ReplyTo)
}

// post posts one part. What Slack refuses for its form, or for a thread that is
// gone, is posted once more without that: a refusal is certain, so nothing can
// stand there twice.
func (c *Channel) post(ctx context.Context, out channels.Outbound, thread, text string, i, n int, draft string) (string, error) {
	blocks := blocksFor(text)
	if i == n-1 {
		blocks = append(blocks, choiceBlocks(out)...)
	}
	meta := slackapi.SlackMetadata{EventType: deliveryEvent, EventPayload: map[string]any{"id": out.ID, "part": i, "of": n}}
	opts := func(thread string, rich bool) []slackapi.MsgOption {
		o := []slackapi.MsgOption{slackapi.MsgOptionText(summary(text), false), slackapi.MsgOptionMetadata(meta)}
		if rich {
			o = append(o, slackapi.MsgOptionBlocks(blocks...))
		} else {
			o[0] = slackapi.MsgOptionText(mrkdwn(text), false)
		}
		if !c.cfg.UnfurlLinks {
			o = append(o, slackapi.MsgOptionDisableLinkUnfurl())
		}
		if thread != "" {
			o = append(o, slackapi.MsgOptionTS(thread))
		}
		return o
	}
	ts, err := c.postAs(ctx, out, draft, opts(thread, true))
	rich, edits := true, draft != ""
	for tries := 0; channels.OutcomeOf(err) == channels.Refused && tries < 3; tries++ {
		switch codeOf(err) {
		case "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long":
			rich, edits = false, false // the whole text is too much for an edit
		case "thread_not_found", "cannot_reply_to_message":
			c.log.Warn("the thread is gone, posting to the conversation", "conversation", out.To.Conversation, "thread", thread)
			thread, edits = "", false
		case "channel_not_found", "not_in_channel":
			// A command works where the app is no member; so does its answer.
			reply, ok := c.replies.Get(out.ReplyTo, c.now())
			if !ok || out.Only != "" {
				return "", err
			}
			return c.respond(ctx, out, reply, slackapi.ResponseTypeInChannel, opts(thread, rich))
		default:
			if !edits {
				return "", err
			}
			edits = false // whatever is wrong with the draft, the text can be posted
		}
		ts, err = c.postAs(ctx, out, draftIf(edits, draft), opts(thread, rich))
	}
	return ts, err
}

func draftIf(edits bool, draft string) string {
	if edits {
		return draft
	}
	return ""
}

// postAs makes the one call that posts: an answer to a command goes to its
// response URL, what one person alone may see is ephemeral, a draft becomes its
// final text, everything else is a new message.
func (c *Channel) postAs(ctx context.Context, out channels.Outbound, draft string, opts []slackapi.MsgOption) (ts string, err error) {
	if reply, ok := c.replies.Get(out.ReplyTo, c.now()); ok && out.Only != "" {
		return c.respond(ctx, out, reply, slackapi.ResponseTypeEphemeral, opts)
	}
	err = c.writing(ctx, func(ctx context.Context) (err error) {
		switch {
		case out.Only != "":
			ts, err = c.api.PostEphemeralContext(ctx, out.To.Conversation, out.Only, opts...)
		case draft != "":
			_, ts, _, err = c.api.UpdateMessageContext(ctx, out.To.Conversation, draft, opts...)
		default:
			_, ts, err = c.api.PostMessageContext(ctx, out.To.Conversation, opts...)
		}
		return err
	})
	return ts, err
}

// respond answers over a response URL, which tells no message id.
func (c *Channel) respond(ctx context.Context, out channels.Outbound, reply, kind string, opts []slackapi.MsgOption) (string, error) {
	err := c.writing(ctx, func(ctx context.Context) error {
		_, _, _, err := c.api.SendMessageContext(ctx, out.To.Conversation, append(opts, slackapi.MsgOptionResponseURL(reply, kind))...)
		return err
	})
	return "response", err
}

// cut makes posts of a text; none of an empty one.
func (c *Channel) cut(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return split(text, c.cfg.TextChunkLimit)
}

// Find implements channels.Finder: it looks for the delivery's id in the
// metadata of what stands in the conversation. Ephemeral posts cannot be looked
// up.
func (c *Channel) Find(ctx context.Context, out channels.Outbound) (channels.Receipt, bool, error) {
	if out.Only != "" {
		return channels.Receipt{}, false, fmt.Errorf("slack: ephemeral posts cannot be looked up: %w", errors.ErrUnsupported)
	}
	p, _ := c.progressOf(out.ID)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bare != "" {
		out = channels.WithoutFiles(out, p.bare)
	}
	if p.parts == nil {
		p.parts = make([]string, len(c.texts(out)))
	}
	if err := c.look(ctx, out, p); err != nil {
		return channels.Receipt{}, false, fmt.Errorf("slack: look for %s: %w", out.ID, plainError(err))
	}
	for _, ts := range p.parts {
		if ts == "" {
			return channels.Receipt{}, false, nil
		}
	}
	if len(p.parts) == 0 {
		return channels.Receipt{}, false, nil
	}
	p.done = true
	c.drafts.became(ctx, out.ID, p.parts[0])
	return channels.Receipt{MessageID: p.parts[0]}, true, nil
}
