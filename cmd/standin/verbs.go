package main

import (
	"fmt"

	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/fallback"
	"standin/store"
)

// checkCmd is `standin check`.
type checkCmd struct {
	stateFlag
	Config string
}

func (w world) checkVerb() *verb {
	var c checkCmd
	v := w.verb(&c, "check", "Check the config and print which models each agent would use, and why.")
	v.Flags().VarP(text{&c.Config, "FILE"}, "config", "c", configHelp)
	c.bind(v)
	return v
}

// Run prints the faults, or the effective plan of each agent.
func (c checkCmd) Run(w world) error {
	stored := store.ReadCredentials(c.options(w), nil)
	defer stored.Close()
	return code(runCheck(c.Config, c.dir(w), w.stdout, w.stderr, w.getenv, idsOf(w.ctx, stored)))
}

// stored gives the ids of a provider's stored credentials in a state folder, for
// as long as a daemon runs on it: a look that makes no file, and that sees what
// is stored later. One that cannot be read counts as none.
func (w world) stored(dir string) (ids func(provider string) []string, closeStored func()) {
	creds := store.OpenCredentials(store.Options{Dir: dir})
	return idsOf(w.ctx, creds), func() { _ = creds.Close() }
}

// configCmd is `standin config schema`.
type configCmd struct{}

// configVerb is `standin config`, which does the one thing there is to do.
func (w world) configVerb() *verb {
	return w.verb(configCmd{}, "config", "About the config file.").
		with(w.verb(configCmd{}, "schema", "Print the JSON Schema of the config file, for editors."))
}

// Run prints the schema.
func (configCmd) Run(w world) error {
	if config.WriteSchema(w.stdout) != nil {
		return exit{code: exitFault}
	}
	return nil
}

// classifyCmd is `standin classify`.
type classifyCmd struct {
	Provider string
	Model    string
	Status   int
	Code     string
	Type     string
	Message  string
	Body     string
}

func (w world) classifyVerb() *verb {
	var c classifyCmd
	v := w.verb(&c, "classify", "Say what provider errors mean: JSON lines in, JSON lines out.")
	f := v.Flags()
	f.Var(text{&c.Provider, "STRING"}, "provider", "Provider id.")
	f.Var(text{&c.Model, "STRING"}, "model", "Model id.")
	f.IntVar(&c.Status, "status", 0, "HTTP status.")
	f.Var(text{&c.Code, "STRING"}, "code", "The vendor's error code.")
	f.Var(text{&c.Type, "STRING"}, "type", "The vendor's error type.")
	f.Var(text{&c.Message, "STRING"}, "message", "The vendor's message.")
	f.Var(text{&c.Body, "STRING"}, "body", "The raw body.")
	return v
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

func (w world) versionVerb() *verb { return w.verb(versionCmd{}, "version", "Print the version.") }

// Run prints what the build knows of itself.
func (versionCmd) Run(w world) error {
	fmt.Fprintln(w.stdout, "standin", daemon.Version())
	return nil
}
