// Package doctor looks a standin installation over: state folder, config,
// databases, credentials, sessions and channels, and what older files wait to be
// taken over. Each check is a small decider that is handed facts and gives
// findings; exam.go gathers the facts and, when it is asked to, mends. Without
// that nothing changes: no file, no time of a file, nothing beside a database
// (config-ops.md G21, G22).
package doctor

import (
	"cmp"
	"slices"

	"standin/fallback/provider"
)

// Level says how bad a finding is.
type Level string

// The levels.
const (
	Error   Level = "error"   // something does not work, or stands open
	Warning Level = "warning" // it works, and will not for long, or not as meant
	Note    Level = "note"    // worth knowing
)

// Finding is one thing that was found. Its texts hold no secret. The JSON names
// are stable.
type Finding struct {
	Area  Area   `json:"area"`
	Level Level  `json:"level"`
	Where string `json:"where,omitempty"` // a file, profile, session or key
	What  string `json:"what"`
	Mend  string `json:"mend,omitempty"` // what a person can do
	// Mended says that it was so and is no more: --fix has done it.
	Mended bool `json:"mended,omitempty"`
	// Fixable says that --fix would mend it.
	Fixable bool `json:"fixable,omitempty"`
}

// Area is what a finding is about.
type Area string

// The areas, in the order in which people read them.
const (
	Config      Area = "config"
	Files       Area = "files"
	Databases   Area = "databases"
	Import      Area = "older files"
	Credentials Area = "credentials"
	Sessions    Area = "sessions"
	Channels    Area = "channels"
	Machine     Area = "machine"
)

var areas = []Area{Config, Files, Databases, Import, Credentials, Sessions, Channels, Machine}

// Report is all that was found.
type Report struct {
	State    string    `json:"state"`            // the state folder
	Config   string    `json:"config,omitempty"` // the config file, "" when there is none
	Daemon   int       `json:"daemon,omitempty"` // the process that runs on the folder
	Findings []Finding `json:"findings"`
	Fine     []Area    `json:"fine,omitempty"` // what was looked at and has no findings
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	Mended   int       `json:"mended"`
}

// add takes findings into the report, masked once more: names of files and keys
// are people's to choose, and some are secrets.
func (r *Report) add(found ...Finding) {
	for _, f := range found {
		f.Where, f.What, f.Mend = provider.Redact(f.Where), provider.Redact(f.What), provider.Redact(f.Mend)
		r.Findings = append(r.Findings, f)
	}
}

// close sorts and counts.
func (r *Report) close(looked []Area) {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(areas, a.Area), slices.Index(areas, b.Area)), cmp.Compare(rank(a), rank(b)))
	})
	for _, area := range areas {
		if slices.Contains(looked, area) && !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Area == area }) {
			r.Fine = append(r.Fine, area)
		}
	}
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	for _, f := range r.Findings {
		switch {
		case f.Mended:
			r.Mended++
		case f.Level == Error:
			r.Errors++
		case f.Level == Warning:
			r.Warnings++
		}
	}
}

// rank puts what a person has to do first.
func rank(f Finding) int {
	if f.Mended {
		return 3
	}
	return slices.Index([]Level{Error, Warning, Note}, f.Level)
}
