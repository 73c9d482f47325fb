package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"standin/channels/discord"
	"standin/channels/slack"
	"standin/cmd/standin/config"
	"standin/cmd/standin/takeover"
	"standin/fallback"
	"standin/store"
)

// Exam is what to look at, and whether to mend.
type Exam struct {
	Dir    string // the state folder
	Config string // the config file, "" when there is none
	Getenv func(string) string
	Online bool   // ask platforms and providers, too
	Fix    bool   // mend what can be mended
	From   string // another program's state folder to take over, "" for none
	Who    string // for the record
	Now    time.Time
	Client *http.Client // for Online; nil: a usual one
	// Extras are checks of other rooms.
	Extras []Extra
}

// Extra is a check that another room brings along, such as that of an older
// store of jobs. It keeps to the exam's word: without Fix nothing changes. at is
// where the databases may be read without a trace.
type Extra func(ctx context.Context, e Exam, at string) []Finding

// exam is an exam under way.
type exam struct {
	Exam
	r       *Report
	ctx     context.Context
	sealing store.Sealing
	conf    *config.Compiled // nil: it cannot be used
	looked  []Area
}

// Examine looks everything over. The error is ctx's; all else is a finding.
func (e Exam) Examine(ctx context.Context) (Report, error) {
	r := Report{State: e.Dir, Config: e.Config, Daemon: store.Owner(e.Dir)}
	x := &exam{Exam: e, r: &r, ctx: ctx}
	x.files()
	if e.Config != "" {
		// Its faults are told with the config's.
		sealing, _ := config.Reader{Getenv: e.Getenv}.Encryption(e.Config)
		x.sealing = store.Sealing(sealing)
	}
	if e.From != "" {
		x.takeOver()
	}
	x.config()
	x.older()
	x.stored()
	x.machine()
	if e.Online {
		x.online()
	}
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	r.close(x.looked)
	return r, nil
}

func (x *exam) options(dir string) store.Options {
	return store.Options{Dir: dir, Sealing: x.sealing}
}

// files looks at who else may read the folder.
func (x *exam) files() {
	info, err := os.Stat(x.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.r.add(Finding{Area: Files, Level: Note, Where: x.Dir, What: "is not there yet; the first start makes it"})
		return
	case err != nil || !info.IsDir():
		x.r.add(Finding{Area: Files, Level: Error, Where: x.Dir, What: "is no folder that can be looked into", Mend: "choose another one with --state or STANDIN_STATE_DIR"})
		return
	}
	x.looked = append(x.looked, Files)
	all, err := filesOf(x.Dir)
	if err != nil {
		x.r.add(Finding{Area: Files, Level: Error, Where: x.Dir, What: "cannot be looked into: " + config.ReasonOf(err), Mend: "make it this user's own"})
	}
	for _, f := range all {
		for _, found := range Modes([]File{f}) {
			if x.Fix {
				if err := tighten(x.Dir, f); err != nil {
					found.Mend = "it cannot be changed (" + config.ReasonOf(err) + "): make it this user's own"
				} else {
					found.Mended, found.What = true, fmt.Sprintf("had the mode %04o, and now has %04o", f.Mode.Perm(), f.Mode.Perm()&f.want())
				}
			}
			x.r.add(found)
		}
	}
}

// config reads the config as check does.
func (x *exam) config() {
	if x.Config == "" {
		x.r.add(Finding{Area: Config, Level: Error, What: "there is no config file", Mend: "standin check shows the smallest one and where it belongs"})
		return
	}
	x.looked = append(x.looked, Config, Channels)
	stored := store.ReadCredentials(x.options(x.Dir), nil)
	defer stored.Close()
	conf, faults := config.Reader{Getenv: x.Getenv, Catalogue: true, Stored: x.idsOf(stored)}.Load(x.Config)
	x.conf = conf
	x.r.add(Faults(faults)...)
}

// Faults are those of the config, as findings.
func Faults(faults []config.Fault) (found []Finding) {
	for _, f := range faults {
		one := Finding{Area: Config, Level: Error, Where: filepath.Base(f.File), What: f.Msg, Mend: f.Mend}
		if f.Line > 0 {
			one.Where += fmt.Sprintf(":%d:%d", f.Line, f.Col)
		}
		if f.Path != "" {
			one.What = f.Path + ": " + f.Msg
		}
		if f.Warning {
			one.Level = Warning
		}
		if strings.HasPrefix(f.Path, "channels.") {
			one.Area = Channels
		}
		found = append(found, one)
	}
	return found
}

// idsOf gives the ids of a provider's stored credentials; those that cannot be
// read count as none, and are told elsewhere.
func (x *exam) idsOf(c *store.Credentials) func(provider string) []string {
	return func(provider string) (ids []string) {
		list, _ := c.Profiles(x.ctx, store.MainAgent, provider)
		for _, p := range list {
			ids = append(ids, string(p.ID))
		}
		return ids
	}
}

