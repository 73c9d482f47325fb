package main

import (
	"fmt"
	"runtime/debug"

	"standin/fallback"
	"standin/store"
)

// checkCmd is `standin check`.
type checkCmd struct {
	Config string `short:"c" placeholder:"FILE" help:"Config file (default: $STANDIN_CONFIG, then config.yaml in the state folder)."`
}

// Run prints the faults, or the effective plan of each agent.
func (c checkCmd) Run(w world) error {
	stored := store.ReadCredentials(store.Options{Dir: stateDir(w.getenv)}, nil)
	defer stored.Close()
	return code(runCheck(c.Config, w.stdout, w.stderr, w.getenv, idsOf(w.ctx, stored)))
}

// stored gives the ids of a provider's stored credentials in a state folder, for
// as long as a daemon runs on it: a look that makes no file, and that sees what
// is stored later. One that cannot be read counts as none.
func (w world) stored(dir string) (ids func(provider string) []string, closeStored func()) {
	creds := store.OpenCredentials(store.Options{Dir: dir})
	return idsOf(w.ctx, creds), func() { _ = creds.Close() }
}

// configCmd is `standin config`.
type configCmd struct {
	Schema struct{} `cmd:"" help:"Print the JSON Schema of the config file, for editors."`
}

// Run prints the schema, the one thing there is to do.
func (configCmd) Run(w world) error { return code(runSchema(w.stdout)) }

// classifyCmd is `standin classify`.
type classifyCmd struct {
	Provider string `help:"Provider id."`
	Model    string `help:"Model id."`
	Status   int    `help:"HTTP status."`
	Code     string `help:"The vendor's error code."`
	Type     string `help:"The vendor's error type."`
	Message  string `help:"The vendor's message."`
	Body     string `help:"The raw body."`
}

// Run classifies the one error that the flags describe, or each line of
// standard input.
func (c classifyCmd) Run(w world) error {
	var one *fallback.Signal
	if c != (classifyCmd{}) {
		one = &fallback.Signal{Provider: c.Provider, Model: c.Model, Status: c.Status,
			Code: c.Code, Type: c.Type, Message: c.Message, Body: c.Body}
	}
	return code(runClassify(w.stdin, w.stdout, w.stderr, one))
}

// versionCmd is `standin version`.
type versionCmd struct{}

// Run prints what the build knows of itself.
func (versionCmd) Run(w world) error {
	fmt.Fprintln(w.stdout, "standin", version())
	return nil
}

// version is the module's version, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && (v == "" || v == "(devel)") {
			v = s.Value[:12]
		}
	}
	if v == "" {
		v = "(devel)"
	}
	return v + " " + info.GoVersion
}
