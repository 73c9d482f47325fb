package discord

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// discordEpoch is the first millisecond of Discord's ids.
const discordEpoch = 1420070400000

// isSnowflake tells whether s looks like an id of Discord's.
func isSnowflake(s string) bool {
	n, err := strconv.ParseUint(s, 10, 64)
	return err == nil && n > 0
}

// timeOf reads the time out of an id; the zero time when it is none.
func timeOf(id string) time.Time {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(n>>22) + discordEpoch).UTC()
}

// snowflakeAt is the least id of a moment, to ask for what came after it.
func snowflakeAt(t time.Time) string {
	return strconv.FormatUint(uint64(max(t.UnixMilli()-discordEpoch, 0))<<22, 10)
}

// newer tells whether id a was given out after b; "" is older than everything.
func newer(a, b string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a > b
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
