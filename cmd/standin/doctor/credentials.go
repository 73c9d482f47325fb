package doctor

import (
	"fmt"
	"slices"
	"time"

	"standin/cmd/standin/config"
	"standin/fallback"
)

// Stored is a stored credential with its routing state.
type Stored struct {
	Agent   fallback.AgentID
	Profile fallback.Profile
	Usage   fallback.Usage
}

func (s Stored) where() string {
	if s.Agent == "main" {
		return string(s.Profile.ID)
	}
	return fmt.Sprintf("%s of agent %s", s.Profile.ID, s.Agent)
}

// soon is how long before its end a token is told of.
const soon = 7 * 24 * time.Hour

// Logins finds tokens and logins that are over, or soon will be. A login that
// renews itself is fine whatever its access token's end [8.6].
func Logins(all []Stored, now time.Time) (found []Finding) {
	for _, s := range all {
		p := s.Profile
		f := Finding{Area: Credentials, Where: s.where(), Mend: "store a new one: " + fallback.MendCommand(p.Provider)}
		if p.Type == fallback.OAuth {
			f.Mend = "log in again: standin auth login " + p.Provider
		}
		switch {
		case p.Keyless, p.Type == fallback.OAuth && p.Refresh:
			continue
		case p.Key.Empty():
			f.Level, f.What = Error, "holds no "+map[fallback.CredentialType]string{fallback.OAuth: "login", fallback.Token: "token", fallback.APIKey: "key"}[p.Type]
		case p.Expires.IsZero():
			continue
		case !now.Before(p.Expires):
			f.Level, f.What = Error, fmt.Sprintf("ended on %s and does not renew itself", p.Expires.Local().Format("2 January at 15:04"))
		case p.Expires.Before(now.Add(soon)):
			f.Level, f.What = Warning, fmt.Sprintf("ends in %s and does not renew itself", span(p.Expires.Sub(now)))
		default:
			continue
		}
		found = append(found, f)
	}
	return found
}

// Windows finds the profiles that must not be used at present, and why.
func Windows(all []Stored, now time.Time) (found []Finding) {
	for _, s := range all {
		if !s.Usage.SwitchedOff.IsZero() {
			f := Finding{Area: Credentials, Level: Note, Where: s.where(), What: "is switched off by hand"}
			if cmd := fallback.EnableCommand(s.Profile.ID); cmd != "" {
				f.Mend = "to use it again: " + cmd
			}
			found = append(found, f)
			continue
		}
		w, blocked := s.Usage.Blocking("", now)
		if !blocked || fallback.Bypasses(s.Profile.Provider) {
			continue
		}
		f := Finding{Area: Credentials, Level: Note, Where: s.where(),
			What: fmt.Sprintf("rests for another %s, until %s (%s)", span(w.Until.Sub(now)), w.Until.Local().Format("15:04"), w.Reason)}
		if _, whole := s.Usage.Whole.Until, s.Usage.Whole.Active(now) || s.Usage.Disabled.Active(now) || s.Usage.Blocked.Active(now); !whole {
			f.What += "; only for " + scopes(s.Usage, now)
		}
		switch w.Reason {
		case fallback.AuthPermanent:
			f.Level, f.Mend = Error, "the vendor refuses it: "+fallback.MendCommand(s.Profile.Provider)
			if s.Profile.Type == fallback.OAuth {
				f.Mend = "the vendor refuses it: standin auth login " + s.Profile.Provider
			}
		case fallback.AuthFailed:
			f.Level, f.Mend = Warning, "the vendor refused it; look at the key if that happens again"
		case fallback.Billing:
			f.Level, f.Mend = Warning, "look at the vendor's billing page, then: standin auth clear "+string(s.Profile.ID)
		}
		found = append(found, f)
	}
	return found
}

func scopes(u fallback.Usage, now time.Time) string {
	var names []string
	for model, c := range u.Scopes {
		if c.Active(now) {
			names = append(names, model)
		}
	}
	slices.Sort(names)
	return joined(names)
}

// Bare finds the models of the agents' chains for which there is no credential.
// with gives the usable names of a provider's credentials, or what to do.
func Bare(plans []config.AgentPlan, with func(provider string) (names []string, mend string)) (found []Finding) {
	told := map[string]bool{}
	for _, plan := range plans {
		for i, m := range plan.Chain {
			names, mend := with(m.Provider)
			if len(names) > 0 || told[m.Provider] {
				continue
			}
			told[m.Provider] = true
			f := Finding{Area: Credentials, Level: Warning, Where: m.Provider, Mend: mend,
				What: fmt.Sprintf("has no credential, so %s cannot stand in for agent %s", m, plan.ID)}
			if i == 0 {
				f.Level, f.What = Error, fmt.Sprintf("has no credential, so %s, the first model of agent %s, cannot be asked", m, plan.ID)
			}
			found = append(found, f)
		}
	}
	return found
}

// span is a duration as people say it.
func span(d time.Duration) string {
	d = d.Round(time.Minute)
	days, hours, minutes := int(d.Hours())/24, int(d.Hours())%24, int(d.Minutes())%60
	switch {
	case d < time.Minute:
		return "less than a minute"
	case days > 1:
		return fmt.Sprintf("%d days", days)
	case days == 1:
		return fmt.Sprintf("1 day %d h", hours)
	case hours > 0:
		return fmt.Sprintf("%d h %d min", hours, minutes)
	}
	return fmt.Sprintf("%d min", minutes)
}

func joined(names []string) string {
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return names[0]
	default:
		s := names[0]
		for _, name := range names[1 : n-1] {
			s += ", " + name
		}
		return s + " and " + names[n-1]
	}
}
