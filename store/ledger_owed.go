package store

import (
	"context"

	"standin/fallback"
)

// bills are the calls that wait for the journal's next write. Unlike steps none
// is ever dropped: what was spent was spent. Each has its row's id from the start,
// so that who adds up rows and bills counts none of them twice.
type bills struct {
	waiting []call
	writing []call // of the batch that is on its way
	last    int64  // id that was given out last
}

// begin goes on behind the rows that are there: the store has one owner, so
// nobody else makes any.
func (b *bills) begin(ctx context.Context, f *file) error {
	_, err := f.row(ctx, `SELECT coalesce(max(id), 0) FROM ledger`, nil, &b.last)
	return err
}

// add takes a call. The journal's mutex is held, as for the others.
func (b *bills) add(c call) {
	b.last++
	c.id = b.last
	b.waiting = append(b.waiting, c)
}

// take gives what is to be written now.
func (b *bills) take() []call {
	b.writing, b.waiting = append(b.writing, b.waiting...), nil
	return b.writing
}

// written tells that what was taken stands in rows.
func (b *bills) written() { b.writing = nil }

// owed gives the calls of a cap since from that may have no row yet.
func (j *journal) owed(c fallback.Cap, from int64) (list []call) {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, part := range [][]call{j.bills.writing, j.bills.waiting} {
		for i := range part {
			one := &part[i]
			who := fallback.Spender{Agent: fallback.AgentID(one.agent), Kind: fallback.Kind(one.purpose), Job: one.job}
			if one.at >= from && c.Covers(who, fallback.Model{Provider: one.provider, Name: one.model}) {
				list = append(list, *one)
			}
		}
	}
	return list
}
