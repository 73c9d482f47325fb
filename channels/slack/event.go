package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/slack-go/slack/socketmode"

	"standin/channels"
)

// delivery is what Slack delivers, over the socket or by HTTP, still unread.
type delivery struct {
	kind    string // socketmode.RequestType…
	payload json.RawMessage
	ack     func() // tells Slack that it is safe with us; once
	failed  func() // tells Slack that it is not; may be nil
}

// outer is the envelope of an Events API payload.
type outer struct {
	Type       string          `json:"type"`
	Team       string          `json:"team_id"`
	Enterprise string          `json:"enterprise_id"`
	App        string          `json:"api_app_id"`
	EventID    string          `json:"event_id"`
	Event      json.RawMessage `json:"event"`
}

// event is a message as Slack tells of it. It is our own reading, of the fields
// that are used: an event whose blocks or extras no library knows is a message
// all the same.
type event struct {
	Type        string `json:"type"`
	SubType     string `json:"subtype"`
	Channel     string `json:"channel"`
	ChannelType string `json:"channel_type"`
	User        string `json:"user"`
	Bot         string `json:"bot_id"`
	Username    string `json:"username"`
	Text        string `json:"text"`
	TS          string `json:"ts"`
	ThreadTS    string `json:"thread_ts"`
	ParentUser  string `json:"parent_user_id"`
	Files       []file `json:"files"`
}

// accepted are the subtypes of messages that people mean as messages [SL16].
var accepted = map[string]bool{"": true, "file_share": true, "bot_message": true, "thread_broadcast": true}

// take sorts a delivery and sends it on its way. It never blocks: what is worth
// work goes into the lane of its conversation, the rest is acknowledged at once.
func (c *Channel) take(d delivery) {
	in := c.intake.Load()
	if in == nil {
		return
	}
	lane, work := c.sort(d)
	if work == nil {
		d.ack()
		return
	}
	if !in.do(lane, func() { work(in.ctx, in.receive) }) {
		c.log.Warn("too much waits, an event is left to be delivered again")
		if d.failed != nil {
			d.failed()
		}
	}
}

// sort reads a delivery as far as its lane. A nil work means that nothing is to
// be done for it.
func (c *Channel) sort(d delivery) (lane string, work func(context.Context, channels.Receiver)) {
	switch d.kind {
	case socketmode.RequestTypeEventsAPI:
		var o outer
		var head struct {
			Type    string `json:"type"`
			SubType string `json:"subtype"`
		}
		if json.Unmarshal(d.payload, &o) != nil || json.Unmarshal(o.Event, &head) != nil {
			c.log.Warn("slack sent an event that cannot be read")
			return "", nil
		}
		if kind, ok := happeningKind(head.Type, head.SubType); ok && c.isOurs(o) {
			return c.sortHappening(o, kind, d)
		}
		if head.Type != "message" && head.Type != "app_mention" || !accepted[head.SubType] {
			c.log.Debug("event of no use", "type", head.Type, "subtype", head.SubType)
			return "", nil
		}
		if !c.isOurs(o) {
			c.log.Debug("event of another app or workspace", "team", o.Team)
			return "", nil
		}
		var ev event
		if err := json.Unmarshal(o.Event, &ev); err != nil || ev.Channel == "" || ev.TS == "" {
			c.log.Warn("slack sent a message that cannot be read", "event", o.EventID)
			return "", nil
		}
		if c.isSelf(ev) { // the first thing: own posts are never input [SL15]
			return "", nil
		}
		return ev.Channel, func(ctx context.Context, receive channels.Receiver) { c.message(ctx, receive, ev, d, 0) }
	case socketmode.RequestTypeSlashCommands:
		return c.sortSlash(d)
	case socketmode.RequestTypeInteractive:
		return c.sortAction(d)
	}
	c.log.Debug("delivery of no use", "kind", d.kind)
	return "", nil
}

// isOurs drops what is meant for another app or workspace [SL8].
func (c *Channel) isOurs(o outer) bool {
	self := c.self.Load()
	if o.App != "" && self.App != "" && o.App != self.App {
		return false
	}
	if o.Team == "" || self.Team == "" || o.Team == self.Team {
		return true
	}
	return self.Enterprise != "" && o.Enterprise == self.Enterprise
}

func (c *Channel) isSelf(ev event) bool {
	self := c.self.Load()
	return self.User != "" && ev.User == self.User || self.Bot != "" && ev.Bot == self.Bot
}

