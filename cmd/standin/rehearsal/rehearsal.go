// Package rehearsal plays a scripted outage through the real engine on virtual
// time (rehearsal.md). It reads the script (script.go, steps.go, keys.go), puts a
// clock, vendors and a room around the real daemon (stage.go and its neighbours),
// tells what happened (tale.go, events.go, print.go) and judges it (wish.go,
// expect.go). Its vendors also fail for `standin explain --simulate` (effects.go).
package rehearsal

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"

	"standin/cmd/standin/config"
)

// maxScript bounds a script in bytes.
const maxScript = 16 << 20

// Script is a script to be played, and where its story goes.
type Script struct {
	File   string                   // of the script (YAML)
	Config string                   // a config file that is used in place of the script's own, "" for none
	Getenv func(name string) string // for that file
	JSON   bool                     // one object per event instead of a timeline
	Out    io.Writer                // the story, and the verdict on it
	Err    io.Writer                // what keeps it from being played; with JSON also the verdict
}

// Verdict says how a rehearsal went, the best first.
type Verdict int

// The verdicts.
const (
	Held     Verdict = iota // everything that is expected held
	Missed                  // something did not
	Unusable                // the script or the config cannot be used, or the play broke off
)

// Play plays a script to its end, or until ctx ends, and judges it; what there is
// to say about it is written to s.Out and s.Err by then.
func Play(ctx context.Context, s Script) Verdict {
	data, err := config.ReadBounded(s.File, maxScript)
	if err != nil {
		fmt.Fprintf(s.Err, "%s: cannot be read: %s\n", s.File, config.ReasonOf(err))
		return Unusable
	}
	r, faults := readRehearsal(s.File, data, s.Config, s.Getenv)
	if r == nil || r.refusal == nil {
		config.PrintFaults(s.Err, faults)
	}
	if r == nil {
		return Unusable
	}
	if r.refusal != nil {
		return r.judgeRefusal(s)
	}
	t, err := r.play(ctx)
	if t != nil {
		out := bufio.NewWriter(s.Out)
		s.print(out, r, t)
		if err := out.Flush(); err != nil {
			return Missed
		}
	}
	if err != nil {
		fmt.Fprintf(s.Err, "%s: the rehearsal could not be played to its end: %v\n", s.File, err)
		return Unusable
	}
	misses := r.judge(t.events())
	if s.JSON {
		printMisses(s.Err, r, misses)
	} else {
		printVerdict(s.Out, r, misses)
	}
	if len(misses) > 0 {
		return Missed
	}
	return Held
}

func (s Script) print(out io.Writer, r *rehearsal, t *tale) {
	if !s.JSON {
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
func (r *rehearsal) judgeRefusal(s Script) Verdict {
	for _, f := range r.refused {
		if !f.Warning && (r.refusal.matches(f.String()) || r.refusal.matches(f.Msg)) {
			fmt.Fprintf(s.Out, "%s: refused as expected: %s\n", r.file, f)
			return Held
		}
	}
	if !config.Broken(r.refused) {
		fmt.Fprintf(s.Err, "%s: the config was accepted, although it should be refused with %s\n", r.file, r.refusal.text)
	} else {
		fmt.Fprintf(s.Err, "%s: the config was refused, but not with %s:\n", r.file, r.refusal.text)
		config.PrintFaults(s.Err, r.refused)
	}
	return Missed
}

// play performs the rehearsal on a database that is thrown away afterwards.
func (r *rehearsal) play(ctx context.Context) (*tale, error) {
	dir, err := os.MkdirTemp(memoryDir(), "standin-rehearsal-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	return playIn(ctx, r, dir, slog.New(slog.DiscardHandler))
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
