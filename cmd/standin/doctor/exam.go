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
