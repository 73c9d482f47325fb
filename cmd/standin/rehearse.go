package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"standin/cmd/standin/rehearsal"
)

// rehearseCmd is `standin rehearse`: a scripted outage, played through the real
// engine on virtual time (rehearsal.md).
type rehearseCmd struct {
	JSON   bool
	Config string
	Files  []string
}

func (w world) rehearseVerb() *verb {
	var c rehearseCmd
	v := w.verb(&c, "rehearse", "Play a scripted outage through the real engine and check what it expects.",
		argument{name: "script", help: "Rehearsal scripts (YAML).", rest: &c.Files, files: true})
	v.drains = true
	v.Flags().BoolVar(&c.JSON, "json", false, "Print one JSON object per event instead of a timeline.")
	v.Flags().Var(text{&c.Config, "FILE"}, "config", "Use this config in place of the script's own.")
	return v
}

// Run plays each script. The exit status is that of the worst: 0 when
// everything that is expected held, 1 when something did not, 2 when a script or
// the config cannot be used.
func (c rehearseCmd) Run(w world) error {
	// One thing happens after the other in a rehearsal, so a second processor
	// would only be waited for; and what is remembered is thrown away soon.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	worst := rehearsal.Held
	for i, file := range c.Files {
		if i > 0 && !c.JSON {
			fmt.Fprintln(w.stdout)
		}
		worst = max(worst, rehearsal.Play(w.ctx, rehearsal.Script{File: file, Config: c.Config, Getenv: w.getenv, JSON: c.JSON, Out: w.stdout, Err: w.stderr}))
	}
	switch worst {
	case rehearsal.Held:
		return nil
	case rehearsal.Missed:
		return exit{code: exitFault}
	}
	return exit{code: exitUsage}
}
