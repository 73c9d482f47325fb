package store

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/bot"
	"standin/channels"
	"standin/heartbeat"
)

// A heartbeat's row comes back as it was written, over a restart; the switch is
// a person's and no beat moves it [H3, H8, H9, H22].
func TestAHeartbeatsRow(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	open := func() *DB {
		t.Helper()
		d, err := Open(ctx, Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := open()
	at := time.UnixMilli(1_780_000_000_123)
	want := heartbeat.Row{Agent: "main", Turn: "t1", Reason: heartbeat.Interval, Began: at, Running: []string{"mail"}, Last: at.Add(-time.Hour),
		Status: heartbeat.Ran, Why: heartbeat.WhyPosted, Detail: "d", Model: "openai/gpt-5.5", At: at, Due: at.Add(time.Hour), Text: "h", TextAt: at,
		Failed: "f", FailedAt: at, Failures: 3, Tasks: map[string]time.Time{"mail": at, "rain": at.Add(-time.Minute)}}
	if err := d.SwitchHeartbeat(ctx, "main", true); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.PutHeartbeat(ctx, want); err != nil {
			t.Fatal(err)
		}
	}
	seed, err := d.HeartbeatSeed(ctx)
	if err != nil || len(seed) < 16 {
		t.Fatalf("seed %q, %v", seed, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = open()
	defer d.Close()
	want.Off = true
	got, err := d.Heartbeat(ctx, "main")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if again, _ := d.HeartbeatSeed(ctx); again != seed {
		t.Errorf("the seed moved from %q to %q", seed, again)
	}
	if fresh, err := d.Heartbeat(ctx, "ops"); err != nil || !cmp.Equal(fresh, heartbeat.Row{Agent: "ops"}) {
		t.Errorf("an agent that never beat: %+v, %v", fresh, err)
	}
}

// What a beat asks of its session: the post that a former process wrote, and
// whether one still waits for its sending there [H12, I2].
func TestWhatABeatAsksOfTheOutbox(t *testing.T) {
	ctx := context.Background()
	d, err := Open(ctx, Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	at, to := time.UnixMilli(1_780_000_000_000), channels.Address{Channel: "room", Conversation: "dm"}
	if _, err := d.End(ctx, bot.Ending{Background: true, Turn: "t", At: at, Posts: []channels.Outbound{{ID: "t-r", To: to, Kind: channels.Reply, Text: "mail"}}}); err != nil {
		t.Fatal(err)
	}
	if text, when, found, err := d.Delivered(ctx, "t-r"); text != "mail" || !when.Equal(at) || !found || err != nil {
		t.Errorf("%q %s %t %v", text, when, found, err)
	}
	if _, _, found, _ := d.Delivered(ctx, "u-r"); found {
		t.Error("a post is found that nobody made")
	}
	for since, want := range map[time.Time]bool{at.Add(-time.Second): true, at: false} {
		if got, err := d.OwedTo(ctx, to, since); got != want || err != nil {
			t.Errorf("since %s: %t, %v", since, got, err)
		}
	}
	if got, _ := d.OwedTo(ctx, channels.Address{Channel: "room", Conversation: "other"}, at.Add(-time.Second)); got {
		t.Error("a post to another place counts")
	}
}
