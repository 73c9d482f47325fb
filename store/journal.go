package store

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"standin/fallback"
)

const (
	// journalLinger is how long a step may wait for others to share its
	// transaction; a kill loses at most that much of the story, never a row of
	// the turn itself.
	journalLinger = 20 * time.Millisecond
	// journalRoom bounds the steps in memory while the disk does not take them.
	journalRoom = 4096
)

// Journal gives the record of the runs' steps [I10].
func (d *DB) Journal() fallback.Journal { return d.journal }

// journal keeps steps in memory until its goroutine has written them: a turn
// does not wait for the disk. When the disk is stuck the oldest are dropped,
// counted and reported.
type journal struct {
	file *file
	log  *slog.Logger
	wake chan struct{} // something waits
	stop chan struct{}
	done chan struct{}

	writing sync.Mutex // held while a batch is written, so that batches keep their order

	mu      sync.Mutex
	waiting []keptStep
	bills   bills
	dropped int
	behind  bool // the last flush failed, and that was reported
	closed  bool
}

// keptStep is a step as its row holds it.
type keptStep struct {
	at                 int64
	session, run, what string
	step               []byte
	log                logged
}

func newJournal(f *file, log *slog.Logger, owed bills) *journal {
	j := &journal{file: f, log: log, bills: owed, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go j.run()
	return j
}

// Record takes a step; it does not block. The step is copied: the caller may go
// on changing what it points to. A read-only or closed store drops it.
func (j *journal) Record(_ context.Context, s fallback.Step) {
	if j == nil {
		return
	}
	text, err := json.Marshal(s)
	if err != nil { // a Step holds nothing that JSON cannot say
		j.log.Error("step not recorded", "run", s.Run, "what", s.What, "error", err)
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return
	}
	if len(j.waiting) == journalRoom {
		j.waiting = append(j.waiting[:0], j.waiting[journalRoom/4:]...)
		j.dropped += journalRoom / 4
	}
	j.waiting = append(j.waiting, keptStep{millis(s.At), string(s.Session), s.Run, string(s.What), text, loggedOf(s)})
	if s.What == fallback.StepAttempt && s.Attempt != nil {
		j.bills.add(callOf(s))
	}
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// run writes what waits, in batches, until close.
func (j *journal) run() {
	defer close(j.done)
	linger := time.NewTimer(0)
	<-linger.C
	for {
		select {
		case <-j.stop:
			j.report(j.flush(context.Background()))
			return
		case <-j.wake:
		}
		linger.Reset(journalLinger)
		select {
		case <-j.stop:
		case <-linger.C:
		}
		j.report(j.flush(context.Background()))
	}
}

// flush writes all that waits in one transaction. What could not be written
// waits on for the next flush.
func (j *journal) flush(ctx context.Context) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.mu.Lock()
	batch := j.waiting
	j.waiting = nil
	calls := j.bills.take()
	j.mu.Unlock()
	if len(batch) == 0 && len(calls) == 0 {
		return nil
	}
	err := j.file.write(ctx, "write journal", func(t *tx) error {
		log := make([]logged, len(batch))
		for i, s := range batch {
			log[i] = s.log
			if _, err := t.exec(`INSERT INTO steps (at, session, run, what, step, model, reason) VALUES (?,?,?,?,?,?,?)`,
				s.at, s.session, s.run, s.what, string(s.step), s.log.model, s.log.failure); err != nil {
				return err
			}
		}
		if err := t.logRuns(log); err != nil {
			return err
		}
		for i := range calls {
			if err := calls[i].put(t); err != nil {
				return err
			}
		}
		return nil
	})
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		j.bills.written()
	} else {
		j.waiting = append(batch, j.waiting...)
		if over := len(j.waiting) - journalRoom; over > 0 {
			j.waiting = j.waiting[over:]
			j.dropped += over
		}
	}
	return err
}

// report tells of steps that were lost, and once of a disk that does not take
// them.
func (j *journal) report(err error) {
	j.mu.Lock()
	dropped, waiting, news := j.dropped, len(j.waiting), err != nil && !j.behind
	j.dropped, j.behind = 0, err != nil
	j.mu.Unlock()
	if dropped > 0 || news {
		j.log.Warn("the decision log is behind", "dropped", dropped, "waiting", waiting, "error", err)
	}
}

// close writes what waits and ends the goroutine.
func (j *journal) close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	close(j.stop)
	<-j.done
}

// StepFilter picks steps; zero fields pick all.
type StepFilter struct {
	Session fallback.SessionID
	Run     string
	What    fallback.StepKind
	Limit   int // at most so many; 0: 100
}

// Steps gives the latest steps that the filter picks, newest first, for "why".
// What this process recorded before the call is among them.
func (d *DB) Steps(ctx context.Context, want StepFilter) ([]fallback.Step, error) {
	if d.journal != nil {
		d.journal.report(d.journal.flush(ctx)) // on a full disk the older steps are still told
	}
	query, args := `SELECT step FROM steps WHERE TRUE`, []any{}
	pick := func(column, value string) {
		if value != "" {
			query, args = query+` AND `+column+` = ?`, append(args, value)
		}
	}
	pick("run", want.Run)
	pick("session", string(want.Session))
	pick("what", string(want.What))
	if want.Limit <= 0 {
		want.Limit = 100
	}
	var list []fallback.Step
	err := d.main.each(ctx, query+` ORDER BY id DESC LIMIT ?`, append(args, want.Limit), func(scan func(...any) error) error {
		var text []byte
		if err := scan(&text); err != nil {
			return err
		}
		var s fallback.Step
		if err := json.Unmarshal(text, &s); err != nil {
			return fmt.Errorf("a step of the journal: %w", err)
		}
		list = append(list, s)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read steps: %w", err)
	}
	return list, nil
}
