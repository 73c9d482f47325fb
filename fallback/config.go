package fallback

import (
	"time"

	"standin/fallback/provider"
)

// Config is the compiled settings of this room. It is immutable: a turn keeps
// the one it started with, a reload makes a new one [G9].
type Config struct {
	Default      ModelChoice             // agents.defaults.model
	Images       ModelChoice             // agents.defaults.imageModel; zero: none (21.A)
	Agents       map[AgentID]ModelChoice // agents.list[].model; absent: as the default
	DefaultAgent AgentID
	Aliases      map[string]Model // agents.defaults.models.*.alias, lower-cased
	Allowed      []Model          // agents.defaults.models keys; Name "*" is a whole provider; empty: any model
	Order        map[string][]ProfileID
	Profiles     map[ProfileID]ProfileMeta // auth.profiles
	// Named are the credentials that config brings itself: a key by reference, a
	// keyless local server. A stored one with the same id stands before it.
	Named     []Profile
	Providers map[string]provider.Endpoint
	Cooldowns CooldownConfig
	// Facts are what config says of models, and Blind those of which it says that
	// they take no pictures; FactsOf reads both.
	Facts map[Model]provider.Facts
	Blind map[Model]bool
	// Budgets bound what may be spent [D20].
	Budgets       []Cap
	Attempt       provider.Limits // agents.defaults.attempt; Total is unused here
	MaxToolRounds int             // how often a model may ask for tools in one turn (agents.defaults.maxToolRounds); 0: 24
	RunTimeout    time.Duration   // agents.defaults.timeoutSeconds; 0: no limit
	SkipTTL       time.Duration   // STANDIN_FALLBACK_SKIP_TTL_MS after clamping; 0: off [M12]
}

// ModelChoice is a model setting: a plain string, or primary with fallbacks.
type ModelChoice struct {
	Primary   Model
	Fallbacks []Model
	// Listed tells that a fallbacks list was written, even an empty one: an
	// agent without it is strict, [] says strict aloud [M5].
	Listed bool
}

// ProfileMeta is what config may say of a profile: routing, never a secret.
type ProfileMeta struct {
	Provider string
	Mode     CredentialType // expected type; "" accepts any
}

// CooldownConfig is auth.cooldowns [M23, M24, D1]. A value that is not positive
// (for the rotations: negative) is ignored in favour of the default.
type CooldownConfig struct {
	BillingBackoff            time.Duration            // 5 h
	BillingBackoffByProvider  map[string]time.Duration // by normalised provider
	BillingMax                time.Duration            // 24 h, never below the base
	AuthPermanentBackoff      time.Duration            // 10 min
	AuthPermanentMax          time.Duration            // 60 min
	FailureWindow             time.Duration            // 24 h without failure restarts the counters
	OverloadedProfileRotation int                      // 1
	OverloadedBackoff         time.Duration            // 0: no wait [D9]
	RateLimitedRotation       int                      // 1
}

// DefaultCooldowns are the values of an empty auth.cooldowns.
func DefaultCooldowns() CooldownConfig {
	return CooldownConfig{
		BillingBackoff:            5 * time.Hour,
		BillingMax:                24 * time.Hour,
		AuthPermanentBackoff:      10 * time.Minute,
		AuthPermanentMax:          60 * time.Minute,
		FailureWindow:             24 * time.Hour,
		OverloadedProfileRotation: 1,
		RateLimitedRotation:       1,
	}
}
