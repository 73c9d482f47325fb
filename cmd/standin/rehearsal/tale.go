package rehearsal

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// tale is what happened, in order.
type tale struct {
	start time.Time
	now   func() time.Time

	mu     sync.Mutex
	lines  []told
	models map[string]fallback.Model // by delivery id: who answered
	turns  map[string]string         // by the daemon's id of a turn: the one in the events
}

// told is an event, or a remark for people alone.
type told struct {
	happening
	who    string // who said it: a person
	remark string // "" for an event
}

// note adds a remark: what the script did.
func (t *tale) note(session fallback.SessionID, text string) {
	t.add(told{happening: happening{at: t.now().Sub(t.start), session: string(session)}, remark: text})
}

// heard adds what a person said.
func (t *tale) heard(session fallback.SessionID, who, text string) {
	t.add(told{happening: happening{at: t.now().Sub(t.start), session: string(session)}, who: who, remark: text})
}

// tell adds an event that happens now.
func (t *tale) tell(session fallback.SessionID, event string, all ...fact) {
	t.add(told{happening: happening{at: t.now().Sub(t.start), event: event, session: string(session), facts: facts(all...)}})
}

// turn numbers the turns in the order in which they are heard of, which is the
// same in each run, whoever is faster in getting an id.
func (t *tale) turn(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.turns[id] == "" {
		t.turns[id] = fmt.Sprintf("t%d", len(t.turns)+1)
	}
	return t.turns[id]
}

func (t *tale) add(one told) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, one)
}

// events are the lines without the remarks.
func (t *tale) events() (all []happening) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.lines {
		if l.remark == "" {
			all = append(all, l.happening)
		}
	}
	return all
}

// posted tells of a post that the room has got (R13).
func (t *tale) posted(out channels.Outbound, threaded bool) {
	session := fallback.SessionID(out.To.Conversation)
	text := fact{"text", out.Text}
	switch out.Kind {
	case channels.Notice:
		t.tell(session, "notice", text, fact{"threaded", threaded}, fact{"usesReplySlot", usesReplySlot(out.Kind)})
	case channels.Reply:
		t.mu.Lock()
		model := t.models[out.ID]
		delete(t.models, out.ID)
		t.mu.Unlock()
		t.tell(session, "reply", fact{"model", model.String()}, text, fact{"threaded", threaded})
	case channels.Failure:
		t.tell(session, "failure", text)
	case channels.Command:
		t.tell(session, "command", text)
	}
}

// witness stands between a process and its store and journal and tells what it
// sees there. When its process has died it is silent.
type witness struct {
	bot.Store
	tale  *tale
	alive context.Context
}

// Record implements fallback.Journal.
func (w *witness) Record(_ context.Context, s fallback.Step) {
	if w.alive.Err() != nil {
		return
	}
	s.Run = w.tale.turn(s.Run)
	if s.Record != nil {
		record := *s.Record // others read it too
		record.RunID = w.tale.turn(record.RunID)
		s.Record = &record
	}
	if h, ok := happened(s, w.tale.start); ok {
		w.tale.add(told{happening: h})
	}
}

// End implements bot.Store. It tells of silent turns.
func (w *witness) End(ctx context.Context, e bot.Ending) ([]bot.Delivery, error) {
	if w.alive.Err() != nil {
		return w.Store.End(ctx, e)
	}
	w.remember(e)
	posted, err := w.Store.End(ctx, e)
	if err != nil {
		return posted, err
	}
	if e.How == bot.Silent && !e.Background {
		w.tale.tell(e.Session, "silent", fact{"why", whySilent(e.Why)})
	}
	return posted, nil
}

// whySilent is the reason of a silent turn in the words of R13.
func whySilent(why string) string {
	if why == "acted" {
		return "side_effects"
	}
	return strings.ReplaceAll(why, " ", "_")
}

// remember keeps who answered until the reply is posted.
func (w *witness) remember(e bot.Ending) {
	for _, entry := range e.Entries {
		for _, p := range e.Posts {
			if entry.Model.IsZero() || p.Kind != channels.Reply {
				continue
			}
			w.tale.mu.Lock()
			w.tale.models[p.ID] = entry.Model
			w.tale.mu.Unlock()
		}
	}
}

// connection is the room as one process sees it: when the process has died, its
// posts reach nobody.
type connection struct {
	*stagedRoom
	alive context.Context
}

// Send implements channels.Channel.
func (c *connection) Send(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
	if c.alive.Err() != nil {
		return channels.Receipt{}, &channels.SendError{Outcome: channels.NotSent, Err: errDied}
	}
	return c.stagedRoom.Send(ctx, out)
}
