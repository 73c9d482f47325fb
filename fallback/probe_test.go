package fallback

import (
	"fmt"
	"testing"
	"time"
)

func TestProbes(t *testing.T) {
	p := new(Probes)
	gpt, opus := Model{"openai", "gpt-5.5"}, Model{"anthropic", "claude-opus-4-6"}
	due := func(s SessionID, m Model, d time.Duration) bool { return p.Due(s, m, after(d)) }
	if !due("s1", gpt, 0) || !p.Next("s1", gpt).IsZero() {
		t.Error("after a restart the first turn asks at once (15.1)")
	}
	p.Mark("s1", gpt, after(0))
	if due("s1", gpt, 2*time.Minute) || due("s1", gpt, 4*time.Minute+59*time.Second) {
		t.Error("straight to the fallback in between (sc-149)")
	}
	if !due("s1", gpt, 5*time.Minute) {
		t.Error("again after five minutes to the millisecond (sc-150)")
	}
	if got := p.Next("s1", gpt); !got.Equal(after(5 * time.Minute)) {
		t.Errorf("Next = %s", got)
	}
	if !due("s2", gpt, time.Second) || !due("s1", opus, time.Second) {
		t.Error("each session and each primary has a memory of its own (M11)")
	}
	p.Mark("s1", gpt, after(5*time.Minute))
	if due("s1", gpt, 9*time.Minute) {
		t.Error("the latest probe counts")
	}
}

// "More than 4096 remembered probes: oldest are dropped; older than 5 min are
// pruned first" (sc-152).
func TestProbesAreBounded(t *testing.T) {
	p := new(Probes)
	m := Model{"openai", "gpt-5.5"}
	session := func(i int) SessionID { return SessionID(fmt.Sprint("s", i)) }
	for i := range maxProbes {
		p.Mark(session(i), m, after(time.Duration(i)*time.Millisecond))
	}
	p.Mark(session(0), m, after(time.Minute)) // marked again: no longer the oldest
	p.Mark("one more", m, after(time.Minute))
	if p.Due(session(0), m, after(time.Minute)) || !p.Due(session(1), m, after(time.Minute)) {
		t.Error("the oldest one goes, and no other")
	}
	if got := len(p.seen.at); got != maxProbes {
		t.Errorf("%d are remembered", got)
	}
	p.Mark("later", m, after(7*time.Minute))
	if got := len(p.seen.at); got != 1 {
		t.Errorf("%d are remembered although all but one are older than the interval", got)
	}
}

func TestThrottle(t *testing.T) {
	th := new(Throttle)
	if !th.Last("main", "openai").IsZero() {
		t.Error("nothing is remembered at first")
	}
	th.Take("main", " OpenAI", after(0))
	if got := th.Last("main", "openai"); !got.Equal(after(0)) {
		t.Errorf("Last = %s", got)
	}
	if !th.Last("other", "openai").IsZero() || !th.Last("main", "anthropic").IsZero() {
		t.Error("agents and providers are throttled apart (11.4)")
	}
	for i := range maxThrottles {
		th.Take("main", fmt.Sprint("p", i), after(time.Second))
	}
	if !th.Last("main", "openai").IsZero() || len(th.seen.at) != maxThrottles {
		t.Errorf("the oldest is removed beyond %d keys, %d are kept", maxThrottles, len(th.seen.at))
	}
	th.Take("main", "openai", after(25*time.Hour))
	if got := len(th.seen.at); got != 1 {
		t.Errorf("%d are remembered after a day", got)
	}
}

// Of two turns that decide on a probe at the same moment, one gets it (11.4).
func TestThrottleIsTakenOnce(t *testing.T) {
	var th Throttle
	if !th.Take("main", "openai", after(0)) || th.Take("main", "OpenAI", after(0)) {
		t.Error("the probe was given to none or to both")
	}
	if !th.Take("main", "openai", after(ProbeGap)) {
		t.Error("after the gap the next probe may be taken")
	}
}
