package cronjobs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/fallback"
)

// A job's allowPaid and maxCostPerDay bound its own runs [D20].
func TestWhatAJobMaySpend(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		payload Payload
		want    []fallback.Cap
	}{
		"nothing is said":      {Payload{}, nil},
		"paid models are fine": {Payload{AllowPaid: &yes}, nil},
		"nothing may cost":     {Payload{AllowPaid: &no}, []fallback.Cap{{Name: "job j1", Job: "j1", Period: fallback.Day, Zone: time.UTC, NoPaid: true}}},
		"so much a day":        {Payload{MaxCostPerDay: 0.5}, []fallback.Cap{{Name: "job j1", Job: "j1", Period: fallback.Day, Zone: time.UTC, Limit: 0.5}}},
		"both":                 {Payload{AllowPaid: &no, MaxCostPerDay: 0.5}, []fallback.Cap{{Name: "job j1", Job: "j1", Period: fallback.Day, Zone: time.UTC, NoPaid: true}}},
	} {
		j := Job{ID: "j1", Payload: c.payload}
		if diff := cmp.Diff(c.want, j.caps(time.UTC), cmp.Comparer(func(a, b *time.Location) bool { return a == b })); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
