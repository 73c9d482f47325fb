package fallback

// What a class brings about, for people and for `standin classify`. The rules
// themselves are Failed's, so that what is printed is what is done.

// Windows and scopes by name.
const (
	WindowNone          = "none"
	WindowCooldown      = "cooldown"       // the ladder of 1, 5, 25 and 60 minutes
	WindowBilling       = "billing"        // hours
	WindowAuthPermanent = "auth_permanent" // minutes up to an hour

	ScopeNone    = "none"
	ScopeModel   = "model"   // the profile for this one model [M22, D2]
	ScopeProfile = "profile" // the profile for all models
)

// Rotates tells whether, with limits as they come and fallbacks configured, the
// candidate's next profile is tried after a first failure of this class.
func (c Class) Rotates() bool {
	f := Failed{Reason: c.Reason, Transport: c.Transport}
	return !c.Refusal && f.MayRotate(nil, DefaultCooldowns(), true, Pin{})
}

// Penalty names the window that a failure of this class opens for the profile
// it was called with, and for how much of it [D2, D13a].
func (c Class) Penalty(s Signal) (window, scope string) {
	f := Failed{Provider: s.Provider, Model: s.Model, Reason: c.Reason, Status: s.Status, Transport: c.Transport}
	switch {
	case c.Refusal || Bypasses(s.Provider) || !f.Penalises():
		return WindowNone, ScopeNone
	case c.Reason == Billing:
		return WindowBilling, ScopeProfile
	case c.Reason == AuthPermanent:
		return WindowAuthPermanent, ScopeProfile
	case f.scoped():
		return WindowCooldown, ScopeModel
	}
	return WindowCooldown, ScopeProfile
}
