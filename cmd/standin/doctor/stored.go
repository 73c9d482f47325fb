package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"standin/fallback"
	"standin/store"
)

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
