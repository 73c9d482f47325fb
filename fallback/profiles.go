package fallback

import (
	"time"

	"standin/fallback/provider"
)

// CredentialType is the kind of a stored credential [M16].
type CredentialType string

// The credential types, in the order in which rotation prefers them.
const (
	OAuth  CredentialType = "oauth"
	Token  CredentialType = "token"
	APIKey CredentialType = "api_key"
)

// Profile is a credential as rotation sees it.
type Profile struct {
	ID       ProfileID
	Provider string // normalised
	Type     CredentialType
	Key      provider.Key // api key or access token
	Expires  time.Time    // of a token or access token; zero: never
	Refresh  bool         // an OAuth credential that can renew itself
	Account  string       // e-mail or account id, for people
	// Keyless marks the stand-in profile of a local server that wants no key.
	Keyless bool
}
