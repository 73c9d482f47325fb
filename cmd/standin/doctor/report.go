package doctor

import (
	"fmt"
	"io"
	"strings"
)

// marks stand before a finding.
var marks = map[Level]string{Error: "WRONG ", Warning: "watch ", Note: "note  "}

// Print writes the report for somebody who reads it at night: what is wrong
// first in each part, what to do under it, one sum at the end.
func (r Report) Print(w io.Writer) error {
	var b strings.Builder
	running := "no daemon runs on it"
	if r.Daemon != 0 {
		running = fmt.Sprintf("process %d runs on it", r.Daemon)
	}
	fmt.Fprintf(&b, "State folder %s (%s)\n", r.State, running)
	if r.Config != "" {
		fmt.Fprintf(&b, "Config       %s\n", r.Config)
	}
	var area Area
	for _, f := range r.Findings {
		if f.Area != area {
			area = f.Area
			fmt.Fprintf(&b, "\n%s\n", strings.ToUpper(string(area[:1]))+string(area[1:]))
		}
		mark := marks[f.Level]
		if f.Mended {
			mark = "mended"
		}
		fmt.Fprintf(&b, "  %s  %s\n", mark, f.line())
		if f.Mend != "" && !f.Mended {
			fmt.Fprintf(&b, "          → %s\n", f.Mend)
		}
	}
	if len(r.Fine) > 0 {
		var names []string
		for _, a := range r.Fine {
			names = append(names, string(a))
		}
		fmt.Fprintf(&b, "\nNothing to say about %s.\n", joined(names))
	}
	b.WriteString("\n" + r.sum() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Lint writes a finding a line, as compilers do: for scripts and their logs.
func (r Report) Lint(w io.Writer) error {
	var b strings.Builder
	for _, f := range r.Findings {
		if f.Level == Note {
			continue
		}
		fmt.Fprintf(&b, "%s: %s: %s", f.Level, f.Area, f.line())
		if f.Mend != "" {
			b.WriteString(" (" + f.Mend + ")")
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (f Finding) line() string {
	if f.Where == "" {
		return f.What
	}
	return f.Where + ": " + f.What
}

func (r Report) sum() string {
	var parts []string
	count := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	count(r.Errors, "thing is wrong", "things are wrong")
	count(r.Warnings, "thing to watch", "things to watch")
	count(r.Mended, "thing was mended", "things were mended")
	if parts == nil {
		return "All is well."
	}
	fixable := 0
	for _, f := range r.Findings {
		if f.Fixable && !f.Mended {
			fixable++
		}
	}
	s := joined(parts) + "."
	if fixable > 0 {
		s += fmt.Sprintf(" standin doctor --fix mends %d of them.", fixable)
	}
	return s
}
