package bot

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"standin/fallback"

	"pgregory.net/rapid"
)

func TestSessionsTakeTurnsUnderTheCap(t *testing.T) { // S28: a busy session does not starve the others
	synctest.Test(t, func(t *testing.T) {
		l := newLanes(func() int { return 1 })
		var order []string
		for _, name := range []string{"a1", "a2", "a3", "b1", "c1", "b2"} {
			l.Do(fallback.SessionID(name[:1]), job{run: func(context.Context) { order = append(order, name) }})
		}
		l.Release()
		if err := l.Quiet(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := []string{"a1", "b1", "c1", "a2", "b2", "a3"}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
	})
}

// Whatever is queued, a session has one job at a time, in order [I9], never
// more run than the cap allows, and the cap is used.
func TestLanesNeverOverlapAndNeverIdle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 4).Draw(rt, "cap")
		jobs := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 30).Draw(rt, "sessions")
		took := rapid.SliceOfN(rapid.IntRange(1, 9), len(jobs), len(jobs)).Draw(rt, "seconds")
		synctest.Test(t, func(t *testing.T) {
			l := newLanes(func() int { return limit })
			var mu sync.Mutex
			busy, last, running, most := map[int]bool{}, map[int]int{}, 0, 0
			for i, s := range jobs {
				l.Do(fallback.SessionID(fmt.Sprint(s)), job{run: func(context.Context) {
					mu.Lock()
					if busy[s] {
						t.Errorf("session %d runs twice at a time", s)
					}
					if last[s] > i {
						t.Errorf("job %d ran after job %d of its session", i, last[s])
					}
					busy[s], last[s] = true, i
					running++
					most = max(most, running)
					mu.Unlock()
					time.Sleep(time.Duration(took[i]) * time.Second)
					mu.Lock()
					busy[s] = false
					running--
					mu.Unlock()
				}})
			}
			l.Release()
			if err := l.Quiet(t.Context()); err != nil {
				t.Fatal(err)
			}
			sessions := map[int]bool{}
			for _, s := range jobs {
				sessions[s] = true
			}
			if want := min(limit, len(sessions)); most != want {
				t.Errorf("%d ran side by side, want %d", most, want)
			}
			if len(l.busy) != 0 || len(l.ready) != 0 {
				t.Errorf("idle lanes are kept: %v %v", l.busy, l.ready)
			}
		})
	})
}

func TestDropTellsThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLanes(func() int { return 1 })
		var got error
		l.Do("a", job{req: &request{}, run: func(context.Context) { t.Error("ran") }, dropped: func(cause error) { got = cause }})
		if rows := l.Drop("a", ErrAborted); len(rows) != 1 || got != ErrAborted {
			t.Errorf("dropped %v with %v", rows, got)
		}
		l.Release()
		if err := l.Quiet(t.Context()); err != nil || len(l.busy) != 0 {
			t.Error(err, l.busy)
		}
	})
}
