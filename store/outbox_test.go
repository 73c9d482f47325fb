package store

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"standin/bot"
	"standin/channels"
)

// post writes a delivery to the conversation.
func post(t testing.TB, d *DB, id, conversation string) {
	t.Helper()
	out := channels.Outbound{ID: id, To: room(conversation), Kind: channels.Reply, Text: id}
	end(t, d, bot.Ending{Session: mainSession, How: bot.Answered, At: noon, Turn: "t", Posts: []channels.Outbound{out}})
}

func due(t testing.TB, d *DB, now time.Time) string {
	t.Helper()
	list, err := d.Due(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	return idsOf(list)
}

// A delivery never overtakes an earlier one to the same address; one that was
// sent, or refused for good, does not stand in the way [I2].
func TestDueInOrder(t *testing.T) {
	d := open(t, t.TempDir())
	post(t, d, "a1", "A")
	post(t, d, "a2", "A")
	post(t, d, "b1", "B")
	post(t, d, "a3", "A")
	step := func(what, want string) {
		t.Helper()
		if got := due(t, d, noon); got != want {
			t.Errorf("%s: due %q, want %q", what, got, want)
		}
	}
	claim := func(id string, want bool) {
		t.Helper()
		if ok, err := d.Claim(t.Context(), id); ok != want || err != nil {
			t.Errorf("claim %s: %v %v", id, ok, err)
		}
	}
	mark := func(id string, s bot.DeliveryState, next time.Time) {
		t.Helper()
		v := bot.Delivery{Outbound: channels.Outbound{ID: id}, State: s, Next: next, Attempts: 2, Error: "e", MessageID: "m"}
		if err := d.Mark(t.Context(), v); err != nil {
			t.Error(err)
		}
	}
	step("at first", "a1 b1")
	claim("a1", true)
	claim("a1", false)
	step("a1 is being sent", "b1")
	mark("a1", bot.Pending, noon.Add(time.Minute))
	step("a1 waits for its next try, and a2 behind it", "b1")
	if got := due(t, d, noon.Add(time.Minute)); got != "a1 b1" {
		t.Errorf("a minute later: %q", got)
	}
	claim("a1", true)
	mark("a1", bot.Unknown, noon)
	step("a1 may have been posted", "a1 b1")
	claim("a1", true)
	mark("a1", bot.Sent, noon)
	step("a1 was sent", "a2 b1")
	mark("a1", bot.Pending, noon)
	step("a late mark changes nothing", "a2 b1")
	claim("a1", false)
	claim("a2", true)
	mark("a2", bot.Refused, noon)
	step("a2 was refused", "b1 a3")

	claim("a3", true)
	if n, err := d.Interrupted(t.Context()); n != 1 || err != nil {
		t.Errorf("interrupted: %d %v", n, err)
	}
	list, err := d.Due(t.Context(), noon)
	if err != nil || idsOf(list) != "b1 a3" || list[1].State != bot.Unknown || list[1].Attempts != 1 {
		t.Errorf("after a restart: %+v %v", list, err)
	}
	if n, _ := d.Interrupted(t.Context()); n != 0 {
		t.Errorf("interrupted again: %d", n)
	}
	post(t, d, "a3", "B") // the same id is the same message, owed or sent
	post(t, d, "a1", "A")
	if list, _ := d.Owed(t.Context()); idsOf(list) != "b1 a3" || list[1].State != bot.Unknown {
		t.Errorf("owed: %+v", list)
	}
}

// For any history of claims and marks: each address is sent in the order it was
// written, and nothing is due that stands behind an unfinished one.
func TestOutboxOrder(t *testing.T) {
	d := open(t, t.TempDir())
	serial := 0
	rapid.Check(t, func(t *rapid.T) {
		serial++
		prefix := time.Unix(int64(serial), 0).UTC().Format("150405")
		queue := map[string][]string{} // conversation → unfinished ids in order
		state := map[string]bot.DeliveryState{}
		count := 0
		conversations := rapid.SampledFrom([]string{prefix + "A", prefix + "B"})
		t.Repeat(map[string]func(*rapid.T){
			"post": func(t *rapid.T) {
				c := conversations.Draw(t, "to")
				count++
				id := c + "-" + time.Unix(int64(count), 0).UTC().Format("150405")
				out := channels.Outbound{ID: id, To: room(c), Kind: channels.Reply, Text: id}
				if _, err := d.End(t.Context(), bot.Ending{Session: mainSession, At: noon, Posts: []channels.Outbound{out}}); err != nil {
					t.Fatal(err)
				}
				queue[c], state[id] = append(queue[c], id), bot.Pending
			},
			"claim or mark the head": func(t *rapid.T) {
				c := conversations.Draw(t, "of")
				if len(queue[c]) == 0 {
					t.Skip()
				}
				id := queue[c][0]
				if state[id] != bot.Sending {
					if ok, err := d.Claim(t.Context(), id); !ok || err != nil {
						t.Fatal(ok, err)
					}
					state[id] = bot.Sending
					return
				}
				s := rapid.SampledFrom([]bot.DeliveryState{bot.Pending, bot.Unknown, bot.Sent, bot.Refused}).Draw(t, "outcome")
				if err := d.Mark(t.Context(), bot.Delivery{Outbound: channels.Outbound{ID: id}, State: s}); err != nil {
					t.Fatal(err)
				}
				state[id] = s
				if s == bot.Sent || s == bot.Refused {
					queue[c] = queue[c][1:]
				}
			},
			"": func(t *rapid.T) {
				list, err := d.Due(t.Context(), noon)
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]string{}
				for _, v := range list {
					if strings.HasPrefix(v.ID, prefix) {
						got[v.To.Conversation] = v.ID
					}
				}
				want := map[string]string{}
				for c, ids := range queue {
					if len(ids) > 0 && state[ids[0]] != bot.Sending {
						want[c] = ids[0]
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatal(diff)
				}
			},
		})
	})
}
