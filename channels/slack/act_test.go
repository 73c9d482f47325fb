package slack

import (
	"strings"
	"testing"

	"standin/channels"
	"standin/channels/slack/slacktest"
)

// A reaction is put and taken away by name or sign, twice without harm; a post
// of ours is edited, and only into one message.
func TestReactionsAndEdits(t *testing.T) {
	r := newRig(t, setup{})
	ts := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "hello"})
	to := r.to(slacktest.General, "")
	for range 2 {
		if err := r.c.React(t.Context(), to, ts, "👍", true); err != nil {
			t.Fatal(err)
		}
	}
	if calls := r.s.Calls("reactions.add"); len(calls) == 0 || calls[0].Form["name"] != "thumbsup" {
		t.Errorf("%+v", calls)
	}
	for range 2 {
		if err := r.c.React(t.Context(), to, ts, ":thumbsup:", false); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.c.React(t.Context(), to, ts, "🦜", true); channels.OutcomeOf(err) != channels.Refused || !strings.Contains(err.Error(), "thumbsup") {
		t.Errorf("%v", err)
	}
	posted := r.send(reply("d1", to, "first"))
	if err := r.c.Edit(t.Context(), to, posted.MessageID, "second *words*"); err != nil {
		t.Fatal(err)
	}
	if seen := r.s.Seen(slacktest.General); !strings.Contains(seen, "second") || strings.Contains(seen, "first") {
		t.Errorf("the room reads %q", seen)
	}
	if err := r.c.Edit(t.Context(), to, posted.MessageID, strings.Repeat("long ", 10_000)); channels.OutcomeOf(err) != channels.Refused {
		t.Errorf("%v", err)
	}
	if err := r.c.Edit(t.Context(), to, ts, "mine now"); channels.OutcomeOf(err) != channels.Refused {
		t.Errorf("somebody else's message: %v", err)
	}
}
