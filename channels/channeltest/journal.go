package channeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"standin/channels"
)

// Posted gives what stands in the room, in order.
func (r *Room) Posted() []channels.Outbound {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.posted)
}

// Files gives the files that stand in the room, each as "name: content", in order.
func (r *Room) Files() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.files)
}

func readFiles(files []channels.File) (all []string, err error) {
	for _, f := range files {
		data, err := channels.ReadFile(context.Background(), f, channels.MaxFileBytes)
		if err != nil {
			return nil, err
		}
		all = append(all, channels.FileName(f.Name)+": "+string(data))
	}
	return all, nil
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

// Draft implements channels.Drafter: it writes down what a person would see. What
// it shows stands in the room until it is discarded, or closed and overtaken by
// an answer.
func (r *Room) Draft(ctx context.Context, to channels.Address, _ string, book channels.DraftBook) channels.Draft {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drafted++
	return &roomDraft{r: r, to: to, book: book, ctx: context.WithoutCancel(ctx), id: fmt.Sprintf("%s-draft-%d", r.name, r.drafted)}
}

// Standing gives what drafts show in the room, in the order they were opened.
func (r *Room) Standing() (texts []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.standing {
		texts = append(texts, d.text)
	}
	return texts
}

// Retract implements channels.Retractor.
func (r *Room) Retract(_ context.Context, m channels.DraftMark) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteLocked(Entry{Event: Retracted, To: m.To, Text: m.ID})
	if r.holds > 0 {
		r.holds--
		return &channels.SendError{Outcome: channels.NotSent, Err: errors.New("the test said so")}
	}
	r.standing = slices.DeleteFunc(r.standing, func(d *roomDraft) bool { return d.id == m.ID })
	return nil
}

// Cling makes the next n retractions fail for a passing reason.
func (r *Room) Cling(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holds = n
}

type roomDraft struct {
	r    *Room
	to   channels.Address
	book channels.DraftBook
	ctx  context.Context // of the book
	id   string

	text   string
	closed bool
}

func (d *roomDraft) note(event, text string) {
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	d.r.noteLocked(Entry{Event: event, To: d.to, Text: text})
}

func (d *roomDraft) Working() { d.note(Working, "") }

func (d *roomDraft) Show(text string) {
	if d.text == "" && d.book != nil && d.book.Keep(d.ctx, channels.DraftMark{ID: d.id, To: d.to, Text: text, At: time.Now()}) != nil {
		return
	}
	d.r.mu.Lock()
	if d.text == "" {
		d.r.standing = append(d.r.standing, d)
	}
	d.text = text
	d.r.mu.Unlock()
	d.note(Drafted, text)
}

func (d *roomDraft) Discard() {
	d.r.mu.Lock()
	d.r.endLocked(d)
	d.r.mu.Unlock()
	d.note(Discarded, "")
}

func (d *roomDraft) Close() {
	d.r.mu.Lock()
	d.closed = true
	d.r.mu.Unlock()
	d.note(Finished, "")
}

// endLocked takes a draft away.
func (r *Room) endLocked(d *roomDraft) {
	i := slices.Index(r.standing, d)
	if i < 0 {
		return
	}
	r.standing = slices.Delete(r.standing, i, i+1)
	d.text = ""
	if d.book != nil {
		d.book.Gone(d.ctx, d.id)
	}
}

// overtakeLocked takes the closed drafts away where a post now stands.
func (r *Room) overtakeLocked(to channels.Address) {
	for _, d := range slices.Clone(r.standing) {
		if d.to == to && d.closed {
			r.endLocked(d)
		}
	}
}
