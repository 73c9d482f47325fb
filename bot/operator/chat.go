package operator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// ChannelName is the surface of the operator's chats.
const ChannelName = "page"

// maxSaid bounds a message of the operator's, in bytes.
const maxSaid = 32 << 10

var (
	chatName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	chatID   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// Surface is the channel on which the agents answer the operator: what is posted
// there is an event for those who listen, and stands in the chat for the others.
// It implements channels.Channel.
type Surface struct{ *Server }

var _ channels.Channel = Surface{}

// Name implements channels.Channel.
func (Surface) Name() string { return ChannelName }

// Run implements channels.Channel. Messages come by POST /chat.
func (Surface) Run(ctx context.Context, _ channels.Receiver) error {
	<-ctx.Done()
	return nil
}

// Send implements channels.Channel. It cannot fail: the row that is being sent is
// what the chat shows.
func (s Surface) Send(_ context.Context, out channels.Outbound) (channels.Receipt, error) {
	m := ChatMessage{ID: out.ID, At: s.Now(), From: "agent", Kind: string(out.Kind), Text: provider.Redact(out.Text)}
	for _, f := range out.Files {
		m.Text = strings.TrimSpace(m.Text + "\n[" + clean(f.Name) + "]")
	}
	agent, _, _ := strings.Cut(out.To.Conversation, ".")
	s.stream.publish("chat", Event{At: m.At, Chat: &m, Session: string(chatSession(fallback.AgentID(agent), out.To.Conversation))})
	return channels.Receipt{MessageID: out.ID}, nil
}

// conversation names a chat with an agent: the one is the other's, whatever both
// are called.
func (s *Server) conversation(agent, chat string) (fallback.AgentID, string, error) {
	a, err := s.agent(agent)
	if err != nil {
		return "", "", err
	}
	if chat == "" {
		chat = "main"
	}
	if !chatName.MatchString(chat) {
		return "", "", &Wrong{"chat is up to 64 lower-case letters, digits and -"}
	}
	return a, string(a) + "." + chat, nil
}

// chatSession is the session of a chat: a direct one, so that notices for direct
// chats are shown.
func chatSession(a fallback.AgentID, conversation string) fallback.SessionID {
	_, chat, _ := strings.Cut(conversation, ".")
	return fallback.SessionID("agent:" + string(a) + ":" + ChannelName + ":direct:" + chat)
}

// say takes what the operator says.
func (s *Server) say(c *call) (any, error) {
	in, err := read[ChatSay](c)
	if err != nil {
		return nil, err
	}
	a, conversation, err := s.conversation(in.Agent, in.Chat)
	if err != nil {
		return nil, err
	}
	if in.ID == "" {
		in.ID = strings.ToLower(rand.Text())
	}
	switch {
	case !chatID.MatchString(in.ID):
		return nil, &Wrong{"id is up to 64 letters, digits, - and _"}
	case strings.TrimSpace(in.Text) == "":
		return nil, &Wrong{"text is missing: say something"}
	case len(in.Text) > maxSaid:
		return nil, &Wrong{"text is longer than " + strconv.Itoa(maxSaid) + " bytes; say it in parts"}
	}
	session := chatSession(a, conversation)
	err = s.Bot.ReceiveFor(context.WithoutCancel(c.ctx), channels.Inbound{
		ID: in.ID, To: channels.Address{Channel: ChannelName, Conversation: conversation}, Chat: channels.Direct,
		From: channels.User{ID: "operator", Name: c.who.label()}, Text: in.Text, Mentioned: true, Authorized: true, At: c.now,
	}, session, a)
	if errors.Is(err, bot.ErrShutdown) {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	m := ChatMessage{ID: in.ID, At: c.now, From: "operator", Kind: "said", Text: in.Text, Who: c.who.label(), State: "waiting"}
	s.stream.publish("chat", Event{At: c.now, Chat: &m, Session: string(session)})
	return ChatTaken{ID: in.ID, Session: string(session)}, nil
}

// chat is what was said in one.
func (s *Server) chat(c *call) (any, error) {
	a, conversation, err := s.conversation(c.r.FormValue("agent"), c.r.FormValue("chat"))
	if err != nil {
		return nil, err
	}
	most, err := c.limit()
	if err != nil {
		return nil, err
	}
	before, err := chatPlace(c.r.FormValue("cursor"))
	if err != nil {
		return nil, err
	}
	list, err := s.Rows.Chat(c.ctx, conversation, before, most)
	if err != nil {
		return nil, err
	}
	out := Chat{Session: string(chatSession(a, conversation)), Agent: string(a), Messages: []ChatMessage{}}
	for _, l := range list {
		m := ChatMessage{ID: l.ID, At: l.At, From: "agent", Kind: string(l.Kind), Text: provider.Redact(l.Text), Turn: l.Turn}
		if !l.Out {
			m.From, m.Kind, m.Who, m.State = "operator", "said", l.Who, string(l.How)
			if m.State == "" {
				m.State = "waiting"
			}
		}
		out.Messages = append(out.Messages, m)
	}
	if len(list) == most {
		first := list[0].ChatPlace
		out.Next = fmt.Sprintf("%d.%t.%d", toMillis(first.At), first.Out, first.N)
	}
	return out, nil
}

// chatPlace reads a cursor of a chat.
func chatPlace(cursor string) (p ChatPlace, err error) {
	if cursor == "" {
		return p, nil
	}
	var ms int64
	if _, err := fmt.Sscanf(strings.ReplaceAll(cursor, ".", " "), "%d %t %d", &ms, &p.Out, &p.N); err != nil {
		return p, &Wrong{"cursor is not one that a page gave; leave it out for the latest"}
	}
	p.At = fromMillis(ms)
	return p, nil
}
