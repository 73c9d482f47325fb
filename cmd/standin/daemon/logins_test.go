package daemon

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/channeltest"
	"standin/cmd/standin/config"
	"standin/fallback/auth"
	"standin/fallback/auth/authtest"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
	"standin/store"
)

// The whole daemon with a login whose token has ended: its config says where the
// login is renewed and where the subscription's models are, and the person who
// writes notices nothing [10.8, M19].
func TestTheDaemonRenewsALogin(t *testing.T) {
	dir := t.TempDir()
	server, err := authtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	models := providertest.New()
	web := httptest.NewServer(http.StripPrefix("/codex", models))
	defer web.Close()

	access, refresh := server.Issue()
	one, err := store.FromLogin(auth.Credential{Provider: "openai", Email: "ada@example.com", AccountID: "acct-7",
		Access: provider.NewKey(access), Refresh: provider.NewKey(refresh), Expires: time.Now().Add(-time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	credentials := store.OpenCredentials(store.Options{Dir: dir})
	if err := credentials.PutCredential(t.Context(), store.MainAgent, one); err != nil {
		t.Fatal(err)
	}
	if err := credentials.Close(); err != nil {
		t.Fatal(err)
	}

	text := fmt.Sprintf(`
agents: {defaults: {model: openai/gpt-5.5}}
auth: {oauth: {openai: {tokenUrl: %q, clientId: %s, baseUrl: %q}}}
`, server.URL+"/token", authtest.ClientID, web.URL+"/codex")
	conf, faults := config.Parse("config.yaml", []byte(text), func(string) string { return "" }, dir)
	if conf == nil {
		t.Fatal(faults)
	}
	room, log := channeltest.NewRoom("room"), slog.New(slog.NewTextHandler(t.Output(), nil))
	a, err := New(t.Context(), Parts{
		State: dir, Config: conf, Channels: []channels.Channel{room},
		Vendors: provider.New(provider.Options{Log: log}), Log: log, Now: time.Now, Sleep: Sleep,
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- a.Run(t.Context()) }()
	if err := room.Say(t.Context(), channels.Inbound{
		ID: "1", Text: "hello", To: channels.Address{Channel: "room", Conversation: "one"}, Chat: channels.Direct, From: channels.User{ID: "alice"},
	}); err != nil {
		t.Fatal(err)
	}
	room.Close() // the end of input: what was said is answered first
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	asked := models.Requests()
	if len(asked) != 1 || server.Refreshes() != 1 || asked[0].Key == access || !server.Valid(asked[0].Key) ||
		asked[0].Header.Get("Chatgpt-Account-Id") != "acct-7" || asked[0].API != provider.OpenAIResponses {
		t.Errorf("%d calls, %d refreshes: %+v", len(asked), server.Refreshes(), asked)
	}
	if n := room.Count(channeltest.Posted); n != 1 {
		t.Errorf("%d posts", n)
	}
}
