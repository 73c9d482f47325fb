package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/channels/console"
	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/fallback/provider"
)

// serveCmd is `standin serve`.
type serveCmd struct {
	Config string
	stateFlag
	Log   string
	Debug bool
}

func (w world) serveVerb() *verb {
	var c serveCmd
	v := w.verb(&c, "serve", "Run the daemon with your config.")
	v.drains = true
	v.Flags().VarP(text{&c.Config, "FILE"}, "config", "c", configHelp)
	c.bind(v)
	v.Flags().Var(text{&c.Log, "FILE"}, "log", "Where the log goes, - for standard error. Default: standin.log in the state folder when this is a terminal, else standard error.")
	v.Flags().BoolVar(&c.Debug, "debug", false, "Log debug lines too.")
	return v
}

// Run serves until a signal, or until its only channel is exhausted.
func (c serveCmd) Run(w world) error {
	path, tried := config.Find(c.Config, c.dir(w), w.getenv)
	if path == "" {
		fmt.Fprint(w.stderr, config.NoneFound(tried))
		return exit{code: exitUsage}
	}
	dir := c.dir(w)
	stored, closeStored := w.stored(dir)
	defer closeStored()
	load := func() (*config.Compiled, []config.Fault) {
		return config.Reader{Getenv: w.getenv, Stored: stored}.Load(path)
	}
	conf, faults := load()
	config.PrintFaults(w.stderr, faults)
	if conf == nil {
		return exit{exitUsage, fmt.Sprintf("%s cannot be used; mend the lines above (standin check tells when it is right)", path)}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return exit{exitUsage, "state folder: " + err.Error()}
	}
	terminal := w.terminal()
	log, closeLog, err := c.openLog(w, dir, terminal)
	if err != nil {
		return exit{exitUsage, "log: " + err.Error()}
	}
	defer closeLog()

	var a *daemon.App
	var own []channels.Channel
	if terminal || !conf.Connects() { // a service has no console: its standard input is nobody's
		own = append(own, w.console(filepath.Join(dir, "history"), time.Now, func(ctx context.Context, in channels.Inbound) error { return a.Bot.Wait(ctx, in) }))
	}
	a, err = daemon.New(w.ctx, daemon.Parts{
		State: dir, Config: conf, Channels: own, Accounts: true,
		Vendors: provider.New(provider.Options{Log: log}),
		Local:   []bot.Command{w.cronCommand(dir, path)},
		Environ: w.environ("PATH", "HOME", "LANG", "TMPDIR"),
		Log:     log, Now: time.Now, Sleep: daemon.Sleep,
	})
	if err != nil {
		return exit{exitUsage, err.Error()}
	}
	a.Foresee(oracle{app: a, path: path, getenv: w.getenv})
	if err := a.Listen(dir, conf.Gateway); err != nil {
		return exit{exitUsage, errors.Join(err, a.Close()).Error()}
	}
	a.Follow(w.ctx, w.hup, path, load)
	if terminal {
		fmt.Fprintf(w.stdout, "standin is listening here. Type a message, or /help.\nConfig %s, state %s.\n\n", path, dir)
	}
	return a.Run(w.ctx)
}

// environ gives variables as NAME=value, those that are set.
func (w world) environ(names ...string) (list []string) {
	for _, name := range names {
		if v := w.getenv(name); v != "" {
			list = append(list, name+"="+v)
		}
	}
	return list
}

// openLog opens the log: JSON lines, levels by --debug.
func (c serveCmd) openLog(w world, dir string, terminal bool) (*slog.Logger, func(), error) {
	level := slog.LevelInfo
	if c.Debug {
		level = slog.LevelDebug
	}
	switch {
	case c.Log == "-" || c.Log == "" && !terminal:
		return newLog(w.stderr, level), func() {}, nil
	case c.Log != "":
		return fileLog(c.Log, level)
	}
	return fileLog(filepath.Join(dir, "standin.log"), level)
}

// newLog writes JSON lines; whatever looks like a secret is masked on its way [I12].
func newLog(out io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch v := a.Value.Any().(type) {
		case string:
			a.Value = slog.StringValue(provider.Redact(v))
		case error:
			a.Value = slog.StringValue(provider.Redact(v.Error()))
		case []string:
			masked := make([]string, len(v))
			for i, line := range v {
				masked[i] = provider.Redact(line)
			}
			a.Value = slog.AnyValue(masked)
		}
		return a
	}}))
}

// fileLog appends to a file that only its owner reads.
func fileLog(path string, level slog.Level) (*slog.Logger, func(), error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	return newLog(f, level), func() { _ = f.Close() }, nil
}

// terminal tells whether a person sits at both ends and can see a cursor move.
func (w world) terminal() bool {
	return console.IsTerminal(w.stdin, w.stdout) && w.getenv("TERM") != "dumb"
}

// console is the surface of this process's own standard input and output.
func (w world) console(history string, now func() time.Time, wait func(context.Context, channels.Inbound) error) *console.Console {
	me := "you"
	if u, err := user.Current(); err == nil && u.Username != "" {
		me = u.Username
	}
	return console.New(console.Options{
		In: w.stdin, Out: w.stdout,
		Terminal: w.terminal(),
		NoColor:  w.getenv("NO_COLOR") != "",
		User:     me, History: history, Files: filepath.Join(filepath.Dir(history), "files"), Now: now, Wait: wait,
	})
}
