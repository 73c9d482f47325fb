package bot_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/channels/channeltest"
	"standin/fallback/provider"
	"standin/store"
)

// The bot's own time of a turn, durable rows included: everything but the
// model's answer (design section 6).
func BenchmarkTurn(b *testing.B) {
	for _, sessions := range []int{1, 50} {
		b.Run(fmt.Sprintf("%d side by side", sessions), func(b *testing.B) {
			db, err := store.Open(b.Context(), store.Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			cfg := config()
			cfg.MaxConcurrent, cfg.HistoryTurns = 50, 10
			e := &engine{}
			e.selections(db)
			room := channeltest.NewRoom("room")
			bt := bot.New(bot.Options{
				Config: func() *bot.Config { return cfg }, Engine: e, Store: db,
				Channels: map[string]channels.Channel{"room": room},
				Log:      slog.New(slog.DiscardHandler), Now: time.Now, Sleep: sleep,
			})
			if err := bt.Start(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for i := 0; i < b.N; i += sessions {
				last := make([]channels.Inbound, 0, sessions)
				for s := range sessions {
					in := channels.Inbound{ID: fmt.Sprintf("%d-%d", i, s), Chat: channels.Room, Mentioned: true, Text: "hi",
						To: channels.Address{Channel: "room", Conversation: fmt.Sprint("C", s)}}
					if err := bt.Receive(b.Context(), in); err != nil {
						b.Fatal(err)
					}
					last = append(last, in)
				}
				for _, in := range last {
					if err := bt.Wait(b.Context(), in); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.StopTimer()
			if err := bt.Stop(context.Background()); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// A turn costs the same, however many turns its conversation has behind it.
func BenchmarkTurnByLength(b *testing.B) {
	for _, stored := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("%d turns stored", stored), func(b *testing.B) {
			db, err := store.Open(b.Context(), store.Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			cfg := config()
			cfg.HistoryTurns = 50
			e := &engine{}
			e.selections(db)
			room := channeltest.NewRoom("room")
			bt := bot.New(bot.Options{
				Config: func() *bot.Config { return cfg }, Engine: e, Store: db,
				Channels: map[string]channels.Channel{"room": room},
				Log:      slog.New(slog.DiscardHandler), Now: time.Now, Sleep: sleep,
			})
			if err := bt.Start(b.Context()); err != nil {
				b.Fatal(err)
			}
			say := func(i int) {
				in := channels.Inbound{ID: fmt.Sprint(i), Chat: channels.Direct, Mentioned: true, Text: "hi", To: channels.Address{Channel: "room", Conversation: "C"}}
				if err := bt.Receive(b.Context(), in); err != nil {
					b.Fatal(err)
				}
				if err := bt.Wait(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
			say(-1)
			sess, err := db.Session(b.Context(), mainSession)
			if err != nil {
				b.Fatal(err)
			}
			var past []bot.Entry
			for i := range stored {
				past = append(past, bot.Entry{Turn: fmt.Sprint("t", i), Role: provider.User, Text: "question", At: time.Now()},
					bot.Entry{Turn: fmt.Sprint("t", i), Role: provider.Assistant, Text: "answer", At: time.Now()})
			}
			if _, err := db.End(b.Context(), bot.Ending{Session: mainSession, Epoch: sess.Epoch, How: bot.Answered, Background: true, Entries: past}); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for i := range b.N {
				say(i)
			}
			b.StopTimer()
			if err := bt.Stop(context.Background()); err != nil {
				b.Fatal(err)
			}
		})
	}
}
