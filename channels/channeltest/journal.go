package channeltest

import (
	"context"
	"slices"

	"standin/channels"
)

// Posted gives what stands in the room, in order.
func (r *Room) Posted() []channels.Outbound {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.posted)
}

// Texts gives the texts that stand in the room, in order; with kinds, only
// those of these kinds.
func (r *Room) Texts(kinds ...channels.Kind) []string {
	var all []string
	for _, out := range r.Posted() {
		if len(kinds) == 0 || slices.Contains(kinds, out.Kind) {
			all = append(all, out.Text)
		}
	}
	return all
}

// Journal gives everything that happened, in order.
func (r *Room) Journal() []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.journal)
}

// Count says how often an event is in the journal.
func (r *Room) Count(event string) int {
	n := 0
	for _, e := range r.Journal() {
		if e.Event == event {
			n++
		}
	}
	return n
}

// Await waits until n messages stand in the room and gives all that do.
func (r *Room) Await(ctx context.Context, n int) ([]channels.Outbound, error) {
	for {
		r.mu.Lock()
		posted, changed := slices.Clone(r.posted), r.changed
		r.mu.Unlock()
		if len(posted) >= n {
			return posted, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return posted, ctx.Err()
		}
	}
}

func (r *Room) noteLocked(e Entry) {
	r.journal = append(r.journal, e)
	close(r.changed)
	r.changed = make(chan struct{})
}

// Draft implements channels.Drafter: it writes down what a person would see.
func (r *Room) Draft(_ context.Context, to channels.Address, _ string) channels.Draft {
	return roomDraft{r, to}
}

type roomDraft struct {
	r  *Room
	to channels.Address
}

func (d roomDraft) note(event, text string) {
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	d.r.noteLocked(Entry{Event: event, To: d.to, Text: text})
}

func (d roomDraft) Working()         { d.note(Working, "") }
func (d roomDraft) Show(text string) { d.note(Drafted, text) }
func (d roomDraft) Discard()         { d.note(Discarded, "") }
func (d roomDraft) Close()           { d.note(Finished, "") }
