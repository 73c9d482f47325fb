package channeltest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"standin/channels"
)

// The double keeps the promises it is used to test others with.
func TestRoomKeepsTheContract(t *testing.T) {
	Contract(t, func(t *testing.T) Rig {
		r := NewRoom("room")
		return Rig{
			Channel: r,
			To:      channels.Address{Channel: "room", Conversation: "dm"},
			Seen:    func() string { return strings.Join(r.Texts(), "\n") },
			Files:   r.Files,
			Say: func(n int, text string) {
				_ = r.Say(t.Context(), channels.Inbound{ID: fmt.Sprint("m", n), Text: text})
			},
			Fail:  func(o channels.Outcome, posted bool) { r.Break(Fault{Outcome: o, Posted: posted}) },
			Limit: 4000,
		}
	})
}

func out(id string) channels.Outbound {
	return channels.Outbound{ID: id, To: channels.Address{Channel: "room", Conversation: "dm"}, Kind: channels.Reply, Text: id}
}

func TestRefuseCountsDown(t *testing.T) {
	r := NewRoom("room")
	r.Refuse(2, channels.NotSent)
	var got []channels.Outcome
	for range 3 {
		_, err := r.Send(t.Context(), out("d1"))
		got = append(got, channels.OutcomeOf(err))
	}
	if fmt.Sprint(got) != "[not_sent not_sent ]" || r.Count(Failed) != 2 || len(r.Posted()) != 1 {
		t.Errorf("outcomes %q, journal %+v", got, r.Journal())
	}
}

func TestOverlappingSendsToOneAddressAreWrittenDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRoom("room")
		release := r.Hold()
		for _, id := range []string{"d1", "d2"} {
			go func() { _, _ = r.Send(t.Context(), out(id)) }()
		}
		synctest.Wait()
		release()
		if _, err := r.Await(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		if r.Count(Overlap) != 1 {
			t.Errorf("journal %+v", r.Journal())
		}
	})
}

func TestSayWaitsForRunAndGivesTheReceiversAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRoom("room")
		full := errors.New("full")
		said := make(chan error, 1)
		go func() { said <- r.Say(t.Context(), channels.Inbound{Text: "hello"}) }()
		synctest.Wait()
		done := make(chan error, 1)
		go func() {
			done <- r.Run(t.Context(), func(_ context.Context, in channels.Inbound) error {
				if in.ID == "" || in.To.Channel != "room" || !in.Authorized {
					t.Errorf("not filled: %+v", in)
				}
				return full
			})
		}()
		if err := <-said; !errors.Is(err, full) {
			t.Errorf("Say gave %v", err)
		}
		r.Close()
		if err := <-done; err != nil {
			t.Errorf("an exhausted room gave %v", err)
		}
	})
}
