// Command standin is a self-hosted chat daemon that keeps answering when a
// model provider does not.
//
// This file translates: flags, environment, signals and exit codes. What is
// built from them is wired in app.go; each verb has a file of its own.
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

	"github.com/alecthomas/kong"

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
}

// cli is the command line. The help texts are what `standin --help` prints.
type cli struct {
	Demo     demoCmd     `cmd:"" help:"Talk to an agent in this terminal, with two staged models: see one fail and the other stand in. Needs no account and no key."`
	Serve    serveCmd    `cmd:"" help:"Run the daemon with your config."`
	Check    checkCmd    `cmd:"" help:"Check the config and print which models each agent would use, and why."`
	Config   configCmd   `cmd:"" help:"About the config file."`
	Auth     authCmd     `cmd:"" help:"Stored credentials: add, list, remove."`
	Slack    slackCmd    `cmd:"" help:"Set Slack up."`
	Discord  discordCmd  `cmd:"" help:"Set Discord up."`
	Channels channelsCmd `cmd:"" help:"How the channels of the running daemon are."`
	Pairing  pairingCmd  `cmd:"" help:"Who may write to the agents directly."`
	Rehearse rehearseCmd `cmd:"" help:"Play a scripted outage through the real engine and check what it expects."`
	Explain  explainCmd  `cmd:"" help:"Say what a message would do now: which models, which credentials, and why. Asks nobody, changes nothing."`
	Why      whyCmd      `cmd:"" help:"Tell the last change of model of a session: what failed, what stood in, who was told."`
	Classify classifyCmd `cmd:"" help:"Say what provider errors mean: JSON lines in, JSON lines out."`
	Version  versionCmd  `cmd:"" help:"Print the version."`
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
	code := -1
	parser, err := kong.New(&cli{},
		kong.Name("standin"),
		kong.Description("A chat daemon that keeps answering when a model provider does not."),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(w.stdout, w.stderr),
		kong.Exit(func(c int) { code = c }),
	)
	if err != nil {
		fmt.Fprintln(w.stderr, "standin:", err)
		return exitUsage
	}
	verb, err := parser.Parse(args)
	if code >= 0 { // --help has printed and asked to leave
		return code
	}
	if err != nil {
		// Redacted: a key given as an argument is refused, and not said aloud [I12].
		fmt.Fprintf(w.stderr, "standin: %s\nTry: standin --help\n", provider.Redact(err.Error()))
		return exitUsage
	}
	if err := attend(w, verb); err != nil {
		var e exit
		if !errors.As(err, &e) {
			e = exit{exitFault, err.Error()}
		}
		if e.line != "" {
			fmt.Fprintln(w.stderr, "standin:", e.line)
		}
		return e.code
	}
	return exitOK
}

// attend runs the verb to its end. serve, demo and rehearse hear of a signal
// through ctx and end in their own order. The others have nothing to drain, and
// may stand in a read that no ctx wakes, such as that of a terminal: a signal
// ends them after lastWord.
func attend(w world, verb *kong.Context) error {
	name, _, _ := strings.Cut(verb.Command(), " ")
	if name == "serve" || name == "demo" || name == "rehearse" {
		return verb.Run(w)
	}
	ended := make(chan error, 1)
	go func() { ended <- verb.Run(w) }()
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

// code turns a verb's exit code into what kong passes on.
func code(c int) error {
	if c == exitOK {
		return nil
	}
	return exit{code: c}
}
