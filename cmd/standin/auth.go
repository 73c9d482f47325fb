package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"standin/channels/console"
	"standin/cmd/standin/config"
	"standin/fallback"
	"standin/store"
)

// authVerb is `standin auth`: the stored credentials. It works beside a running
// daemon, which uses what it finds from its next call on.
func (w world) authVerb() *verb {
	return w.group("auth", "Stored credentials: add, list, remove.", w.authAddVerb(), w.authListVerb(), w.authRemoveVerb())
}

// authFlags are common to the verbs.
type authFlags struct {
	Agent string
	stateFlag
}

func (f *authFlags) bind(v *verb) {
	f.Agent = "main"
	v.Flags().Var(text{&f.Agent, "ID"}, "agent", "Agent whose credentials these are; others fall back on main's.")
	f.stateFlag.bind(v)
}

type authAddCmd struct {
	authFlags
	Provider string
	ID       string
	Env      string
}

func (w world) authAddVerb() *verb {
	var c authAddCmd
	v := w.verb(&c, "add", "Store an API key; several keys of one provider are used in turn.",
		argument{name: "provider", help: "Provider id, such as openai.", to: &c.Provider})
	c.bind(v)
	v.Flags().Var(text{&c.ID, "NAME"}, "id", "Name of the credential, such as work for openai:work (default: default).")
	v.Flags().Var(text{&c.Env, "NAME"}, "env", "Take the key from this environment variable. Never an argument: those end up in shell history.")
	return v
}

// Run stores one key.
func (c authAddCmd) Run(w world) error {
	vendor := fallback.NormalProvider(c.Provider)
	if vendor == "" || strings.ContainsAny(vendor, ":/ ") {
		return exit{exitUsage, fmt.Sprintf("%q is no provider id; it looks like openai", c.Provider)}
	}
	name := strings.TrimPrefix(c.ID, vendor+":")
	if name == "" {
		name = "default"
	}
	if strings.ContainsAny(name, ":/") || !config.Printable(name) {
		return exit{exitUsage, fmt.Sprintf("%q cannot name a credential; it looks like work", c.ID)}
	}
	key := w.getenv(c.Env)
	if c.Env == "" {
		var err error
		if key, err = console.ReadSecret(w.ctx, w.stdin, w.stderr, "API key of "+vendor+" (not shown): "); err != nil {
			return exit{exitUsage, "the key could not be read: " + err.Error()}
		}
	}
	if key == "" || !config.Printable(key) {
		return exit{exitUsage, "no key given, or one with spaces or line breaks in it; nothing was stored"}
	}
	creds := store.OpenCredentials(c.options(w))
	defer creds.Close()
	id := fallback.ProfileID(vendor + ":" + name)
	if err := creds.PutCredential(w.ctx, fallback.AgentID(c.Agent), store.NewAPIKey(id, key)); err != nil {
		return err
	}
	fmt.Fprintf(w.stdout, "Stored %s. A running daemon uses it from its next call on.\n", id)
	return nil
}

type authListCmd struct {
	authFlags
	JSON bool
}

func (w world) authListVerb() *verb {
	var c authListCmd
	v := w.verb(&c, "list", "List stored credentials and whether they can be used now.")
	c.bind(v)
	v.Flags().BoolVar(&c.JSON, "json", false, "One JSON object per line.")
	return v
}

// authRow is a stored credential as people see it.
type authRow struct {
	Profile  string              `json:"profile"`
	Type     string              `json:"type"`
	Account  string              `json:"account,omitempty"`
	State    string              `json:"state"`
	LastUsed *time.Time          `json:"lastUsed,omitempty"`
	Usage    fallback.UsageStats `json:"usage"`
}

// Run prints the credentials, without secrets.
func (c authListCmd) Run(w world) error {
	creds := store.ReadCredentials(c.options(w), nil)
	defer creds.Close()
	agent := fallback.AgentID(c.Agent)
	all, err := creds.List(w.ctx, agent)
	if err != nil {
		return err
	}
	now := time.Now()
	table := tabwriter.NewWriter(w.stdout, 0, 4, 2, ' ', 0)
	if !c.JSON && len(all) == 0 {
		fmt.Fprintf(w.stdout, "No credential is stored for agent %s. Add one with: standin auth add openai\nKeys that the environment or the config names are not listed here; standin check shows them.\n", agent)
		return nil
	}
	if !c.JSON {
		fmt.Fprintln(table, "PROFILE\tTYPE\tACCOUNT\tSTATE\tLAST USED")
	}
	for _, one := range all {
		p, err := one.Profile()
		if err != nil {
			return err
		}
		usage, err := creds.Usage(w.ctx, agent, p.Provider)
		if err != nil {
			return err
		}
		u := usage[p.ID]
		row := authRow{Profile: string(p.ID), Type: string(p.Type), Account: p.Account, State: stateOf(u, now), Usage: u.Stats(now)}
		if !u.LastUsed.IsZero() {
			row.LastUsed = &u.LastUsed
		}
		if c.JSON {
			if err := json.NewEncoder(w.stdout).Encode(row); err != nil {
				return err
			}
			continue
		}
		last := "never"
		if row.LastUsed != nil {
			last = row.LastUsed.Local().Format(time.DateTime)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", row.Profile, row.Type, row.Account, row.State, last)
	}
	return table.Flush()
}

// stateOf says whether a profile can be used, and until when not.
func stateOf(u fallback.Usage, now time.Time) string {
	var parts []string
	add := func(what string, w fallback.Window) {
		if w.Active(now) {
			parts = append(parts, fmt.Sprintf("%s: %s, %s left", what, w.Reason, w.Until.Sub(now).Round(time.Second)))
		}
	}
	add("disabled", u.Disabled)
	add("blocked", u.Blocked)
	add("resting", u.Whole.Window)
	for _, model := range slices.Sorted(maps.Keys(u.Scopes)) {
		add("resting for "+model, u.Scopes[model].Window)
	}
	if len(parts) == 0 {
		return "usable"
	}
	return strings.Join(parts, "; ")
}

type authRemoveCmd struct {
	authFlags
	Profile string
}

func (w world) authRemoveVerb() *verb {
	var c authRemoveCmd
	v := w.verb(&c, "remove", "Remove a stored credential.",
		argument{name: "profile", help: "Profile id, such as openai:work.", to: &c.Profile})
	c.bind(v)
	return v
}

// Run forgets one credential and its windows.
func (c authRemoveCmd) Run(w world) error {
	creds := store.OpenCredentials(c.options(w))
	defer creds.Close()
	found, err := creds.DeleteCredential(w.ctx, fallback.AgentID(c.Agent), fallback.ProfileID(c.Profile))
	if err != nil {
		return err
	}
	if !found {
		return exit{exitFault, fmt.Sprintf("there is no stored credential %s of agent %s; standin auth list shows them", c.Profile, c.Agent)}
	}
	fmt.Fprintf(w.stdout, "Removed %s.\n", c.Profile)
	return nil
}
