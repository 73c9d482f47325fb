package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/channels"
	"standin/channels/channeltest"
	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

// narrowVendor has a model with a small window and counts by its own measure,
// which is stricter than our estimate: now and then it refuses what we thought
// would fit.
type narrowVendor struct {
	window              int // bytes of a request
	asked, refused, sum int
	longest             int
}

func (v *narrowVendor) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	v.asked++
	v.longest = max(v.longest, len(body))
	act := providertest.Answer(fmt.Sprintf("answer %d. %s", v.asked, strings.Repeat("Well said. ", v.asked%40)))
	switch {
	case len(body) > v.window:
		v.refused++
		act = providertest.Status(400, `{"error":{"message":"This model's maximum context length is 6000 tokens. However, your messages resulted in more.","type":"invalid_request_error","code":"context_length_exceeded"}}`)
	case bytes.Contains(body, []byte("The conversation:")) || bytes.Contains(body, []byte("The summary so far:")):
		v.sum++
		act = providertest.Answer("They talked about words.")
	case v.asked%7 == 0:
		act = providertest.Calls("", provider.ToolCall{Name: "session_status", Input: "{}"})
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return providertest.New(act).RoundTrip(r)
}

// A session of two thousand turns over a model with a small window: nobody is ever
// shown an overflow, and what is sent stays within the window [D10, S19, S23].
func TestTwoThousandTurnsOverASmallWindow(t *testing.T) {
	if testing.Short() {
		t.Skip("two thousand turns take a while")
	}
	const turns = 2000
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		conf, faults := config.Parse("config.yaml", []byte(`
agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [openai/gpt-5.5-mini]}}}
session: {reset: {mode: "off"}}
tools: {allow: [session_status]}
models: {providers: {openai: {apiKey: k1, api: openai-completions, models: [{id: gpt-5.5, contextWindow: 6000}, {id: gpt-5.5-mini, contextWindow: 6000}]}}}
`), func(string) string { return "" }, dir)
		if conf == nil {
			t.Fatal(faults)
		}
		vendor, room, log := &narrowVendor{window: 17_000}, channeltest.NewRoom("room"), slog.New(slog.DiscardHandler)
		ctx, cancel := context.WithCancel(context.Background())
		a, err := daemon.New(ctx, daemon.Parts{State: dir, Config: conf, Channels: []channels.Channel{room},
			Vendors: provider.New(provider.Options{Transport: vendor, Log: log}), Log: log, Now: time.Now, Sleep: daemon.Sleep})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- a.Run(ctx) }()
		synctest.Wait()
		for i := range turns {
			text := fmt.Sprintf("question %d %s", i, strings.Repeat("word ", i*i%900))
			if err := room.Say(t.Context(), channels.Inbound{ID: fmt.Sprint(i), Text: text}); err != nil {
				t.Fatal(err)
			}
			if err := a.Bot.Idle(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		answers := 0
		for _, p := range room.Posted() {
			if p.Kind != channels.Reply {
				t.Errorf("the room reads %s %q", p.Kind, p.Text)
			}
			answers++
		}
		session, err := a.DB.Session(t.Context(), mainSession)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d answers, %d calls, %d refused as too long, %d summed up, longest request %d bytes", answers, vendor.asked, vendor.refused, session.Compactions, vendor.longest)
		if answers != turns || session.Compactions < 20 || vendor.refused == 0 || vendor.sum == 0 {
			t.Errorf("%d answers, %d compactions, %d refused: the window was not met in earnest", answers, session.Compactions, vendor.refused)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
