package channels

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Recent forgets the oldest first, and what was put again is young.
func TestRecent(t *testing.T) {
	at := time.Unix(1000, 0)
	r := NewRecent[int, string](3, time.Minute)
	for i := range 3 {
		r.Put(i, "x", at.Add(time.Duration(i)*time.Second))
	}
	r.Put(0, "again", at.Add(5*time.Second))
	r.Put(3, "x", at.Add(6*time.Second))
	for k, want := range map[int]bool{0: true, 1: false, 2: true, 3: true} {
		if _, ok := r.Get(k, at.Add(7*time.Second)); ok != want {
			t.Errorf("%d: %v", k, ok)
		}
	}
	if _, ok := r.Get(3, at.Add(67*time.Second)); ok {
		t.Error("it outlives its time")
	}
	r.Drop(2)
	if _, ok := r.Get(2, at.Add(7*time.Second)); ok {
		t.Error("dropped and there")
	}
	for i := range 10_000 {
		r.Put(i%2, "x", at.Add(time.Duration(i)*time.Minute))
	}
	if len(r.order) > 6 {
		t.Errorf("%d entries are kept", len(r.order))
	}
}

// What is there is not added again, until its time is over; All gives what is left.
func TestRecentAddsOnce(t *testing.T) {
	at := time.Unix(1000, 0)
	r := NewRecent[string, int](3, time.Minute)
	if !r.Add("a", 1, at) || r.Add("a", 2, at.Add(time.Minute)) || !r.Add("a", 3, at.Add(2*time.Minute)) {
		t.Error("added twice, or not when it could be")
	}
	r.Put("b", 4, at)
	if got := r.All(at.Add(2 * time.Minute)); len(got) != 1 || got["a"] != 3 {
		t.Errorf("left: %v", got)
	}
}

// Sleep ends with its context, and says why that did.
func TestSleep(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := Sleep(ctx, time.Hour); !errors.Is(err, why) {
		t.Errorf("gave %v", err)
	}
	if err := Sleep(t.Context(), 0); err != nil {
		t.Errorf("gave %v", err)
	}
}
