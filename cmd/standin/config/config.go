// Package config reads the config file. A file becomes a tree in which every
// value has its place (yaml.go, tree.go), is judged by the schema of the structs
// that say which keys there are (shape.go, keys.go and its neighbours), and is
// compiled into what the rooms obey (compile.go and its neighbours). Every fault
// is told in one run, with line, column and mend.
//
// Rehearsal scripts are read through the same door, Plant and Fit: YAML is parsed
// nowhere else. Nothing here runs: that is the daemon's.
package config

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"standin/bot"
	"standin/bot/incidents"
	"standin/bot/mcp"
	"standin/bot/operator"
	"standin/cronjobs"
	"standin/fallback"
	"standin/fallback/auth"
	"standin/heartbeat"
)

// Compiled is what a config file means to the rooms. It is never changed: a
// reload makes a new one, and a running turn keeps the one it started with [G9].
type Compiled struct {
	Fallback *fallback.Config
	Bot      *bot.Config
	// Profiles are the credentials that the config or the environment names,
	// as opposed to those that are stored.
	Profiles []fallback.Profile
	// RetryMaxWait is STANDIN_SDK_RETRY_MAX_WAIT_SECONDS: the longest hint of a
	// vendor that a transport may wait for by itself; 0: no cap [M21, failover.md
	// 21.B.5]. None of ours waits at all [D13e]; a value that means nothing is
	// told all the same.
	RetryMaxWait time.Duration
	// Accounts are those of the platforms, in the order in which people read them;
	// those that are off are among them.
	Accounts []Account
	// Cron is how jobs run.
	Cron *cronjobs.Config
	// Gateway is where standin listens, "" nowhere.
	Gateway string
	// Operator says who may come in there, and what they get.
	Operator operator.Settings
	// Logins are the vendors whose OAuth logins can be made and renewed, by
	// provider: those that are built in, as config changes them, and its own.
	Logins map[string]auth.Vendor
	// Encryption says how stored secrets are kept.
	Encryption Encryption
	// Heartbeats says who has a heartbeat and how.
	Heartbeats *heartbeat.Settings
	// Maintenance says how long conversations are kept.
	Maintenance Maintenance
	// DefaultAccounts names, by channel, the account that is meant where none is
	// named and the channel has none of its own.
	DefaultAccounts map[string]string
	// Web says whether and from where agents may fetch pages.
	Web Web
	// Voice is who speaks answers aloud.
	Voice Voice
	// Servers are those of the Model Context Protocol, by name.
	Servers []mcp.Server
	// Operators says who is told of what goes wrong.
	Operators incidents.Settings
	// Plans says for each agent, in the order of the file, what it would do.
	Plans []AgentPlan
}

// Connects tells whether a platform is to be connected, so that somebody can be
// heard without the console.
func (c *Compiled) Connects() bool {
	return slices.ContainsFunc(c.Accounts, func(a Account) bool { return !a.Off })
}

// Reader says how a config is read. Its zero fields are the strict daemon's.
type Reader struct {
	Getenv func(string) string
	Base   string // folder that file references start from
	// Stored gives the ids of a provider's stored profiles; nil: not known here.
	Stored func(provider string) []string
	// Catalogue compares models with the catalogue and warns of those that it
	// lacks. Loading it takes longer than a start should.
	Catalogue bool
	// AnyModel accepts every provider and model, for rehearsals (rehearsal.md R2).
	AnyModel bool
}

// Load reads the file at path as a daemon does. The config is nil when one of
// the faults is not a warning.
func Load(path string, getenv func(string) string) (*Compiled, []Fault) {
	return Reader{Getenv: getenv}.Load(path)
}

// Parse reads a config that is not a file of its own; name stands in the
// faults, base is the folder that file references start from.
func Parse(name string, data []byte, getenv func(string) string, base string) (*Compiled, []Fault) {
	return Reader{Getenv: getenv, Base: base}.Parse(name, data)
}

// Load reads the file at path; file references start from its folder unless
// Base says otherwise. The config is nil when one of the faults is not a warning.
func (r Reader) Load(path string) (*Compiled, []Fault) {
	data, err := ReadBounded(path, MaxFile)
	if err != nil {
		return nil, []Fault{{File: path, Msg: "cannot be read: " + ReasonOf(err)}}
	}
	if r.Base == "" {
		r.Base = filepath.Dir(path)
	}
	return r.Parse(path, data)
}

// Parse reads a config that is not a file of its own; name stands in the faults.
func (r Reader) Parse(name string, data []byte) (*Compiled, []Fault) {
	root, faults := Plant(name, data, Planter{Getenv: r.Getenv, Within: FileBounds})
	if root == nil {
		return nil, faults
	}
	return r.Compile(name, strings.Split(string(data), "\n"), root, faults)
}

// Compile makes a tree into a config, nil when one of the faults, those of the
// tree so far included, is not a warning. Faulty parts are taken out of the tree.
func (r Reader) Compile(name string, lines []string, root *Node, faults []Fault) (*Compiled, []Fault) {
	doc := newDocument()
	root, faults = Fit(name, lines, root, faults, &doc)
	if root == nil {
		return nil, faults
	}
	c := newCompiler(r, name, lines, root, &doc)
	out := c.compile()
	faults = SortFaults(append(faults, c.faults...))
	if Broken(faults) {
		return nil, faults
	}
	return out, faults
}