// message hands one message over, unless it was before. tries is how often it
// could not be told what it is.
func (c *Channel) message(ctx context.Context, receive channels.Receiver, ev event, d delivery, tries int) {
	in, why, err := c.inbound(ctx, ev)
	if err != nil {
		c.later(ctx, receive, ev, d, tries+1, err)
		return
	}
	if why != "" {
		c.log.Debug("message dropped", "message", ev.TS, "conversation", ev.Channel, "why", why)
		d.ack()
		return
	}
	key := ev.Channel + "/" + ev.TS
	if _, again := c.seen.Get(key, c.now()); again {
		// The same message comes as message and as app_mention. Was the first
		// one handed over as not addressed, the mention is news, once [SL13].
		_, ambient := c.ambient.Get(key, c.now())
		if !ambient || !in.Mentioned {
			d.ack()
			return
		}
		in.ID += mentionSuffix
	}
	c.ambient.Drop(key)
	if !c.hand(ctx, receive, in, d) {
		return
	}
	c.seen.Put(key, struct{}{}, c.now())
	if !in.Mentioned && in.Chat != channels.Direct {
		c.ambient.Put(key, struct{}{}, c.now())
	}
}

// maxLookUps bounds the looks for what a message is: with the doubling wait they
// last for some minutes.
const maxLookUps = 9

// later looks again for what a message is, when the room's other messages have
// had their turn. It is not acknowledged until then, so that Slack delivers it
// again should this process end; beyond the last look that is all that is left.
func (c *Channel) later(ctx context.Context, receive channels.Receiver, ev event, d delivery, tries int, why error) {
	in := c.intake.Load()
	if in == nil || tries >= maxLookUps {
		c.log.Error("a message is left to Slack: what it belongs to cannot be looked up", "message", ev.TS, "conversation", ev.Channel, "err", why)
		if d.failed != nil {
			d.failed()
		}
		return
	}
	wait := max(c.pace.again<<(tries-1), retryAfter(why))
	c.log.Warn("what a message belongs to cannot be looked up yet", "message", ev.TS, "conversation", ev.Channel, "next", wait, "err", why)
	in.after(wait, ev.Channel, func() { c.message(ctx, receive, ev, d, tries) })
}

// mentionSuffix tells the inbound of an app_mention from that of the message
// event that came first and was no mention.
const mentionSuffix = ":mention"

// hand gives a message to the bot and acknowledges it once it is durable [I1].
// Otherwise Slack delivers it again.
func (c *Channel) hand(ctx context.Context, receive channels.Receiver, in channels.Inbound, d delivery) bool {
	if !in.Command {
		c.facts.Put(factKey(in.To.Conversation, tsOf(in.ID)), fact{chat: in.Chat, mentioned: in.Mentioned}, c.now())
	}
	if err := receive(ctx, in); err != nil {
		c.log.Warn("message not accepted, slack will deliver it again", "message", in.ID, "err", err)
		if d.failed != nil {
			d.failed()
		}
		return false
	}
	d.ack()
	return true
}

// fact is what reactions need to know of a message.
type fact struct {
	chat      channels.ChatType
	mentioned bool
}

func factKey(conversation, ts string) string { return conversation + "/" + ts }

// tsOf gives the message id that an inbound id or a ReplyTo stands for, "" when
// it stands for a command or a button.
func tsOf(id string) string {
	id = strings.TrimSuffix(id, mentionSuffix)
	if _, ok := parseTS(id); !ok {
		return ""
	}
	return id
}

// stampOf writes a time as a message id.
func stampOf(t time.Time) string { return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000) }

// parseTS reads a message id as the time that it is: seconds and microseconds.
func parseTS(ts string) (time.Time, bool) {
	sec, frac, ok := strings.Cut(ts, ".")
	if !ok || sec == "" || frac == "" || len(frac) > 6 || len(sec) > 12 {
		return time.Time{}, false
	}
	var n, us int64
	for _, r := range sec {
		if r < '0' || r > '9' {
			return time.Time{}, false
		}
		n = n*10 + int64(r-'0')
	}
	for i := range 6 {
		us *= 10
		if i < len(frac) {
			if frac[i] < '0' || frac[i] > '9' {
				return time.Time{}, false
			}
			us += int64(frac[i] - '0')
		}
	}
	return time.Unix(n, us*1000), true
}
