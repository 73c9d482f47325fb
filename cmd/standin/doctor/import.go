package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"standin/cmd/standin/config"
	"standin/cmd/standin/openclaw"
	"standin/cmd/standin/takeover"
	"standin/fallback"
	"standin/store"
)

// takeOver takes another program's credentials and config over. Its folder is
// only read: that program may still be in use.
func (x *exam) takeOver() {
	info, err := os.Stat(x.From)
	own, errOwn := os.Stat(x.Dir)
	switch {
	case err != nil || !info.IsDir():
		x.r.add(Finding{Area: Import, Level: Error, Where: x.From, What: "is no folder that can be looked into", Mend: "name the state folder of OpenClaw, usually ~/.openclaw"})
		return
	case errOwn == nil && os.SameFile(info, own):
		x.r.add(Finding{Area: Import, Level: Error, Where: x.From, What: "is standin's own state folder", Mend: "without --import, standin doctor --fix takes over what lies in it"})
		return
	}
	sources, err := takeover.Find(x.From)
	if err != nil {
		x.r.add(Finding{Area: Import, Level: Error, Where: x.From, What: "cannot be looked into: " + config.ReasonOf(err)})
	}
	file := configIn(x.From)
	if len(sources) == 0 && file == "" {
		x.r.add(Finding{Area: Import, Level: Error, Where: x.From, What: "holds neither credentials nor a config of OpenClaw's", Mend: "name its state folder, usually ~/.openclaw"})
		return
	}
	var coming []string
	x.withVault(func(v takeover.Vault) {
		job := takeover.Job{Vault: v, Write: x.Fix, Who: x.Who, Now: x.Now, Named: x.named}
		for _, o := range job.Take(x.ctx, sources) {
			coming = append(coming, o.Taken...)
			x.r.add(x.outcome(o, false)...)
		}
		if file != "" {
			x.convert(v, file, coming)
		}
	})
}

