package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"standin/cmd/standin/daemon"
)

// logsCmd is `standin logs`: the daemon's log, filtered, and as it grows [G28].
type logsCmd struct {
	stateFlag
	File   string
	Follow bool
	Lines  int
	Level  string
	Match  []string
	Grep   string
	JSON   bool
}

func (w world) logsVerb() *verb {
	c := logsCmd{Lines: 50}
	v := w.verb(&c, "logs", "Show the daemon's log, the latest lines, and go on with what comes.",
		argument{name: "field=value", help: "Only lines in which a field holds this, such as session=agent:main:main, channel=slack or run=…", rest: &c.Match, optional: true})
	c.bind(v)
	v.Flags().Var(text{&c.File, "FILE"}, "file", "Log file (default: standin.log in the state folder; serve --log names another).")
	v.Flags().BoolVarP(&c.Follow, "follow", "f", false, "Go on with lines as they come, over rotations too, until interrupted.")
	v.Flags().IntVarP(&c.Lines, "lines", "n", 50, "How many of the latest lines are shown first.")
	v.Flags().Var(text{&c.Level, "LEVEL"}, "level", "At least debug, info, warn or error.")
	v.Flags().Var(text{&c.Grep, "TEXT"}, "grep", "Only lines that hold this text, whatever its case.")
	v.Flags().BoolVar(&c.JSON, "json", false, "The lines as they stand in the file.")
	return v
}

// Run shows lines.
func (c logsCmd) Run(w world) error {
	pick, err := c.filter()
	if err != nil {
		return err
	}
	if c.Lines < 0 {
		return misuse{"--lines is a number of lines, 0 or more"}
	}
	path := cmp.Or(c.File, filepath.Join(c.dir(w), "standin.log"))
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return exit{exitUsage, path + " is not there: a daemon that runs as a service logs to standard error, so ask its manager, such as journalctl -u standin; standin serve --log FILE writes a file"}
	}
	if err != nil {
		return exit{exitUsage, err.Error()}
	}
	l := &logReader{path: path, f: f, show: func(text []byte) error {
		if !pick(text) {
			return nil
		}
		return c.print(w, text)
	}}
	defer func() { _ = l.f.Close() }()
	if err := l.tail(c.Lines, pick); err != nil {
		return err
	}
	if !c.Follow {
		return nil
	}
	return l.follow(w.ctx, daemon.Sleep)
}

// filter makes one test of what the flags ask for.
func (c logsCmd) filter() (func(text []byte) bool, error) {
	least := slog.Level(-100)
	if c.Level != "" {
		if err := least.UnmarshalText([]byte(c.Level)); err != nil {
			return nil, misuse{fmt.Sprintf("--level is debug, info, warn or error, not %q", c.Level)}
		}
	}
	want := map[string]string{}
	for _, m := range c.Match {
		field, value, ok := strings.Cut(m, "=")
		if !ok || field == "" {
			return nil, misuse{fmt.Sprintf("%q is no filter: write a field and its value, such as channel=slack", m)}
		}
		want[field] = value
	}
	part := strings.ToLower(c.Grep)
	return func(text []byte) bool {
		if part != "" && !strings.Contains(strings.ToLower(string(text)), part) {
			return false
		}
		if c.Level == "" && len(want) == 0 {
			return true
		}
		var fields map[string]any
		if json.Unmarshal(text, &fields) != nil {
			return false // no line of ours
		}
		var level slog.Level
		if word, _ := fields["level"].(string); level.UnmarshalText([]byte(word)) == nil && level < least {
			return false
		}
		for field, value := range want {
			if fmt.Sprint(fields[field]) != value {
				return false
			}
		}
		return true
	}, nil
}

// print shows a line to a person: nothing in it can move the cursor or look like
// a line of its own.
func (c logsCmd) print(w world, text []byte) error {
	if c.JSON {
		_, err := fmt.Fprintf(w.stdout, "%s\n", text)
		return err
	}
	var fields map[string]any
	if json.Unmarshal(text, &fields) != nil {
		_, err := fmt.Fprintln(w.stdout, line(string(text)))
		return err
	}
	at, _ := fields["time"].(string)
	if when, err := time.Parse(time.RFC3339Nano, at); err == nil {
		at = when.Local().Format("2006-01-02 15:04:05.000")
	}
	shown := fmt.Sprintf("%s %-5v %v", at, fields["level"], fields["msg"])
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name == "time" || name == "level" || name == "msg" {
			continue
		}
		value := fmt.Sprint(fields[name])
		if _, isText := fields[name].(string); !isText {
			if raw, err := json.Marshal(fields[name]); err == nil {
				value = string(raw)
			}
		} else if strings.ContainsAny(value, " \t\n\"=") {
			value = fmt.Sprintf("%q", value)
		}
		shown += " " + name + "=" + value
	}
	_, err := fmt.Fprintln(w.stdout, line(shown))
	return err
}

// maxLogLine bounds a line of the log in bytes; of a longer one its beginning
// counts.
const maxLogLine = 1 << 20

// logReader reads a log that grows and is put away.
type logReader struct {
	path string
	f    *os.File
	show func(text []byte) error
	rest []byte // of a line that is not finished
}

// tail shows the last n lines that are picked. It keeps no more than these.
func (l *logReader) tail(n int, pick func([]byte) bool) error {
	var last [][]byte
	in := bufio.NewReaderSize(l.f, 64<<10)
	for {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			l.rest = text // its end comes later, or never
			break
		}
		if err != nil {
			return err
		}
		text = text[:len(text)-1]
		if n == 0 || !pick(text) {
			continue
		}
		if last = append(last, text); len(last) > 2*n {
			last = slices.Clone(last[len(last)-n:])
		}
	}
	for _, text := range last[max(0, len(last)-n):] {
		if err := l.show(text); err != nil {
			return err
		}
	}
	return nil
}

// lookEvery is how often a log that is followed is looked at.
const lookEvery = 200 * time.Millisecond

// follow shows what is added until ctx ends. A file that was put away, or cut
// short, is read to its end and its successor from the beginning.
func (l *logReader) follow(ctx context.Context, sleep func(context.Context, time.Duration) error) error {
	for {
		if err := l.more(); err != nil {
			return err
		}
		if sleep(ctx, lookEvery) != nil {
			return nil
		}
		here, err := l.f.Stat()
		if err != nil {
			return err
		}
		if now, err := os.Stat(l.path); err == nil && !os.SameFile(here, now) {
			if err := l.more(); err != nil {
				return err
			}
			next, err := os.Open(l.path)
			if err != nil {
				continue // between two names; the next look finds it
			}
			_ = l.f.Close()
			l.f, l.rest = next, nil
			continue
		}
		if at, err := l.f.Seek(0, io.SeekCurrent); err == nil && here.Size() < at {
			if _, err := l.f.Seek(0, io.SeekStart); err != nil {
				return err
			}
			l.rest = nil
		}
	}
}

// more shows the lines that have come since the last look.
func (l *logReader) more() error {
	buf := make([]byte, 64<<10)
	for {
		n, err := l.f.Read(buf)
		l.rest = append(l.rest, buf[:n]...)
		for {
			text, rest, whole := strings.Cut(string(l.rest), "\n")
			if !whole {
				break
			}
			l.rest = []byte(rest)
			if err := l.show([]byte(text)); err != nil {
				return err
			}
		}
		if len(l.rest) > maxLogLine {
			l.rest = l.rest[:maxLogLine]
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