// older looks for files that came before the store, in standin's own folder.
func (x *exam) older() {
	job := takeover.Job{Write: x.Fix, Own: true, Who: x.Who, Now: x.Now, Named: x.named}
	sources, err := takeover.Find(x.Dir)
	if err != nil {
		x.r.add(Finding{Area: Import, Level: Warning, Where: x.Dir, What: "older files cannot be looked for: " + config.ReasonOf(err)})
	}
	x.withVault(func(v takeover.Vault) {
		job.Vault = v
		for _, o := range job.Take(x.ctx, sources) {
			x.r.add(x.outcome(o, true)...)
		}
		lost, err := job.Lost(x.ctx, x.Dir)
		if err != nil {
			x.r.add(Finding{Area: Import, Level: Warning, Where: x.Dir, What: "backups of older files cannot be looked for: " + config.ReasonOf(err)})
		}
		for _, o := range lost {
			f := Finding{Area: Import, Level: Error, Where: x.short(o.Path), Fixable: true,
				What: fmt.Sprintf("its import is done, but %s not stored (any more)", areOf(o.Taken)),
				Mend: "standin doctor --fix takes them from this backup once more; delete the backup if they are not wanted"}
			switch {
			case o.Err != nil:
				f.Fixable, f.Mend = false, o.Err.Error()
			case x.Fix:
				f.Mended, f.What = true, fmt.Sprintf("%s lost, and taken from this backup once more", wasOf(o.Taken))
			}
			x.r.add(f)
		}
	})
	if len(sources) == 0 {
		x.looked = append(x.looked, Import)
	}
}

// named tells whether config says where a profile's secret is.
func (x *exam) named(p fallback.ProfileID) bool {
	return x.conf != nil && slices.ContainsFunc(x.conf.Profiles, func(have fallback.Profile) bool { return have.ID == p })
}

// withVault lends the credentials: for looking without a trace, or for writing.
func (x *exam) withVault(do func(takeover.Vault)) {
	if x.Fix {
		creds := store.OpenCredentials(x.options(x.Dir))
		defer creds.Close()
		do(creds)
		return
	}
	at, done, err := store.Still(x.Dir)
	if err != nil {
		x.r.add(Finding{Area: Databases, Level: Error, Where: x.Dir, What: "cannot be looked at: " + err.Error()})
		return
	}
	defer done()
	creds := store.ReadCredentials(x.options(at), nil)
	defer creds.Close()
	do(creds)
}

// stored looks at databases, credentials and sessions.
func (x *exam) stored() {
	at, done, err := store.Still(x.Dir)
	if err != nil {
		x.r.add(Finding{Area: Databases, Level: Error, Where: x.Dir, What: "cannot be looked at: " + err.Error()})
		return
	}
	defer done()
	paths, err := store.Databases(at)
	if err != nil || len(paths) == 0 {
		x.credentials(store.ReadCredentials(x.options(at), nil))
		x.extras(at)
		return
	}
	x.looked = append(x.looked, Databases)
	creds := store.ReadCredentials(x.options(at), nil)
	x.credentials(creds)
	if _, err := os.Stat(paths[0]); err == nil && filepath.Dir(paths[0]) == at {
		db, err := store.OpenReadOnly(x.ctx, x.options(at))
		if err != nil {
			x.trouble(at, err)
		} else {
			x.trouble(at, db.Check(x.ctx))
			x.sessions(db)
			_ = db.Close()
		}
	}
	x.extras(at)
}

func (x *exam) extras(at string) {
	for _, look := range x.Extras {
		x.r.add(look(x.ctx, x.Exam, at)...)
	}
}

// trouble tells of what a database gave as an error.
func (x *exam) trouble(at string, err error) {
	if err == nil || x.ctx.Err() != nil {
		return
	}
	list := []error{err}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		list = many.Unwrap()
	}
	for _, one := range list {
		f := Finding{Area: Databases, Level: Error, What: strings.ReplaceAll(one.Error(), at, x.Dir)}
		var file *store.FileError
		var seal *store.SealError
		switch {
		case errors.As(one, &file):
			f.Where, f.What, f.Mend = x.short(strings.Replace(file.Path, at, x.Dir, 1)), file.What, strings.ReplaceAll(file.Mend, at, x.Dir)
			if strings.HasPrefix(file.What, "has schema") {
				f.Level = Warning
			}
		case errors.As(one, &seal):
			f.Area, f.What, f.Mend = Credentials, seal.What, seal.Mend
		}
		if !slices.ContainsFunc(x.r.Findings, func(had Finding) bool { return had.Area == f.Area && had.Where == f.Where && had.What == f.What }) {
			x.r.add(f)
		}
	}
}

