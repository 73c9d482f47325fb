package daemon

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/channels"
	"standin/channels/channeltest"
	"standin/cmd/standin/config"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

// What a channel brought before its input ended is answered before the process
// goes, however many wait; a signal leaves them to the next start [I1, G33].
func TestTheEndOfInputWaitsForTheAnswersAndASignalDoesNot(t *testing.T) {
	const waiting = 20 // the most that may wait [S25]; at two seconds each, more than a drain may take
	for name, stop := range map[string]func(*channeltest.Room, context.CancelFunc){
		"end of input": func(r *channeltest.Room, _ context.CancelFunc) { r.Close() },
		"signal":       func(_ *channeltest.Room, cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				conf, faults := config.Parse("config.yaml", []byte(benchConfig), func(string) string { return "" }, dir)
				if conf == nil {
					t.Fatal(faults)
				}
				vendor := &providertest.Vendor{}
				vendor.Always(providertest.When{}, providertest.Answer("ok").After(2*time.Second))
				room, log := channeltest.NewRoom("room"), slog.New(slog.DiscardHandler)
				a, err := New(t.Context(), Parts{
					State: dir, Config: conf, Channels: []channels.Channel{room},
					Vendors: provider.New(provider.Options{Transport: vendor, Log: log}),
					Log:     log, Now: time.Now, Sleep: Sleep,
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan error, 1)
				go func() { done <- a.Run(ctx) }()
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

// A credentials file that cannot be read would fail every turn, so the daemon
// does not start on it and says which file it is; the file stays as it is.
func TestADamagedCredentialsFileIsToldAtTheStart(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "agents", "main", "agent", "standin-agent.sqlite")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	damaged := []byte("this was a database once")
	if err := os.WriteFile(file, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	conf, faults := config.Parse("config.yaml", []byte(benchConfig), func(string) string { return "" }, dir)
	if conf == nil {
		t.Fatal(faults)
	}
	_, err := New(t.Context(), Parts{State: dir, Config: conf, Log: slog.New(slog.DiscardHandler), Now: time.Now, Sleep: Sleep})
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("newApp: %v, want an error that names %s", err, file)
	}
	if now, _ := os.ReadFile(file); !bytes.Equal(now, damaged) {
		t.Error("the damaged file was changed")
	}
}
