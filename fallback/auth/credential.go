package auth

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"standin/fallback/provider"
)

// Credential is a login: what a vendor gave, and whose it is.
type Credential struct {
	Provider  string
	Access    provider.Key
	Refresh   provider.Key // zero: the login cannot be renewed
	IDToken   provider.Key // zero: the vendor gave none
	Expires   time.Time    // of the access token; zero: the vendor did not say
	Obtained  time.Time    // when the access token came; zero: unknown
	Email     string       // "": the vendor did not say
	AccountID string       // the vendor's id of the account, sent with calls where it asks for it
	Plan      string       // of the subscription, such as "plus"; for people

	// stored is the object that the credential was read from: what this program
	// does not know is kept (failover.md 21.C.3). A Key, since fmt looks into
	// unexported fields.
	stored provider.Key
}

// ID is the profile id: provider:<email>, or provider:default [M16, 8.9].
func (c Credential) ID() string {
	if c.Email == "" {
		return c.Provider + ":default"
	}
	return c.Provider + ":" + c.Email
}

// The names of the stored fields (failover.md 21.C.3).
const (
	fieldAccess   = "access"
	fieldRefresh  = "refresh"
	fieldIDToken  = "idToken"
	fieldExpires  = "expires"
	fieldObtained = "obtained"
	fieldEmail    = "email"
	fieldAccount  = "accountId"
	fieldPlan     = "plan"
)

// Parse reads a stored login of the provider. Its error never quotes the secret.
func Parse(providerID string, secret provider.Key) (Credential, error) {
	c := Credential{Provider: providerID}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(secret.Reveal()), &fields); err != nil || fields == nil {
		return c, errors.New("the stored login is not the JSON object that it should be")
	}
	c.stored = secret
	text := func(name string) string {
		var s string
		_ = json.Unmarshal(fields[name], &s) // absent or of another type: none
		return s
	}
	moment := func(name string) time.Time {
		var n json.Number
		_ = json.Unmarshal(fields[name], &n)
		ms, err := n.Float64()
		if err != nil || ms <= 0 {
			return time.Time{}
		}
		return time.UnixMilli(int64(ms)).UTC()
	}
	key := func(name string) provider.Key {
		if s := text(name); s != "" {
			return provider.NewKey(s)
		}
		return provider.Key{}
	}
	c.Access, c.Refresh, c.IDToken = key(fieldAccess), key(fieldRefresh), key(fieldIDToken)
	c.Expires, c.Obtained = moment(fieldExpires), moment(fieldObtained)
	c.Email, c.AccountID, c.Plan = text(fieldEmail), text(fieldAccount), text(fieldPlan)
	if c.AccountID == "" { // logins of other programs keep it in the token alone
		_, c.AccountID, _ = accountOf(c.Access)
	}
	return c, nil
}

// Secret is the stored form: a JSON object with access, refresh, expires …
// Times are in Unix milliseconds. Fields that Parse found and did not know are
// in it again.
func (c Credential) Secret() provider.Key {
	var former map[string]json.RawMessage
	_ = json.Unmarshal([]byte(c.stored.Reveal()), &former) // a new login has none
	all := map[string]any{}
	for name, value := range former {
		all[name] = value
	}
	set := func(name string, value any, given bool) {
		if given {
			all[name] = value
		} else {
			delete(all, name)
		}
	}
	set(fieldAccess, c.Access.Reveal(), true)
	set(fieldRefresh, c.Refresh.Reveal(), !c.Refresh.Empty())
	set(fieldIDToken, c.IDToken.Reveal(), !c.IDToken.Empty())
	set(fieldExpires, c.Expires.UnixMilli(), !c.Expires.IsZero())
	set(fieldObtained, c.Obtained.UnixMilli(), !c.Obtained.IsZero())
	set(fieldEmail, c.Email, c.Email != "")
	set(fieldAccount, c.AccountID, c.AccountID != "")
	set(fieldPlan, c.Plan, c.Plan != "")
	text, _ := json.Marshal(all) // strings, numbers and raw JSON that was read as such
	return provider.NewKey(string(text))
}

// String names the login without any secret.
func (c Credential) String() string { return fmt.Sprintf("login %s", c.ID()) }

// claims are the parts of a JSON Web Token that say whose it is. The signature
// is not looked at: the token came over TLS from the vendor itself, and nothing
// is permitted because of what it says.
type claims struct {
	Email   string `json:"email"`
	Expires int64  `json:"exp"`
	Account string `json:"account_id"`
	OpenAI  struct {
		Account string `json:"chatgpt_account_id"`
		Plan    string `json:"chatgpt_plan_type"`
	} `json:"https://api.openai.com/auth"`
	Profile struct {
		Email string `json:"email"`
	} `json:"https://api.openai.com/profile"`
}

// read gives the claims of a token, empty ones when it is no JSON Web Token.
func read(token provider.Key) (c claims) {
	parts := strings.Split(token.Reveal(), ".")
	if len(parts) != 3 {
		return claims{}
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil || json.Unmarshal(raw, &c) != nil {
		return claims{}
	}
	return c
}

// accountOf reads whose a token is.
func accountOf(token provider.Key) (email, account, plan string) {
	c := read(token)
	email, account, plan = c.Email, c.OpenAI.Account, c.OpenAI.Plan
	if email == "" {
		email = c.Profile.Email
	}
	if account == "" {
		account = c.Account
	}
	return usableEmail(email), account, plan
}

// usableEmail is an address as it can stand in a profile id, "" for none.
func usableEmail(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if !strings.Contains(s, "@") || strings.ContainsAny(s, ":/ \t\r\n") {
		return ""
	}
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7e {
			return ""
		}
	}
	return s
}
