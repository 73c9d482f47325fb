package takeover

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"standin/fallback"
	"standin/fallback/auth/legacy"
	"standin/store"
)

// Lost lists the backups that hold credentials which are stored no more, though
// nobody has removed them: the import that made the backup is not done [IL-236].
// The outcome's Taken has the ids that are missing.
func (j Job) Lost(ctx context.Context, dir string) ([]Outcome, error) {
	sources, err := archives(dir)
	if err != nil {
		return nil, err
	}
	var lost []Outcome
	for _, s := range sources {
		missing, err := j.missing(ctx, s)
		if err != nil {
			lost = append(lost, Outcome{Source: s, Err: err})
			continue
		}
		if len(missing.Credentials) == 0 {
			continue
		}
		o := Outcome{Source: s}
		for _, one := range missing.Credentials {
			o.Taken = append(o.Taken, string(one.ID))
		}
		if j.Write {
			o.Err = j.bring(ctx, s.Agent, missing, nil)
		}
		lost = append(lost, o)
	}
	return lost, nil
}

// missing gives what a backup holds and the store does not, without what a
// person removed since.
func (j Job) missing(ctx context.Context, s Source) (in store.Incoming, err error) {
	text, err := s.read(false)
	if err != nil {
		return in, err
	}
	c, err := legacy.Read(s.Kind, text)
	if err != nil {
		return in, nil // a backup that nobody can read says nothing of the store
	}
	stored, err := j.stored(ctx, s.Agent)
	if err != nil {
		return in, err
	}
	in.Deed = fallback.Deed{At: j.Now, Who: j.Who, Via: "command line", Detail: "once more, from its backup"}
	for _, one := range c.Credentials {
		id := fallback.ProfileID(one.ID)
		if _, has := stored[id]; has {
			continue
		}
		deeds, err := j.Vault.Deeds(ctx, s.Agent, store.DeedFilter{Profile: id, Limit: 1000})
		if err != nil {
			return in, err
		}
		if slices.ContainsFunc(deeds, func(d fallback.Deed) bool { return d.What == fallback.DeedRemove }) {
			continue
		}
		in.Credentials = append(in.Credentials, store.Credential{ID: id, Provider: one.Provider, Type: fallback.CredentialType(one.Type), Secret: one.Secret})
	}
	return in, nil
}

// FirstUse takes credentials/oauth.json in when a daemon starts on a folder that
// has one [M15], and tells the log of each older file that holds what the store
// does not [IL-011]. It gives those, and never keeps a daemon from starting.
func FirstUse(ctx context.Context, dir string, v Vault, log *slog.Logger, now time.Time) (waiting []Source) {
	sources, err := Find(dir)
	if err != nil {
		log.Warn("older credential files were not looked for", "dir", dir, "err", err)
	}
	var logins, others []Source
	for _, s := range sources {
		if s.Kind == legacy.OAuth {
			logins = append(logins, s)
		} else {
			others = append(others, s)
		}
	}
	job := Job{Vault: v, Own: true, Who: "standin", Now: now}
	for _, o := range job.Take(ctx, others) { // only to look: main's own files go before oauth.json
		if !o.Done() || len(o.Taken) > 0 {
			log.Warn("an older file of credentials is not used: standin doctor --fix takes it over", "file", o.Path)
			waiting = append(waiting, o.Source)
		}
	}
	job.Write = true
	for _, o := range job.Take(ctx, logins) {
		if len(o.Taken) > 0 && o.Err == nil {
			log.Info("logins of an older file taken over", "file", o.Path, "profiles", o.Taken, "backup", o.Backup)
		}
		if !o.Done() {
			log.Warn("an older file of logins is not used, or not put away: standin doctor says why", "file", o.Path)
			waiting = append(waiting, o.Source)
		}
	}
	return waiting
}
