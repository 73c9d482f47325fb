package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"

	"standin/cmd/standin/config"
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
	worst := exitOK
	for i, file := range c.Files {
		if i > 0 && !c.JSON {
			fmt.Fprintln(w.stdout)
		}
		worst = max(worst, c.play(w, file))
	}
	return code(worst)
}

// maxScript bounds a script in bytes.
const maxScript = 16 << 20

// play plays one script and gives its exit status.
func (c rehearseCmd) play(w world, file string) int {
	data, err := config.ReadBounded(file, maxScript)
	if err != nil {
		fmt.Fprintf(w.stderr, "%s: cannot be read: %s\n", file, config.ReasonOf(err))
		return exitUsage
	}
	r, faults := readRehearsal(file, data, c.Config, w.getenv)
	if r == nil || r.refusal == nil {
		config.PrintFaults(w.stderr, faults)
	}
	if r == nil {
		return exitUsage
	}
	if r.refusal != nil {
		return r.judgeRefusal(w)
	}
	t, err := r.play(w.ctx)
	if t != nil {
		out := bufio.NewWriter(w.stdout)
		c.print(out, r, t)
		if err := out.Flush(); err != nil {
			return exitFault
		}
	}
	if err != nil {
		fmt.Fprintf(w.stderr, "%s: the rehearsal could not be played to its end: %v\n", file, err)
		return exitUsage
	}
	misses := r.judge(t.events())
	if c.JSON {
		printMisses(w.stderr, r, misses)
	} else {
		printVerdict(w.stdout, r, misses)
	}
	if len(misses) > 0 {
		return exitFault
	}
	return exitOK
}

func (c rehearseCmd) print(out io.Writer, r *rehearsal, t *tale) {
	if !c.JSON {
		printTale(out, r, t)
		return
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, h := range t.events() {
		if enc.Encode(h) != nil {
			return
		}
	}
}

// judgeRefusal is the verdict on a script whose config should be refused.
func (r *rehearsal) judgeRefusal(w world) int {
	for _, f := range r.refused {
		if !f.Warning && (r.refusal.matches(f.String()) || r.refusal.matches(f.Msg)) {
			fmt.Fprintf(w.stdout, "%s: refused as expected: %s\n", r.file, f)
			return exitOK
		}
	}
	if !config.Broken(r.refused) {
		fmt.Fprintf(w.stderr, "%s: the config was accepted, although it should be refused with %s\n", r.file, r.refusal.text)
	} else {
		fmt.Fprintf(w.stderr, "%s: the config was refused, but not with %s:\n", r.file, r.refusal.text)
		config.PrintFaults(w.stderr, r.refused)
	}
	return exitFault
}

// play performs the rehearsal on a database that is thrown away afterwards.
func (r *rehearsal) play(ctx context.Context) (*tale, error) {
	dir, err := os.MkdirTemp(memoryDir(), "standin-rehearsal-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	return play(ctx, r, dir, slog.New(slog.DiscardHandler))
}

// memoryDir is a folder that is kept in memory, "" for the usual one.
func memoryDir() string {
	const shm = "/dev/shm"
	if f, err := os.CreateTemp(shm, "standin-"); err == nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
		return shm
	}
	return ""
}
