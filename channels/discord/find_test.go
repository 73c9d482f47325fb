package discord

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/discord/discordtest"
)

// An ambiguous send is posted once after a look, although the very words stand
// there already as another delivery [I2, IL-270].
func TestAnAmbiguousSendIsPostedOnceAfterALook(t *testing.T) {
	for _, applied := range []bool{true, false} {
		t.Run(fmt.Sprint("applied ", applied), func(t *testing.T) {
			w := newWorld(t, setup{})
			w.mustSend(w.out("d0", w.room.ID, "hello"))
			w.s.Break(discordtest.Fault{Method: http.MethodPost, Path: "/messages", Status: 500, Applied: applied})
			out := w.out("d1", w.room.ID, "hello")
			if _, err := w.c.Send(w.soon(), out); channels.OutcomeOf(err) != channels.Unknown {
				t.Fatalf("gave %v", err)
			}
			_, found, err := w.c.Find(w.soon(), out)
			if err != nil || found != applied {
				t.Fatalf("Find gave %v, %v", found, err)
			}
			w.mustSend(out)
			w.wantTexts(w.room.ID, "hello", "hello")
		})
	}
}

// Without a look it is posted once too, for Discord holds to the nonce, also
// when its answer only came too late [IL-266].
func TestAnAmbiguousSendIsPostedOnceWithoutALook(t *testing.T) {
	for name, fault := range map[string]discordtest.Fault{
		"a server's error after it": {Status: 500, Applied: true},
		"an answer too late":        {Delay: 300 * time.Millisecond},
		"a line that is cut":        {Cut: true, Applied: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, setup{pace: func(p *pace) { p.call = 100 * time.Millisecond }})
			fault.Method, fault.Path = http.MethodPost, "/messages"
			w.s.Break(fault)
			out := w.out("d1", w.room.ID, strings.Repeat("word ", 900))
			if _, err := w.c.Send(w.soon(), out); channels.OutcomeOf(err) != channels.Unknown {
				t.Fatalf("gave %v", err)
			}
			if _, err := w.channel(setup{}).Send(w.soon(), out); err != nil { // another process knows nothing of it
				t.Fatal(err)
			}
			if n := len(w.texts(w.room.ID)); n != 3 {
				t.Errorf("%d messages, want 3", n)
			}
		})
	}
}

// After a restart a delivery is found in the room by its words.
func TestFindAfterARestart(t *testing.T) {
	w := newWorld(t, setup{})
	out := w.out("d1", w.room.ID, strings.Repeat("word ", 900))
	w.mustSend(out)
	again := w.channel(setup{})
	rc, found, err := again.Find(w.soon(), out)
	if err != nil || !found || rc.MessageID != w.s.Posts(w.room.ID)[0].ID {
		t.Errorf("Find gave %v %v %v", rc, found, err)
	}
	if _, found, _ := again.Find(w.soon(), w.out("d2", w.room.ID, "never said")); found {
		t.Error("found what was never said")
	}
	answer := w.out("d3", w.room.ID, "yes")
	answer.ReplyTo = w.s.Say(w.alice, w.room, "really?").ID
	w.mustSend(answer)
	same := w.out("d4", w.room.ID, "yes")
	same.ReplyTo = w.s.Say(w.alice, w.room, "and this?").ID
	if _, found, _ := w.channel(setup{}).Find(w.soon(), same); found {
		t.Error("took the same words to another message for this delivery")
	}
	w.room.NoHistory = true
	if _, _, err := w.channel(setup{}).Find(w.soon(), out); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("where nothing may be read Find gave %v", err)
	}
}
