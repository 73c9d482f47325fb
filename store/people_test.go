package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"standin/bot"
	"standin/channels"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var asked = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// ask has a person be turned away with a code.
func ask(t *testing.T, d *DB, user, code string, at time.Time) (posted int) {
	t.Helper()
	to := channels.Address{Channel: "slack", Conversation: "D-" + user}
	row, _, err := d.Accept(context.Background(), channels.Inbound{ID: user + at.String(), To: to, From: channels.User{ID: user}}, "", "", at)
	if err != nil {
		t.Fatal(err)
	}
	posts, err := d.End(context.Background(), bot.Ending{Accepted: row.ID, How: bot.Silent, At: at,
		Pair:  &bot.Pairing{Channel: "slack", User: user, Code: code, Asked: at, Expires: at.Add(time.Hour)},
		Posts: []channels.Outbound{{ID: code, To: to, Text: "code " + code}}})
	if err != nil {
		t.Fatal(err)
	}
	return len(posts)
}

func openIn(t *testing.T, dir string) *DB {
	t.Helper()
	d, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// A request, its one line and the message's end are one transaction; the second
// request of a person makes no line until the first has run out [P1].
func TestARequestIsWrittenWithItsLine(t *testing.T) {
	d := openIn(t, t.TempDir())
	for _, c := range []struct {
		user, code string
		after      time.Duration
		want       int
	}{
		{"U1", "AAAAAAAA", 0, 1},
		{"U1", "BBBBBBBB", time.Minute, 0},
		{"U2", "CCCCCCCC", time.Minute, 1},
		{"U3", "DDDDDDDD", time.Minute, 1},
		{"U4", "EEEEEEEE", time.Minute, 0},
		{"U1", "FFFFFFFF", time.Hour, 1},
		{"U4", "GGGGGGGG", time.Hour, 0},
	} {
		if got := ask(t, d, c.user, c.code, asked.Add(c.after)); got != c.want {
			t.Errorf("%s after %v: %d lines, want %d", c.user, c.after, got, c.want)
		}
	}
}

// The daemon goes on while a person approves at a terminal; only the first of
// all approvals makes an owner [P2].
func TestApprovalBesideTheOwner(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	if _, err := OpenBeside(ctx, Options{Dir: dir}); err == nil {
		t.Fatal("opened a state directory that holds nothing")
	}
	d := openIn(t, dir)
	ask(t, d, "U1", "AAAAAAAA", asked)
	ask(t, d, "U2", "BBBBBBBB", asked)
	beside, err := OpenBeside(ctx, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := beside.Approve(ctx, "slack", "AAAAAAAA", asked.Add(time.Hour), true); !errors.Is(err, bot.ErrNoPairing) {
		t.Errorf("a code of an hour ago: %v", err)
	}
	if _, err := beside.Approve(ctx, "discord", "AAAAAAAA", asked, true); !errors.Is(err, bot.ErrNoPairing) {
		t.Errorf("a code of another channel: %v", err)
	}
	if p, err := beside.Approve(ctx, "slack", "aaaaaaaa", asked, true); err != nil || !p.Owner || p.User != "U1" {
		t.Errorf("the first: %+v, %v", p, err)
	}
	if p, err := beside.Approve(ctx, "slack", "BBBBBBBB", asked, true); err != nil || p.Owner {
		t.Errorf("a second owner: %+v, %v", p, err)
	}
	if err := beside.Close(); err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string][2]bool{"U1": {true, true}, "U2": {true, false}, "U3": {}} {
		k, err := d.Known(ctx, channels.Address{Channel: "slack"}, user)
		if err != nil || [2]bool{k.Paired, k.Owner} != want {
			t.Errorf("%s is known as %+v, %v", user, k, err)
		}
	}
	if k, _ := d.Known(ctx, channels.Address{Channel: "slack", Account: "work"}, "U1"); k.Paired {
		t.Error("approved for another account")
	}
}

// What a message and a post carry on busy platforms is read back as it was.
func TestFactsAndExtrasSurvive(t *testing.T) {
	ctx, d := context.Background(), openIn(t, t.TempDir())
	in := channels.Inbound{ID: "1", To: channels.Address{Channel: "discord", Account: "a", Conversation: "T1"}, Chat: channels.Room,
		From: channels.User{ID: "U", Name: "Una"}, Text: "hi", At: asked, Bot: true, Implicit: true, MentionsOthers: true, Guild: "G",
		Parent: "C1", Roles: []string{"R1", "R2"}, Command: true, ThreadRoot: "1", Files: []channels.File{{Name: "a.png", Type: "image/png", Size: 7}}}
	row, _, err := d.Accept(ctx, in, "agent:main:discord:channel:t1", "main", asked)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := d.Unended(ctx)
	equateTimes := cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	if diff := cmp.Diff(in, rows[0].In, equateTimes, cmpopts.IgnoreFields(channels.File{}, "Open")); diff != "" {
		t.Errorf("the message (-) and its row (+):\n%s", diff)
	}
	out := channels.Outbound{ID: "x", To: in.To, Kind: channels.Command, Text: "t", ReplyTo: "1", Only: "U", For: "U", Choices: []channels.Choice{{Label: "l", Text: "/t"}}}
	if _, err := d.End(ctx, bot.Ending{Accepted: row.ID, Session: row.Session, How: bot.Commanded, At: asked, Posts: []channels.Outbound{out}}); err != nil {
		t.Fatal(err)
	}
	due, err := d.Due(ctx, asked)
	if err != nil || len(due) != 1 {
		t.Fatal(due, err)
	}
	if diff := cmp.Diff(out, due[0].Outbound); diff != "" {
		t.Errorf("the post (-) and its row (+):\n%s", diff)
	}
}