// configIn finds the config of a folder of OpenClaw's, "" for none; the second
// name is that of its forebear.
func configIn(dir string) string {
	for _, name := range []string{"openclaw.json", "clawdbot.json"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

// outcome tells what became of a file of credentials, or would.
func (x *exam) outcome(o takeover.Outcome, own bool) (found []Finding) {
	where := x.short(o.Path)
	if o.Err != nil {
		return []Finding{{Area: Import, Level: Error, Where: where, What: o.Err.Error() + "; nothing of it was taken over"}}
	}
	if own && o.Kind == "" && len(o.Taken) == 0 {
		return nil // a database of OpenClaw's beside ours, which has told us all
	}
	told := func(f Finding) {
		f.Area, f.Where = Import, where
		found = append(found, f)
	}
	moved := ""
	if o.Backup != "" {
		moved = "; the file is now " + filepath.Base(o.Backup)
	}
	switch {
	case len(o.Taken) > 0 && x.Fix:
		told(Finding{Level: Warning, Mended: true, What: joined(o.Taken) + " taken over" + moved})
	case len(o.Taken) > 0:
		told(Finding{Level: Warning, Fixable: true, What: "holds " + joined(o.Taken) + ", which standin does not use yet", Mend: "standin doctor --fix" + x.fromFlag(own) + " takes over"})
	case o.Backup != "":
		told(Finding{Level: Warning, Mended: true, What: "held nothing new" + moved})
	case own && o.Done():
		told(Finding{Level: Warning, Fixable: true, What: "holds nothing that is not stored already", Mend: "standin doctor --fix puts it away"})
	case len(o.Same) > 0 && !own:
		told(Finding{Level: Note, What: joined(o.Same) + " taken over already"})
	}
	if len(o.Kept) > 0 {
		told(Finding{Level: Note, What: joined(o.Kept) + " stored with another secret already, which stays"})
	}
	for _, r := range o.Refused {
		told(Finding{Level: Warning, What: r.Entry + " " + r.Why, Mend: r.Mend})
	}
	if o.Stays != nil {
		told(Finding{Level: Warning, What: "is taken over, but " + o.Stays.Error()})
	}
	for _, id := range o.Logins {
		if !own {
			told(Finding{Level: Warning, What: id + " is a login that renews itself: two programs that do so lock each other out",
				Mend: "stop OpenClaw before standin starts, or log in anew: standin auth login " + fallback.ProfileID(id).Provider()})
		}
	}
	if !own && len(o.Taken) > 0 && o.Saved != "" {
		told(Finding{Level: Note, What: "the store as it was before is " + x.short(o.Saved)})
	}
	return found
}

func (x *exam) fromFlag(own bool) string {
	if own {
		return ""
	}
	return " --import " + x.From
}

// convert makes a config of ours of OpenClaw's.
func (x *exam) convert(v takeover.Vault, file string, coming []string) {
	fail := func(what, mend string) {
		x.r.add(Finding{Area: Import, Level: Error, Where: file, What: what, Mend: mend})
	}
	d, err := openclaw.Read(file)
	if err != nil {
		var at *openclaw.FileError
		what := err.Error()
		if errors.As(err, &at) {
			file, what = at.Path, at.Err.Error()
		}
		fail(what, "mend it there, or take it over by hand: config.example.yaml has the same names")
		return
	}
	keys := store.Incoming{Deed: fallback.Deed{At: x.Now, Who: x.Who, Via: "command line", Detail: "from " + filepath.Base(file)}}
	for _, s := range d.Secrets {
		if s.File == "" {
			coming = append(coming, s.Profile)
			one := store.NewAPIKey(fallback.ProfileID(s.Profile), s.Key.Reveal())
			one.Provider = s.Provider
			keys.Credentials = append(keys.Credentials, one)
		}
	}
	stored, err := v.List(x.ctx, store.MainAgent)
	if err != nil {
		x.trouble(x.Dir, err)
		return
	}
	d.Settle(config.Reader{Getenv: x.Getenv, Base: x.Dir, Stored: func(vendor string) (ids []string) {
		for _, one := range stored {
			ids = append(ids, string(one.ID))
		}
		ids = append(ids, coming...)
		return slices.DeleteFunc(ids, func(id string) bool {
			return !slices.Contains(fallback.CredentialProviders(vendor), fallback.ProfileID(id).Provider())
		})
	}})
	if x.Fix {
		x.keep(v, d, keys, file)
	} else {
		x.r.add(Finding{Area: Import, Level: Warning, Where: file, Fixable: true, What: "can become a config of standin's, with what is told below",
			Mend: "standin doctor --fix --import " + x.From + " writes it and overwrites nothing"})
	}
	for _, n := range d.Notes {
		f := Finding{Area: Import, Level: Note, Where: file, What: n.Path + " " + n.Why, Mend: n.Mend}
		if n.Must {
			f.Level, f.What = Warning, n.Path+" stays as it was and must be mended: "+n.Why
		}
		x.r.add(f)
	}
}

// keep writes what the config becomes: its keys into the store, its tokens into
// files beside it, and itself where no config is. Each part may be there already,
// from an import that was cut short.
func (x *exam) keep(v takeover.Vault, d *openclaw.Draft, keys store.Incoming, file string) {
	taken, err := v.TakeIn(x.ctx, store.MainAgent, keys)
	if err != nil {
		x.trouble(x.Dir, err)
		return
	}
	if len(taken) > 0 {
		var names []string
		for _, id := range taken {
			names = append(names, string(id))
		}
		x.r.add(Finding{Area: Import, Level: Warning, Mended: true, Where: file, What: joined(names) + " taken over, and no part of the config any more"})
	}
	for _, s := range d.Secrets {
		if s.File == "" {
			continue
		}
		state, err := writeOnce(filepath.Join(x.Dir, filepath.FromSlash(s.File)), []byte(s.Key.Reveal()+"\n"))
		switch {
		case err != nil:
			x.r.add(Finding{Area: Import, Level: Error, Where: s.File, What: fmt.Sprintf("cannot be written (%s), so %s is not there", config.ReasonOf(err), s.Path), Mend: "make the state folder writable by this user"})
		case state == differs:
			x.r.add(Finding{Area: Import, Level: Warning, Where: s.File, What: "holds another secret than " + s.Path + ", and stays", Mend: "delete it and run this once more, if the new one is right"})
		case state == written:
			x.r.add(Finding{Area: Import, Level: Warning, Mended: true, Where: s.File, What: "holds " + s.Path + " now; the config refers to it"})
		}
	}
	path := filepath.Join(x.Dir, "config.yaml")
	text := d.YAML()
	state, err := writeOnce(path, text)
	if err == nil && state == differs {
		path += ".new"
		state, err = writeOnce(path, text)
	}
	f := Finding{Area: Import, Level: Warning, Where: x.short(path)}
	switch {
	case err != nil:
		f.Level, f.What, f.Mend = Error, "cannot be written: "+config.ReasonOf(err), "make the state folder writable by this user"
	case state == differs:
		f.Level, f.What, f.Mend = Error, "is there already and says something else; nothing was overwritten", "move it away and run this once more"
	case state == same:
		f.Level, f.What = Note, "says just that already"
	case strings.HasSuffix(path, ".new"):
		f.Mended, f.What = true, "written beside the config that is there, which stays; compare the two and take what you want"
	default:
		f.Mended, f.What = true, "written"
		if x.Config == "" {
			x.Config, x.r.Config = path, path
		}
	}
	x.r.add(f)
}

// What writeOnce found.
type writing int

const (
	written writing = iota
	same            // it was there, with this text
	differs         // it was there, with another
)

// writeOnce writes a file that is not there, for this user's eyes only.
func writeOnce(path string, text []byte) (writing, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return differs, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		had, err := os.ReadFile(path)
		if err == nil && bytes.Equal(had, text) {
			return same, nil
		}
		return differs, err
	}
	if err != nil {
		return differs, err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // half a file would look like somebody's
	}
	return written, err
}

func areOf(ids []string) string {
	if len(ids) == 1 {
		return ids[0] + " is"
	}
	return joined(ids) + " are"
}

func wasOf(ids []string) string {
	if len(ids) == 1 {
		return ids[0] + " was"
	}
	return joined(ids) + " were"
}
