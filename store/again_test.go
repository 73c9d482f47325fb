package store

import (
	"testing"

	"standin/fallback"
)

// A disk that fails after it has taken a batch brings the batch once more: each
// call counts once, and those behind it are written.
func TestABatchThatComesTwiceCountsOnce(t *testing.T) {
	d := open(t, t.TempDir())
	again := callOf(paid(noon, fallback.Chat, 1))
	again.id = d.journal.bills.last + 1
	if err := d.main.write(t.Context(), "a commit that gave an error", again.put); err != nil {
		t.Fatal(err)
	}
	d.Journal().Record(t.Context(), paid(noon, fallback.Chat, 1)) // it has the same id
	d.Journal().Record(t.Context(), paid(noon, fallback.Chat, 2))
	if err := d.journal.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := spent(t, d, house, noon); s.USD != 3 || s.Calls != 2 {
		t.Errorf("%+v", s)
	}
}
