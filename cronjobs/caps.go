package cronjobs

import (
	"time"

	"standin/fallback"
)

// caps are the job's own bounds on what it may cost, by the days of home (nil:
// this machine's) [D20]. They count its runs alone.
func (j *Job) caps(home *time.Location) (caps []fallback.Cap) {
	one := fallback.Cap{Name: "job " + string(j.ID), Job: string(j.ID), Period: fallback.Day, Zone: home}
	if paid := j.Payload.AllowPaid; paid != nil && !*paid {
		one.NoPaid = true
		return []fallback.Cap{one}
	}
	if one.Limit = j.Payload.MaxCostPerDay; one.Limit > 0 {
		caps = append(caps, one)
	}
	return caps
}
