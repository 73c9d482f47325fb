//go:build ignore

// Measure prints the cold start and the idle memory of `standin serve` with
// many stored sessions, beside the same program printing its version (the floor
// of this machine for a binary of that size). It judges nothing.
//
//	go run scripts/measure.go [-sessions 10000] [-runs 7]
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"standin/bot"
	"standin/fallback"
	"standin/store"
)

const config = `agents: {defaults: {model: {primary: local/a, fallbacks: [local/b]}}}
models: {providers: {local: {baseUrl: "http://127.0.0.1:9/v1", api: openai-completions}}}
`

func main() {
	sessions := flag.Int("sessions", 10_000, "stored sessions")
	runs := flag.Int("runs", 7, "runs of each")
	flag.Parse()
	dir, err := os.MkdirTemp("", "standin-measure-")
	check(err)
	defer os.RemoveAll(dir)

	bin := filepath.Join(dir, "standin")
	run("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "./cmd/standin")
	info, err := os.Stat(bin)
	check(err)
	state := filepath.Join(dir, "state")
	check(os.MkdirAll(state, 0o700))
	check(os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600))
	check(seed(state, *sessions))

	var floor, starts []time.Duration
	var memory, private []float64
	for range *runs {
		began := time.Now()
		run(bin, "version")
		floor = append(floor, time.Since(began))
		start, total, own := serve(bin, dir, state)
		starts, memory, private = append(starts, start), append(memory, total), append(private, own)
	}
	slices.Sort(floor)
	slices.Sort(starts)
	slices.Sort(memory)
	slices.Sort(private)
	fmt.Printf("binary        %6.1f MB stripped\n", float64(info.Size())/1e6)
	fmt.Printf("version       %6.1f ms (median of %d)\n", ms(floor[len(floor)/2]), *runs)
	fmt.Printf("ready         %6.1f ms (median; worst %.1f), %d stored sessions\n", ms(starts[len(starts)/2]), ms(starts[len(starts)-1]), *sessions)
	fmt.Printf("idle memory   %6.1f MB resident (median; worst %.1f), of which its own %.1f MB\n", memory[len(memory)/2], memory[len(memory)-1], private[len(private)/2])
}

// seed stores sessions as a daemon leaves them, half of them on a stand-in.
func seed(dir string, sessions int) (err error) {
	ctx := context.Background()
	db, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	now := time.Now()
	for i := range sessions {
		s := store.SessionState{Session: bot.Session{
			Key: fallback.SessionID(fmt.Sprintf("agent:main:slack:channel:c%05d", i)), Agent: "main", StartedAt: now, LastInteraction: now, Turns: 3,
		}}
		if i%2 == 0 {
			s.Selection = fallback.Selection{Source: fallback.Auto, Since: now,
				Model: fallback.Model{Provider: "local", Name: "b"}, Origin: fallback.Model{Provider: "local", Name: "a"}}
		}
		if err := db.PutSession(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// serve starts the daemon, waits for its ready line, lets it sit for a second
// and reads its resident memory in MB: all of it, and what is its own, without
// the pages of the binary that the kernel keeps and may drop.
func serve(bin, dir, state string) (start time.Duration, total, own float64) {
	c := exec.Command(bin, "serve", "-c", filepath.Join(dir, "config.yaml"), "--state", state, "--log", "-")
	in, err := c.StdinPipe()
	check(err)
	out, err := c.StderrPipe()
	check(err)
	began := time.Now()
	check(c.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"msg":"ready"`) {
			break
		}
		fmt.Fprintln(os.Stderr, lines.Text())
	}
	start = time.Since(began)
	time.Sleep(time.Second)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
	check(err)
	read := func(field string) (kb float64) {
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, field+":"); ok {
				_, err := fmt.Sscanf(rest, "%f kB", &kb)
				check(err)
			}
		}
		return kb * 1024 / 1e6
	}
	total, own = read("VmRSS"), read("RssAnon")
	check(in.Close())
	for lines.Scan() {
	}
	_ = c.Wait()
	return start, total, own
}

func run(name string, args ...string) {
	c := exec.Command(name, args...)
	if out, err := c.CombinedOutput(); err != nil {
		log.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
