package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"standin/cmd/standin/config"
)

// runCheck is `standin check`: 0 when the config can be used (warnings may have
// been printed), 1 when it cannot, 2 when there is none to read.
func runCheck(flag, dir string, out, errs io.Writer, getenv func(string) string, stored func(provider string) []string) int {
	return check(config.Reader{Getenv: getenv, Catalogue: true, Stored: stored}, flag, dir, out, errs)
}

func check(r config.Reader, flag, dir string, out, errs io.Writer) int {
	path, tried := config.Find(flag, dir, r.Getenv)
	if path == "" {
		fmt.Fprint(errs, config.NoneFound(tried))
		return exitUsage
	}
	c, faults := r.Load(path)
	config.PrintFaults(errs, faults)
	if c == nil {
		if !isFile(path) {
			return exitUsage
		}
		n := 0
		for _, f := range faults {
			if !f.Warning {
				n++
			}
		}
		fmt.Fprintf(errs, "%s: %s\n", path, counted(n, "fault"))
		return exitFault
	}
	printPlans(out, c, r.Stored)
	printImages(out, c)
	printHeartbeats(out, c, time.Now())
	printJobs(out, c, dir, time.Now())
	printBudgets(out, c)
	printServers(out, c, findProgram)
	printChannels(out, c)
	summary := "can be used"
	if len(faults) > 0 {
		summary += ", " + counted(len(faults), "warning")
	}
	fmt.Fprintf(out, "%s: %s\n", path, summary)
	return exitOK
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// printPlans writes what each agent would do, and with which credentials.
// Names only: a secret has no way into this text [I12].
func printPlans(w io.Writer, c *config.Compiled, stored func(string) []string) {
	for _, p := range c.Plans {
		head := string(p.ID)
		if p.Name != "" && p.Name != head {
			head += fmt.Sprintf(" %q", p.Name)
		}
		if p.Default {
			head += " (default)"
		}
		policy := "may fall back"
		if p.Strict {
			policy = "strict, no other model answers"
		}
		fmt.Fprintf(w, "%s: %s\n", head, config.ChainText(p.Chain, " → "))
		fmt.Fprintf(w, "    %s (%s)\n", policy, p.Why)
		wide := 0
		for _, m := range p.Chain {
			wide = max(wide, len(m.String()))
		}
		for i, m := range p.Chain {
			names, mend := c.CredentialsFor(m.Provider, stored)
			with := "with " + strings.Join(names, ", then ")
			if len(names) == 0 {
				with = "no credential here: " + mend
				if stored == nil {
					with = "no credential in config or environment: " + mend
				}
			}
			fmt.Fprintf(w, "    %d. %-*s  %s\n", i+1, wide, m, with)
		}
		fmt.Fprintln(w)
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