// short is a path as people see it under the folder that was named above.
func (x *exam) short(path string) string {
	if rel, err := filepath.Rel(x.Dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// credentials looks at logins and windows, and whether the agents' models have a
// credential at all.
func (x *exam) credentials(c *store.Credentials) {
	defer c.Close()
	x.looked = append(x.looked, Credentials)
	agents, err := c.Agents()
	x.trouble(x.Dir, err)
	var all []Stored
	for _, a := range agents {
		list, err := c.List(x.ctx, a)
		states, errStates := c.States(x.ctx, a)
		if err := errors.Join(err, errStates); err != nil {
			x.trouble(x.Dir, err)
			continue
		}
		for _, one := range list {
			p, err := one.Profile()
			if err != nil {
				x.r.add(Finding{Area: Credentials, Level: Error, Where: string(one.ID), What: "cannot be understood", Mend: fallback.MendCommand(one.Provider)})
				continue
			}
			all = append(all, Stored{a, p, states[one.ID]})
		}
	}
	x.r.add(Logins(all, x.Now)...)
	x.r.add(Windows(all, x.Now)...)
	if x.conf != nil {
		x.r.add(Bare(x.conf.Plans, func(p string) ([]string, string) { return x.conf.CredentialsFor(p, x.idsOf(c)) })...)
	}
}

// maxSessions bounds how many of one sort are listed.
const maxSessions = 20

// sessions looks for stored models that lead nowhere, and gives sessions their
// own model back.
func (x *exam) sessions(db *store.DB) {
	if x.conf == nil {
		return
	}
	x.looked = append(x.looked, Sessions)
	list, err := db.Sessions(x.ctx, 0)
	if err != nil {
		x.trouble(x.Dir, err)
		return
	}
	stale := StaleOverrides(list, x.conf.Bot)
	freed := map[fallback.SessionID]bool{}
	if x.Fix && len(stale) > 0 {
		if freed, err = x.free(stale); err != nil {
			x.trouble(x.Dir, err)
		}
	}
	var found []Finding
	for _, s := range stale {
		f := s.Finding()
		if freed[s.Session] {
			f.Mended, f.What = true, fmt.Sprintf("stayed on the stand-in %s, and has its own model again", s.Was.Model)
		}
		found = append(found, f)
	}
	x.r.add(few(found, maxSessions)...)
	x.r.add(few(Choices(list, x.conf.Bot), maxSessions)...)
}

// free gives sessions their own model back. What somebody chose meanwhile does
// not match any more and stays [I5].
func (x *exam) free(stale []Stale) (freed map[fallback.SessionID]bool, err error) {
	db, err := store.OpenBeside(x.ctx, x.options(x.Dir))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	freed = map[fallback.SessionID]bool{}
	for _, s := range stale {
		done, err := db.Swap(x.ctx, s.Session, s.Was, s.Freed(x.Now))
		if err != nil {
			return freed, err
		}
		freed[s.Session] = done
	}
	return freed, nil
}

// machine looks at the disk and the port.
func (x *exam) machine() {
	x.looked = append(x.looked, Machine)
	if free, err := freeOn(x.Dir); err == nil {
		x.r.add(Disk(x.Dir, free)...)
	}
	if x.conf != nil && x.conf.Gateway != "" && x.r.Daemon == 0 {
		x.r.add(Port(x.conf.Gateway, tryPort(x.ctx, x.conf.Gateway))...)
	}
}

// online asks the platforms about the accounts, and providers for the time.
func (x *exam) online() {
	if x.conf == nil {
		return
	}
	for _, a := range x.conf.Accounts {
		if a.Off || len(a.Faults) > 0 {
			continue // told already
		}
		say := func(ok bool, what, mend string) {
			if !ok {
				x.r.add(Finding{Area: Channels, Level: Error, Where: a.String(), What: what, Mend: mend})
			}
		}
		if a.Channel == slack.Name {
			found, err := slack.Check(x.ctx, a.SlackOptions(config.Opening{}), "")
			if err != nil {
				return // ctx is over
			}
			for _, f := range found {
				say(f.OK, f.What+": "+f.Say, f.Mend)
			}
			continue
		}
		for _, f := range discord.Check(x.ctx, a.DiscordOptions(config.Opening{})) {
			say(f.Mend == "", f.What, f.Mend)
		}
	}
	client := x.Client
	if client == nil {
		client = &http.Client{}
	}
	asked, compared := map[string]bool{}, false
	for _, plan := range x.conf.Plans {
		for _, m := range plan.Chain {
			url := x.conf.Fallback.Providers[m.Provider].BaseURL
			if url == "" || asked[m.Provider] {
				continue
			}
			asked[m.Provider] = true
			theirs, ours, err := timeOf(x.ctx, client, url)
			switch {
			case x.ctx.Err() != nil:
				return
			case theirs.IsZero() && err != nil:
				x.r.add(Unreachable(m.Provider, err))
			case err == nil && !compared:
				compared = true
				x.r.add(Skew(m.Provider, theirs, ours)...)
			}
		}
	}
}
