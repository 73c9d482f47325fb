package discord

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/discord/discordtest"
)

// Whatever the line, the gateway and the API do, each message is handed over
// once and in the order of its conversation, and each delivery is posted once
// and in the order of its address.
func TestChaos(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { chaos(t, rand.New(rand.NewPCG(seed, 7))) })
	}
}

func chaos(t *testing.T, dice *rand.Rand) {
	const perRoom, perAddress = 40, 15
	w := newWorld(t, setup{server: discordtest.Options{Interval: 50 * time.Millisecond}, pace: func(p *pace) { p.call = 300 * time.Millisecond },
		config: func(c *Config) { c.CatchUp.Limit = 100 }}) // all that may be said in one gap
	rooms := []*discordtest.Channel{w.room, w.guild.NewChannel("two"), w.s.DM(w.alice), w.s.DM(w.bob)}
	flaky := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	w.judge = func(channels.Inbound) error {
		mu.Lock()
		defer mu.Unlock()
		if flaky.IntN(10) == 0 {
			return errors.New("the store is busy")
		}
		return nil
	}

	for i, room := range rooms { // what was never spoken in cannot be read again
		w.s.Say(w.alice, room, fmt.Sprint("hello ", i))
		w.next()
	}
	var work sync.WaitGroup
	for i, room := range rooms { // the bot answers in every room
		work.Go(func() { postAll(w, room.ID, fmt.Sprint("out", i), perAddress) })
	}
	said := make([][]*discordtest.Message, len(rooms))
	for n := range perRoom {
		for i, room := range rooms {
			m := w.s.Say(w.alice, room, fmt.Sprintf("room %d message %d", i, n))
			said[i] = append(said[i], m)
			if dice.IntN(4) == 0 {
				w.s.Redeliver(said[i][dice.IntN(len(said[i]))])
			}
		}
		trouble(w.s, dice)
	}

	got := map[string][]string{}
	for range perRoom * len(rooms) {
		in := w.next()
		got[in.To.Conversation] = append(got[in.To.Conversation], in.Text)
	}
	for i, room := range rooms {
		var want []string
		for _, m := range said[i] {
			want = append(want, m.Content)
		}
		if a, b := strings.Join(got[room.ID], "\n"), strings.Join(want, "\n"); a != b {
			t.Errorf("room %d was handed over as\n%s\nwant\n%s", i, a, b)
		}
	}
	work.Wait()
	for i, room := range rooms {
		var want []string
		for n := range perAddress {
			want = append(want, fmt.Sprintf("out%d %d", i, n))
		}
		w.wantTexts(room.ID, want...)
	}
	w.judge = nil
	w.ready()
	w.wantNothing(w.bob)
	if n := w.s.Count(discordtest.Broken, ""); n != 0 {
		t.Errorf("the adapter broke a rule of Discord's %d times", n)
	}
}

// trouble does something that Discord or the line does, now and then.
func trouble(s *discordtest.Server, dice *rand.Rand) {
	switch dice.IntN(14) {
	case 0:
		s.Drop()
	case 1:
		s.AskToReconnect()
	case 2:
		s.Invalidate(true)
	case 3:
		s.Shut(4000)
	case 4:
		s.RefuseResumes("cut")
	case 5:
		s.Noise()
	case 6:
		s.Break(discordtest.Fault{Method: http.MethodPost, Path: "/messages", Status: 500, Applied: dice.IntN(2) == 0})
	case 7:
		s.Break(discordtest.Fault{Method: http.MethodPost, Path: "/messages", Cut: true, Applied: dice.IntN(2) == 0})
	case 8:
		s.Break(discordtest.Limited(http.MethodPost, "/messages", 20*time.Millisecond))
	case 9:
		s.Break(discordtest.LimitedForAll(10 * time.Millisecond))
	case 10:
		s.Invalidate(false)
	case 11:
		s.RefuseResumes("invalid")
		s.Drop()
	case 12:
		s.Mute()
	case 13:
		s.Shut(1000)
	}
}

// postAll posts a room's deliveries in order, as the outbox does: what was
// certainly not sent is sent again, what is unknown is looked up first.
func postAll(w *world, room, name string, n int) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for i := range n {
		out := w.out(fmt.Sprintf("%s-%d", name, i), room, fmt.Sprintf("%s %d", name, i))
		unknown := false
		for ctx.Err() == nil {
			if unknown {
				if _, found, err := w.c.Find(ctx, out); err == nil && found {
					break
				} else if err != nil {
					continue
				}
			}
			_, err := w.c.Send(ctx, out)
			if err == nil {
				break
			}
			if channels.OutcomeOf(err) == channels.Refused {
				w.t.Errorf("%s was refused: %v", out.ID, err)
				return
			}
			unknown = channels.OutcomeOf(err) == channels.Unknown
		}
	}
}
