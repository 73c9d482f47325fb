// Command standin is a self-hosted chat daemon that keeps answering when a
// model provider does not.
//
// This file translates: flags, environment, signals and exit codes. What is
// built from them is wired in package daemon; the command line is put together in
// cli.go, from the verbs, each beside what it does.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"standin/fallback/provider"
)

// The exit codes of every verb.
const (
	exitOK    = 0
	exitFault = 1 // it ran, and the answer is no
	exitUsage = 2 // it could not run: flags, config, state

	exitStopped = 130 // a signal ended a verb that has nothing to drain, as shells write it
)

// world is what the process was given; tests hand in their own.
type world struct {
	ctx    context.Context
	getenv func(string) string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	hup    <-chan os.Signal // asks serve to read its config again
	args   []string         // as typed
}

func main() {
	// The first signal ends ctx: intake stops and running turns are drained. The
	// second finds the handler gone and ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	// A reader that has gone is an error of that write, not the end of the
	// process: what could not be printed stays owed.
	signal.Ignore(syscall.SIGPIPE)
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	w := world{ctx: ctx, getenv: os.Getenv, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, hup: hup}
	os.Exit(run(w, os.Args[1:]))
}

// exit is an error that is an exit code with a line for the person, or none
// when everything was said already.
type exit struct {
	code int
	line string
}

func (e exit) Error() string { return e.line }

// run is main without the process: it parses args and runs the verb.
func run(w world, args []string) int {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	w.args, w.stderr = args, tamed(w.stderr)
	err := w.obey(args)
	var m misuse
	var e exit
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &m):
		// Redacted: a key given as an argument is refused, and not said aloud [I12].
		fmt.Fprintf(w.stderr, "standin: %s\nTry: standin --help\n", provider.Redact(m.line))
		return exitUsage
	case !errors.As(err, &e):
		e = exit{exitFault, err.Error()}
	}
	if e.line != "" {
		fmt.Fprintln(w.stderr, "standin:", e.line)
	}
	return e.code
}

// obey does what the words ask for: the work of a verb, or its help.
func (w world) obey(args []string) error {
	line := w.commandLine()
	line.SetArgs(args)
	var asked *cobra.Command // whose help
	line.SetHelpFunc(func(cmd *cobra.Command, _ []string) { asked = cmd })
	if err := line.Execute(); err != nil || asked == nil {
		return err
	}
	words := strings.Fields(asked.CommandPath())[1:]
	return helpCmd{root: line, Of: append(words, asked.Flags().Args()...)}.Run(w)
}

// attend does a verb's work to its end. A verb that drains hears of a signal
// through ctx and ends in its own order. The others have nothing to drain, and
// may stand in a read that no ctx wakes, such as that of a terminal: a signal
// ends them after lastWord.
func attend(w world, drains bool, c runner) error {
	if drains {
		return c.Run(w)
	}
	w.stdout = tamed(w.stdout) // those that drain draw, and tame it themselves
	ended := make(chan error, 1)
	go func() { ended <- c.Run(w) }()
	select {
	case err := <-ended:
		return err
	case <-w.ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(lastWord):
		return exit{code: exitStopped}
	}
}

// lastWord is how long a verb that a signal interrupts may take to end itself,
// and to leave the terminal as it was.
const lastWord = 200 * time.Millisecond

// code turns a verb's exit code into its error.
func code(c int) error {
	if c == exitOK {
		return nil
	}
	return exit{code: c}
}
