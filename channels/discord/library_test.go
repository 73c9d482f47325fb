package discord

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"standin/channels/discord/discordtest"
)

// rewrite sends discordgo's calls to the fake.
type rewrite struct{ to *url.URL }

func (r rewrite) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	out.URL.Scheme, out.URL.Host, out.Host = r.to.Scheme, r.to.Host, r.to.Host
	return http.DefaultTransport.RoundTrip(out)
}

// The library's own gateway client, whose traps ours avoids, gets on with the
// fake: it is no creature of our own client's.
func TestTheLibraryGetsOnWithTheFake(t *testing.T) {
	s := discordtest.Start(t)
	room := s.NewGuild("guild").NewChannel("general")
	alice := s.Person("alice")
	to, _ := url.Parse(s.URL)
	d, err := discordgo.New("Bot " + s.Token)
	if err != nil {
		t.Fatal(err)
	}
	d.Client = &http.Client{Transport: rewrite{to}, Timeout: 5 * time.Second}
	d.Dialer = &websocket.Dialer{HandshakeTimeout: 5 * time.Second}
	d.Identify.Intents = intentsOf(Defaults())
	d.SyncEvents, d.ShouldReconnectOnError = true, false
	got := make(chan *discordgo.MessageCreate, 10)
	d.AddHandler(func(_ *discordgo.Session, m *discordgo.MessageCreate) { got <- m })
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	s.Say(alice, room, "hello")
	select {
	case m := <-got:
		if m.Content != "hello" || m.Author.Username != "alice" {
			t.Errorf("got %+v", m.Message)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("no message")
	}
	m, err := d.ChannelMessageSend(room.ID, "posted")
	if err != nil || m.Content != "posted" {
		t.Fatalf("posted %+v, %v", m, err)
	}
	if _, err := d.ChannelMessageSendReply(room.ID, "reply", m.Reference()); err != nil {
		t.Error(err)
	}
	if _, err := d.ChannelMessageSend(room.ID, strings.Repeat("x", 2001)); err == nil || !strings.Contains(err.Error(), "50035") {
		t.Errorf("a long text gave %v", err)
	}
}
