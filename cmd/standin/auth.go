package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"standin/bot"
	"standin/cmd/standin/config"
	"standin/fallback"
	"standin/fallback/auth"
	"standin/store"
)

// authVerb is `standin auth`: the credentials. It works beside a running daemon,
// which reads them for each call: the very next one goes by what was changed.
func (w world) authVerb() *verb {
	return w.group("auth", "Credentials: what there is, how it stands, and what to do with it.",
		w.authAddVerb(), w.authLoginVerb(), w.authListVerb(), w.authShowVerb(), w.authOrderVerb(), w.authClearVerb(),
		w.authDisableVerb(), w.authEnableVerb(), w.authProbeVerb(), w.authRemoveVerb(), w.authSealVerb(), w.authUnsealVerb())
}

// authFlags are common to the verbs.
type authFlags struct {
	Agent  string
	Config string
	JSON   bool
	stateFlag
}

func (f *authFlags) bind(v *verb) {
	f.Agent = "main"
	v.Flags().Var(text{&f.Agent, "ID"}, "agent", "Agent whose credentials these are; others fall back on main's.")
	f.place(v)
}

// place binds what says where things are, and how they are printed.
func (f *authFlags) place(v *verb) {
	v.Flags().VarP(text{&f.Config, "FILE"}, "config", "c", configHelp)
	f.stateFlag.bind(v)
	v.Flags().BoolVar(&f.JSON, "json", false, "JSON, with stable names, one object per line.")
}

// profileArgument is the credential that a verb is about.
func profileArgument(to *string) argument {
	return argument{name: "profile", help: "Profile id, such as openai:work; standin auth list shows them.", to: to}
}

// desk is the credentials of a state folder with what the config says of them.
// It implements bot.Keyring.
type desk struct {
	*store.Credentials
	agent  fallback.AgentID
	config *fallback.Config // what the environment alone comes to, when there is none that can be used
	named  []fallback.Profile
	logins map[string]auth.Vendor // that can be made and renewed, by provider
	db     *store.DB              // nil: no daemon has run here yet
	now    time.Time
}

// open opens the credentials for looking, or for a change. A config that cannot
// be used is no reason to refuse: whoever mends a key may lack the variables that
// the daemon has. It is said, and what it names is left out.
func (f authFlags) open(w world, change bool) (*desk, error) {
	d := &desk{agent: fallback.AgentID(f.Agent), now: time.Now()}
	bare, _ := config.Reader{Getenv: w.getenv, AnyModel: true}.Parse("no config", []byte("{}"))
	d.obey(bare)
	o := f.options(w)
	if path, _ := config.Find(f.Config, f.dir(w), w.getenv); path != "" {
		kept, faults := config.Reader{Getenv: w.getenv}.Encryption(path)
		if config.Broken(faults) && kept == (config.Encryption{}) {
			config.PrintFaults(w.stderr, faults)
			return nil, exit{exitUsage, fmt.Sprintf("%s does not say how credentials are kept; mend the lines above", path)}
		}
		o.Sealing = store.Sealing(kept)
		stored := store.ReadCredentials(o, nil)
		conf, _ := config.Reader{Getenv: w.getenv, Stored: idsOf(w.ctx, stored)}.Load(path)
		_ = stored.Close()
		if conf == nil {
			fmt.Fprintf(w.stderr, "standin: %s cannot be used as it stands here, so credentials and orders that it names are left out; standin check says why\n", path)
		} else {
			d.obey(conf)
		}
	}
	if change {
		d.Credentials = store.OpenCredentials(o).With(d.named)
	} else {
		d.Credentials = store.ReadCredentials(o, d.named)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, "standin.sqlite")); errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	var err error
	if d.db, err = store.OpenReadOnly(w.ctx, o); err != nil {
		d.db = nil // the sessions that keep to a credential stay unnamed
		fmt.Fprintln(w.stderr, "standin: sessions are not shown:", err)
	}
	return d, nil
}

// obey takes a config over.
func (d *desk) obey(c *config.Compiled) {
	d.config, d.named, d.logins = c.Fallback, c.Profiles, c.Logins
}

func (d *desk) close() {
	if d.db != nil {
		_ = d.db.Close()
	}
	_ = d.Credentials.Close()
}

// deed is who sits here.
func (d *desk) deed(w world, detail string) fallback.Deed {
	return fallback.Deed{At: d.now, Who: whoami(w), Via: "command line", Detail: detail}
}

// whoami is the user of this terminal, and who became it.
func whoami(w world) string {
	name := w.getenv("USER")
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	if by := w.getenv("SUDO_USER"); by != "" && by != name {
		name = by + " as " + name
	}
	return name
}

// done prints what a change did, in a sentence or as JSON.
func (f authFlags) done(w world, d fallback.Deed, changed bool, line string) error {
	if f.JSON {
		return printLine(w, struct {
			fallback.Deed
			Agent   string `json:"agent"`
			Changed bool   `json:"changed"`
			Says    string `json:"says"`
		}{d, f.Agent, changed, line})
	}
	fmt.Fprintln(w.stdout, line)
	return nil
}

// unknown is the refusal of an id that nobody has.
func (d *desk) unknown(w world, id string) error {
	all, err := bot.Credentials(w.ctx, d, d.config, d.agent, d.now)
	if err != nil {
		return err
	}
	return exit{exitFault, bot.SayNoCredential(id, all)}
}
