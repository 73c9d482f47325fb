package main

import (
	"encoding/json"
	"fmt"
	"time"

	"standin/cmd/standin/config"
	"standin/cmd/standin/doctor"
)

// doctorCmd is `standin doctor`.
type doctorCmd struct {
	Config string
	stateFlag
	Fix    bool
	Import string
	Online bool
	JSON   bool
	Lint   bool
}

// exitWatch is doctor's exit code when nothing is wrong and something is to be
// watched.
const exitWatch = 3

func (w world) doctorVerb() *verb {
	var c doctorCmd
	v := w.verb(&c, "doctor", "Look the installation over. Exits with 0 (all is well), 1 (something is wrong) or 3 (something to watch).")
	f := v.Flags()
	f.VarP(text{&c.Config, "FILE"}, "config", "c", configHelp)
	c.bind(v)
	f.BoolVar(&c.Fix, "fix", false, "Mend what can be mended. Without it nothing is changed.")
	f.BoolVar(&c.Fix, "repair", false, "The same as --fix.")
	f.Var(text{&c.Import, "DIR"}, "import", "Take over credentials and config from OpenClaw's state folder, which stays as it is. Writes only with --fix.")
	f.BoolVar(&c.Online, "online", false, "Ask the platforms about the accounts, and a provider for the time. Costs nothing and posts nothing.")
	f.BoolVar(&c.JSON, "json", false, "One JSON object.")
	f.BoolVar(&c.Lint, "lint", false, "One line for each thing that is wrong or to be watched, for scripts; mends nothing.")
	return v
}

// Run looks, tells, and mends if it was asked to.
func (c doctorCmd) Run(w world) error {
	switch {
	case c.Lint && c.Fix:
		return misuse{"--lint only looks: leave it out, or --fix"}
	case c.Lint && c.JSON:
		return misuse{"--lint and --json print the same in two ways: leave one of them out"}
	}
	path, _ := config.Find(c.Config, c.dir(w), w.getenv)
	e := doctor.Exam{Dir: c.dir(w), Config: path, Getenv: w.getenv, Online: c.Online, Fix: c.Fix, From: c.Import, Who: whoami(w), Now: time.Now(), Extras: []doctor.Extra{w.olderJobs}}
	r, err := e.Examine(w.ctx)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		enc := json.NewEncoder(w.stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		err = enc.Encode(r)
	case c.Lint:
		err = r.Lint(w.stdout)
	default:
		err = r.Print(w.stdout)
	}
	switch {
	case err != nil:
		return fmt.Errorf("print the report: %w", err)
	case r.Errors > 0:
		return exit{code: exitFault}
	case r.Warnings > 0:
		return exit{code: exitWatch}
	}
	return nil
}
