package bot

import (
	"strconv"
	"testing"
	"time"
)

// What is in doubt is remembered for a day, and never without bound.
func TestDoubts(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := func(i int) message { return message{id: strconv.Itoa(i)} }
	var d doubts
	if d.resolve(m(0)) {
		t.Error("nobody doubted it")
	}
	for i := range maxDoubts {
		d.doubt(m(i), now.Add(time.Duration(i)))
	}
	d.doubt(m(maxDoubts-1), now.Add(maxDoubts)) // again: no other goes for it
	if len(d.since) != maxDoubts {
		t.Errorf("%d are remembered", len(d.since))
	}
	d.doubt(m(maxDoubts), now.Add(time.Hour))
	if len(d.since) != maxDoubts || d.resolve(m(0)) || !d.resolve(m(1)) || d.resolve(m(1)) {
		t.Errorf("not the oldest went: %d are left", len(d.since))
	}
	for i := range 2 {
		d.doubt(m(maxDoubts+1+i), now.Add(doubtFor+2*time.Hour))
	}
	if len(d.since) > 2 {
		t.Errorf("%d are remembered after a day", len(d.since))
	}
}
