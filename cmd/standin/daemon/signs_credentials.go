package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"standin/bot/incidents"
	"standin/fallback"
	"standin/store"
)

// expiresSoon is how long before its end a token is told of: long enough for a
// weekend.
const expiresSoon = 72 * time.Hour

// credentialSigns tells of credentials that do not come back by waiting: refused,
// out of money, expired.
func (a *App) credentialSigns(ctx context.Context, now time.Time) (list []incidents.Sign, err error) {
	keys := keyring{liveCredentials{a}}
	agents := a.current.Load().Bot.Agents
	seen := map[string]bool{}
	for id := range agents {
		providers, err := keys.Providers(ctx, id)
		if err != nil {
			return nil, err
		}
		slices.Sort(providers)
		for _, p := range slices.Compact(providers) {
			profiles, err := keys.Profiles(ctx, id, p)
			if err != nil {
				return nil, err
			}
			usage, err := keys.Usage(ctx, id, p)
			if err != nil {
				return nil, err
			}
			for _, one := range profiles {
				s, bad := credentialSign(one, usage[one.ID], now)
				if whose := ownerOf(one, id); whose != "" {
					s.Subject += " of agent " + whose
				}
				if bad && !seen[s.Subject] {
					seen[s.Subject] = true
					list = append(list, s)
				}
			}
		}
	}
	return list, nil
}

// ownerOf is the agent in whose store a credential lies, if that is not the main
// one's, which all share; "" for those of the config.
func ownerOf(p fallback.Profile, asked fallback.AgentID) string {
	owner := ""
	switch from, inherited := strings.CutPrefix(p.Origin, "agent "); {
	case inherited:
		owner = from
	case p.Origin == "":
		owner = string(asked)
	}
	if owner == string(store.MainAgent) {
		return ""
	}
	return owner
}

// credentialSign looks at one credential. A failure counts until the credential
// answers, is given anew or is cleared; that its window ends says nothing [D2].
func credentialSign(p fallback.Profile, u fallback.Usage, now time.Time) (s incidents.Sign, bad bool) {
	if p.Keyless || !u.SwitchedOff.IsZero() || fallback.Bypasses(p.Provider) {
		return s, false
	}
	id := string(p.ID)
	s = incidents.Sign{Subject: id, Meanwhile: "It is passed over; other credentials and models are asked in its place."}
	if u.Disabled.Active(now) {
		s.Meanwhile = fmt.Sprintf("It is passed over until %s; other credentials and models are asked in its place.", incidents.Clock(u.Disabled.Until, now))
	}
	renew := fmt.Sprintf("standin auth add %s takes a new key, standin auth probe %s tries it.", p.Provider, id)
	switch {
	case p.Type == fallback.OAuth:
		renew = fmt.Sprintf("standin auth login %s makes the login anew.", p.Provider)
	case p.Origin != "" && !strings.HasPrefix(p.Origin, "agent "):
		renew = fmt.Sprintf("Give it a new key where it comes from (%s), then standin auth probe %s tries it.", p.Origin, id)
	}
	switch gone := !p.Expires.IsZero() && !p.Refresh; {
	case p.Type == fallback.OAuth && u.Failures[fallback.AuthFailed]+u.Failures[fallback.AuthPermanent] > 0:
		s.Kind, s.Title, s.Was, s.Mend = incidents.Login, "login "+id+" is refused", "login "+id+" was refused", renew
	case u.Failures[fallback.AuthPermanent] > 0:
		s.Kind, s.Title, s.Was, s.Mend = incidents.Auth, "credential "+id+" is refused for good", "credential "+id+" was refused", renew
	case u.Failures[fallback.AuthFailed] > 0: // whatever the vendor calls it, a person has to mend it
		s.Kind, s.Title, s.Was, s.Mend = incidents.Auth, "credential "+id+" is refused", "credential "+id+" was refused", renew
	case gone && !now.Before(p.Expires):
		s.Kind, s.Stage, s.Mend = incidents.Login, 2, renew
		s.Title, s.Was = fmt.Sprintf("credential %s expired at %s", id, incidents.Clock(p.Expires, now)), "credential "+id+" was expired"
	case u.Failures[fallback.Billing] > 0:
		s.Kind, s.Title, s.Was = incidents.Billing, "the account of credential "+id+" has no money left", "the account of credential "+id+" had no money"
		s.Mend = fmt.Sprintf("Look at %s's billing page, then standin auth clear %s has it used at once.", p.Provider, id)
	case gone && p.Expires.Sub(now) <= expiresSoon:
		s.Kind, s.Stage, s.Quiet, s.Mend = incidents.Login, 1, true, renew
		s.Title, s.Was = fmt.Sprintf("credential %s expires at %s", id, incidents.Clock(p.Expires, now)), "credential "+id+" was about to expire"
		s.Meanwhile = "It works until then."
	default:
		return s, false
	}
	return s, true
}
