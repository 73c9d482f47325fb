package cronjobs_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/cronjobs"
	"standin/fallback"
	"standin/fallback/provider"
	"standin/store"
)

const (
	childVar = "STANDIN_TEST_JOBS_CHILD" // the state folder of a process that is to be killed
	wantRuns = 300
	pace     = 300 // of the child's clock
)

// fast is a clock that runs faster than the machine's and goes on over restarts.
type fast struct{ since time.Time }

func (f fast) now() time.Time { return f.since.Add(time.Since(f.since) * pace) }
func (f fast) sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d / pace):
		return nil
	}
}

// wall is a room whose posts are lines of a file. Now and then a post stands
// there and its sender does not hear of it in time.
type wall struct {
	path string
}

func (w *wall) Name() string { return "console" }
func (w *wall) Run(ctx context.Context, _ channels.Receiver) error {
	<-ctx.Done()
	return nil
}
func (w *wall) Send(_ context.Context, out channels.Outbound) (channels.Receipt, error) {
	if err := note(w.path, out.ID); err != nil {
		return channels.Receipt{}, err
	}
	time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
	return channels.Receipt{MessageID: "m-" + out.ID}, nil
}
func (w *wall) Find(_ context.Context, out channels.Outbound) (channels.Receipt, bool, error) {
	for _, id := range lines(w.path) {
		if id == out.ID {
			return channels.Receipt{MessageID: "m-" + id}, true, nil
		}
	}
	return channels.Receipt{}, false, nil
}

func note(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(line + "\n")
	return err
}

func lines(path string) (all []string) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		all = append(all, s.Text())
	}
	return all
}

// thinker is an engine that takes a moment and writes down who asked.
type thinker struct{ path string }

func (e thinker) Run(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
	if err := note(e.path, ask.Run); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(time.Duration(rand.IntN(8)) * time.Millisecond):
	}
	return &fallback.Outcome{Used: primary, Reply: provider.Reply{Text: "done " + ask.Run}}, nil
}

