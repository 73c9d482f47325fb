package fallback

import (
	"slices"
	"time"
)

// Operator is the reason of a credential that its operator has switched off. No
// vendor says so and no failure brings it about: it is the word of skips,
// attempts and lines, and of the causes of ineligibility.
const Operator Reason = "operator"

// SkipOperator is the cause of a skip: every credential that could have served
// is switched off.
const SkipOperator SkipWhy = "operator"

// Switched is the state after its operator has switched the profile off or on
// at now. Off outlasts successes, failures and the end of every window: only
// the operator ends it. Windows and counts stay as they are, since the vendor's
// reasons for them do.
func (u Usage) Switched(off bool, now time.Time) Usage {
	switch {
	case !off:
		u.SwitchedOff = time.Time{}
	case u.SwitchedOff.IsZero():
		u.SwitchedOff = now
	}
	return u
}

// Clear is the state after its operator has ended all windows at now: counts,
// scopes and reasons are gone with them, so that the next failure starts at the
// first step [IL-094]. When it was last used is history and stays, and so does
// the operator's other word, the switch.
func (u Usage) Clear(now time.Time) Usage {
	return Usage{LastUsed: u.LastUsed, SwitchedOff: u.SwitchedOff, Cleared: now}
}

// outdated tells whether a failure speaks of the time before the operator
// cleared the state: its call had begun by then, so what it says is what was
// mended since, such as a bill that is paid.
func (u Usage) outdated(f Failed) bool { return !f.Asked.IsZero() && f.Asked.Before(u.Cleared) }

// off are the profiles that could serve a provider and are switched off.
func off(providerID string, profiles []Profile, usage map[ProfileID]Usage) (ids []ProfileID) {
	for _, p := range profiles {
		if authProvider(p.Provider) == authProvider(providerID) && !usage[p.ID].SwitchedOff.IsZero() {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// switchedOff is the verdict about a candidate that only credentials which are
// switched off could have served; ok is false when others could, or none at all.
func (s Standing) switchedOff() (v Verdict, ok bool) {
	v = Verdict{Do: Skip, Why: SkipOperator, Reason: Operator}
	switch {
	case s.Pin.ByPerson() && slices.Contains(s.Off, s.Pin.Profile):
		v.Profile = s.Pin.Profile
	case !s.Pin.ByPerson() && len(s.Order) == 0 && len(s.Off) > 0:
		v.Profile = s.Off[0]
	default:
		return Verdict{}, false
	}
	v.Detail = "the credential " + string(v.Profile) + " is switched off by hand"
	if n := len(s.Off); n > 1 && !s.Pin.ByPerson() {
		v.Detail = "all credentials of " + s.Model.Provider + " are switched off by hand"
	}
	return v, true
}

// EnableCommand is the command that switches a profile on again, "" for an id
// that nobody should paste into a shell.
func EnableCommand(p ProfileID) string {
	if !pastable.MatchString(string(p)) {
		return ""
	}
	return "standin auth enable " + string(p)
}

// Deed is what somebody did to the credentials by hand, as it is kept for those
// who ask later. The JSON names are stable.
type Deed struct {
	At       time.Time `json:"at"`
	Profile  ProfileID `json:"profile,omitempty"` // "" for what concerns a provider, or all
	Provider string    `json:"provider,omitempty"`
	What     DeedKind  `json:"what"`
	Who      string    `json:"who,omitempty"` // a name for people; "" when nobody is named
	Via      string    `json:"via,omitempty"` // "command line", or the surface of a chat
	Detail   string    `json:"detail,omitempty"`
}

// DeedKind names what was done.
type DeedKind string

// The deeds.
const (
	DeedAdd        DeedKind = "add"
	DeedReplace    DeedKind = "replace"
	DeedLogin      DeedKind = "login"
	DeedImport     DeedKind = "import" // taken over from an older file
	DeedRemove     DeedKind = "remove"
	DeedClear      DeedKind = "clear"
	DeedDisable    DeedKind = "disable"
	DeedEnable     DeedKind = "enable"
	DeedOrder      DeedKind = "order"
	DeedClearOrder DeedKind = "clear_order"
	DeedProbe      DeedKind = "probe"
	DeedSeal       DeedKind = "seal"
	DeedUnseal     DeedKind = "unseal"
)

// Pinned is a session that keeps to a credential.
type Pinned struct {
	Session  SessionID `json:"session"`
	ByPerson bool      `json:"chosen"` // somebody chose it: it is not changed for another [D3]
}
