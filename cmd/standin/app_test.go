package main

import (
	"context"
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"standin/channels"
	"standin/channels/channeltest"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

// What a channel brought before its input ended is answered before the process
// goes, however many wait; a signal leaves them to the next start [I1, G33].
func TestTheEndOfInputWaitsForTheAnswersAndASignalDoesNot(t *testing.T) {
	const waiting = 40 // at a second each, more than a drain may take
	for name, stop := range map[string]func(*channeltest.Room, context.CancelFunc){
		"end of input": func(r *channeltest.Room, _ context.CancelFunc) { r.Close() },
		"signal":       func(_ *channeltest.Room, cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				config, faults := parseConfig("config.yaml", []byte(benchConfig), func(string) string { return "" }, dir)
				if config == nil {
					t.Fatal(faults)
				}
				vendor := &providertest.Vendor{}
				vendor.Always(providertest.When{}, providertest.Answer("ok").After(time.Second))
				room, log := channeltest.NewRoom("room"), slog.New(slog.DiscardHandler)
				a, err := newApp(t.Context(), parts{
					state: dir, config: config, channels: []channels.Channel{room},
					vendors: provider.New(provider.Options{Transport: vendor, Log: log}),
					log:     log, now: time.Now, sleep: sleep,
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan error, 1)
				go func() { done <- a.run(ctx) }()
				synctest.Wait()
				for i := range waiting {
					if err := room.Say(ctx, channels.Inbound{
						ID: strconv.Itoa(i), Text: "hello", To: channels.Address{Channel: "room", Conversation: "one"},
						Chat: channels.Room, Mentioned: true, From: channels.User{ID: "alice"},
					}); err != nil {
						t.Fatal(err)
					}
				}
				stop(room, cancel)
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				want := map[string]int{"end of input": waiting, "signal": 1}[name]
				if got := room.Count(channeltest.Posted); got != want {
					t.Errorf("%d of %d messages are answered, want %d", got, waiting, want)
				}
			})
		})
	}
}