// lives is the process that is killed: the real bot, store and scheduler, with
// twenty jobs of a minute each.
func lives(t *testing.T, dir string) {
	ctx := context.Background()
	ms, err := strconv.ParseInt(lines(filepath.Join(dir, "since"))[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	clock := fast{time.UnixMilli(ms)}
	db, err := store.Open(ctx, store.Options{Dir: filepath.Join(dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	models := &fallback.Config{Default: fallback.ModelChoice{Primary: primary}, DefaultAgent: "main", Providers: map[string]provider.Endpoint{"anthropic": {}}}
	settings := bot.Defaults()
	settings.Fallback, settings.Agents, settings.MaxConcurrent = models, map[fallback.AgentID]bot.AgentConfig{"main": {}}, 8
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	b := bot.New(bot.Options{
		Config: func() *bot.Config { return &settings }, Engine: thinker{filepath.Join(dir, "begun")}, Store: db,
		Channels: map[string]channels.Channel{"console": &wall{path: filepath.Join(dir, "posts")}}, Log: log, Now: clock.now, Sleep: clock.sleep, Journal: db.Journal(),
	})
	cfg := cronjobs.Defaults()
	cfg.Alert.Enabled, cfg.Home = false, time.UTC
	if err := b.Start(ctx); err != nil {
		t.Fatal(err)
	}
	book := &cronjobs.Book{Store: db, Config: &cfg, Rules: cronjobs.Rules{Fallback: models, Home: time.UTC}, Now: clock.now}
	if jobs, _ := db.Jobs(ctx); len(jobs) == 0 {
		for i := range 20 {
			j := task(fmt.Sprint("job ", i), cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: "* * * * *"})
			j.Delivery.Place = cronjobs.Place{Mode: cronjobs.Announce, Channel: "console", To: "wall"}
			if _, err := book.Add(ctx, j, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := cronjobs.New(cronjobs.Options{Config: func() *cronjobs.Config { return &cfg }, Models: func() *fallback.Config { return models },
		Store: db, Turns: b, Log: log, Now: clock.now, Sleep: clock.sleep})
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if os.Getenv(childVar+"_LAST") == "" {
		select {} // until the kill
	}
	for range 200 { // until nothing is on its way
		time.Sleep(20 * time.Millisecond)
		if runs, err := db.Runs(ctx, cronjobs.RunsOf{Delivering: true}); err == nil && len(runs) == 0 {
			break
		}
	}
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
	if err := b.Stop(ctx); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// A process that is killed at any moment, again and again: no slot's answer is
// posted twice, no answer is lost, and each run that a kill cut short is in the
// record as such [R57].
func TestKilledAtAnyMoment(t *testing.T) {
	if dir := os.Getenv(childVar); dir != "" {
		lives(t, dir)
		return
	}
	if testing.Short() {
		t.Skip("starts many processes")
	}
	dir := t.TempDir()
	if err := note(filepath.Join(dir, "since"), strconv.FormatInt(time.Now().UnixMilli(), 10)); err != nil {
		t.Fatal(err)
	}
	kills := 0
	for ; kills < 120 && len(lines(filepath.Join(dir, "begun"))) < wantRuns; kills++ {
		child := process(t, dir, false)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		// Somewhere in the middle of some turn, or of what follows it.
		begun, some := len(lines(filepath.Join(dir, "begun"))), 1+rand.IntN(14)
		for wait := 0; wait < 1000 && len(lines(filepath.Join(dir, "begun"))) < begun+some; wait++ {
			time.Sleep(2 * time.Millisecond)
		}
		time.Sleep(time.Duration(rand.IntN(12000)) * time.Microsecond)
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait()
	}
	last := process(t, dir, true)
	if out, err := last.CombinedOutput(); err != nil {
		t.Fatalf("the last process: %v\n%s", err, out)
	}
	db, err := store.OpenReadOnly(t.Context(), store.Options{Dir: filepath.Join(dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	runs, err := db.Runs(t.Context(), cronjobs.RunsOf{})
	if err != nil {
		t.Fatal(err)
	}
	posted := map[string]int{}
	for _, id := range lines(filepath.Join(dir, "posts")) {
		posted[strings.TrimSuffix(id, "-r")]++
	}
	recorded, good, interrupted := map[string]bool{}, map[string]int{}, 0
	for _, r := range runs {
		recorded[r.Turn] = true
		switch {
		case r.Ended == 0:
			t.Errorf("%s of %s has no end", r.ID, r.Name)
		case r.Status == cronjobs.OK:
			good[r.Turn]++
			if r.Delivery.Status == cronjobs.Delivered && r.Delivery.MessageID != "m-"+r.Turn+"-r" {
				t.Errorf("%s says that it was delivered as %q", r.ID, r.Delivery.MessageID)
			}
		case r.Reason == "interrupted":
			interrupted++
		case r.Reason == "missed":
		default:
			t.Errorf("%s ended as %s %s: %s", r.ID, r.Status, r.Reason, r.Error)
		}
	}
	for turn, n := range posted {
		if n != 1 {
			t.Errorf("the answer %s was posted %d times", turn, n)
		}
		if good[turn] != 1 {
			t.Errorf("the answer %s was posted, and %d runs of it ended well", turn, good[turn])
		}
	}
	for turn, n := range good {
		if n > 1 {
			t.Errorf("the slot %s ran well %d times", turn, n)
		}
		if posted[turn] != 1 {
			t.Errorf("the slot %s ran well and its answer was posted %d times", turn, posted[turn])
		}
	}
	for _, turn := range lines(filepath.Join(dir, "begun")) {
		if !recorded[turn] {
			t.Errorf("the turn %s is not in the record", turn)
		}
	}
	t.Logf("%d kills, %d turns begun, %d runs in the record: %d posted, %d interrupted", kills, len(lines(filepath.Join(dir, "begun"))), len(runs), len(posted), interrupted)
	if interrupted == 0 || len(posted) < 200 {
		t.Errorf("that shows little: %d interrupted, %d posted", interrupted, len(posted))
	}
}

func process(t *testing.T, dir string, last bool) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestKilledAtAnyMoment$", "-test.timeout=60s")
	c.Env = append(os.Environ(), childVar+"="+dir)
	if last {
		c.Env = append(c.Env, childVar+"_LAST=1")
	}
	c.Stderr = os.Stderr
	if last {
		c.Stderr = nil
	}
	return c
}
