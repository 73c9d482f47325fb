package heartbeat

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"standin/fallback"
)

// Phase is where in its interval an agent beats: a hash of the installation and
// the agent, so that agents do not all beat at once and none moves when standin
// restarts or reads its config again [H3].
func Phase(seed string, a fallback.AgentID, every time.Duration) time.Duration {
	if every <= 0 {
		return 0
	}
	sum := sha256.Sum256([]byte(seed + "\x00" + string(a)))
	return time.Duration(binary.BigEndian.Uint64(sum[:8]) % uint64(every))
}

// horizon is how far ahead a slot in active hours is looked for [H11].
const horizon = 7 * 24 * time.Hour

// Next is the first slot after t that lies in the hours; false when there is
// none within a week. The grid stands still: slots are phase + k·every after
// the Unix epoch, whatever the clocks on the wall do.
func Next(t time.Time, every, phase time.Duration, hours Hours) (time.Time, bool) {
	if every <= 0 {
		return time.Time{}, false
	}
	since := t.UnixNano() - int64(phase)
	k := since / int64(every)
	if since < 0 && since%int64(every) != 0 {
		k--
	}
	slot := time.Unix(0, int64(phase)+(k+1)*int64(every)).UTC()
	for end := t.Add(horizon); !slot.After(end) || !hours.Set; slot = slot.Add(every) {
		if hours.Contains(slot) {
			return slot, true
		}
	}
	return time.Time{}, false
}

// PerDay counts the slots of the 24 hours after t.
func PerDay(t time.Time, every, phase time.Duration, hours Hours) (n int) {
	for end := t.Add(24 * time.Hour); ; n++ {
		slot, ok := Next(t, every, phase, hours)
		if !ok || slot.After(end) {
			return n
		}
		t = slot
	}
}
