package store

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"
)

// A kill at any moment leaves whole endings only [I1]: the process is killed in
// the middle of its writes, again and again, on one state directory.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 20
	total := 0
	for round := range rounds {
		child := exec.Command(program, "-test.run=^TestKilledChild$", dir, fmt.Sprint(round))
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		started := bufio.NewScanner(out)
		for started.Scan() && started.Text() != "writing" {
		}
		time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := child.Wait(); err == nil {
			t.Fatal("the child was not killed")
		}
		total = checkWhole(t, dir)
	}
	if total < rounds {
		t.Errorf("only %d turns in %d rounds: the kills came too early to mean anything", total, rounds)
	}
}

// checkWhole opens what the killed process left and gives the number of turns
// that ended in it.
func checkWhole(t *testing.T, dir string) (ended int) {
	t.Helper()
	d, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	var half, early, repeated int
	for query, n := range map[string]*int{
		`SELECT count(*) FROM inbox WHERE ended > 0`: &ended,
		`SELECT count(*) FROM inbox WHERE ended > 0 AND ((SELECT count(*) FROM transcript WHERE transcript.turn = inbox.turn) <> 2
			OR (SELECT count(*) FROM outbox WHERE outbox.turn = inbox.turn AND kind = 'reply') <> 1)`: &half,
		`SELECT count(*) FROM outbox WHERE turn NOT IN (SELECT turn FROM inbox WHERE ended > 0)`: &early,
		`SELECT count(*) - 1 FROM outbox WHERE kind = 'notice'`:                                  &repeated,
	} {
		if _, err := d.main.row(t.Context(), query, nil, n); err != nil {
			t.Fatal(err)
		}
	}
	if half != 0 || early != 0 || repeated > 0 {
		t.Fatalf("%d ended; %d of them half, %d posts before their ending, %d repeated notices", ended, half, early, repeated)
	}
	if ended > 0 && sessionOf(t, d, mainSession).Turns != ended {
		t.Fatalf("%d ended, %d counted", ended, sessionOf(t, d, mainSession).Turns)
	}
	if _, err := d.Interrupted(t.Context()); err != nil {
		t.Fatal(err)
	}
	return ended
}

// TestKilledChild is the process that TestKill kills.
func TestKilledChild(t *testing.T) {
	dir, round := flag.Arg(0), flag.Arg(1)
	if dir == "" {
		t.Skip("run by TestKill")
	}
	d, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	c := d.Credentials(nil)
	put(t, c, "main", NewAPIKey("openai:default", "k"))
	fmt.Println("\nwriting")
	var n int
	if _, err := fmt.Sscan(round, &n); err != nil {
		t.Fatal(err)
	}
	for n *= 1_000_000; ; n++ {
		turn(t, d, c, mainSession, n)
	}
}
