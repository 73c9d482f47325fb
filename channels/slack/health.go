package slack

import (
	"errors"
	"fmt"
	"sync"
	"time"

	slackapi "github.com/slack-go/slack"

	"standin/channels"
)

// Fatal ends Run: Slack refuses the credential, and trying again will not help.
// Other channels go on.
type Fatal struct {
	Code string // Slack's error code, such as invalid_auth
	Mend string // what to do
}

func (f *Fatal) Error() string { return fmt.Sprintf("slack: %s: %s", f.Code, f.Mend) }

// mends says for each error code that no retry helps against what to do [SL3].
var mends = map[string]string{
	"invalid_auth":           "the token is not one of Slack's; copy it again from the app's settings",
	"not_authed":             "no token was sent; set channels.slack.botToken and appToken",
	"account_inactive":       "the bot's account was removed; install the app into the workspace again",
	"token_revoked":          "the token was revoked; install the app again and copy the new token",
	"token_expired":          "the token has expired; issue a new one in the app's settings",
	"user_removed_from_team": "the bot was removed from the workspace; install the app again",
	"team_disabled":          "the workspace is disabled; ask its owner",
	"missing_scope":          "the app lacks a scope; apply the manifest again and reinstall it",
	"no_permission":          "the app may not do this; apply the manifest again and reinstall it",
	"not_allowed_token_type": "this is the wrong kind of token; botToken begins with xoxb-, appToken with xapp-",
	"org_login_required":     "the workspace moved into an organization; install the app again",
	"ekm_access_denied":      "the workspace's administrators suspended access; ask them",
	"access_denied":          "the app may not use this workspace; ask its administrators",
	"app_not_installed":      "install the app into the workspace",
}

var _ channels.Reporter = (*Channel)(nil)

// codeOf gives the error code of an answer of Slack's, "" for other errors.
func codeOf(err error) string {
	var se slackapi.SlackErrorResponse
	if errors.As(err, &se) {
		return se.Err
	}
	return ""
}

// asFatal tells whether err is one that no retry helps against.
func asFatal(err error) *Fatal {
	code := codeOf(err)
	if mend, ok := mends[code]; ok {
		return &Fatal{Code: code, Mend: mend}
	}
	return nil
}

// vitals keeps the health of the connection. Ready is only what has had Slack's
// hello; Down is for good: Run has returned then.
type vitals struct {
	mu        sync.Mutex
	now       func() time.Time
	h         channels.Health
	lastFrame time.Time // last sign of life of the socket, zero in http mode
}

func (v *vitals) read() channels.Health {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.h
}

// enter changes the state and reports whether it did.
func (v *vitals) enter(s channels.ConnectionState, reason, mend string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	changed := v.h.State != s
	if changed {
		v.h.State, v.h.Since = s, v.now()
	}
	v.h.Reason, v.h.Mend = reason, mend
	if s == channels.Ready || s == channels.Down {
		v.h.Attempt = 0
	}
	return changed
}

// event notes that the platform said something.
func (v *vitals) event() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.h.LastEvent = v.now()
}

// frame notes a sign of life of the socket.
func (v *vitals) frame() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.lastFrame = v.now()
}

// trying says that another connection is being made.
func (v *vitals) trying() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.h.Attempt++
}

// silence is how long the socket has given no sign of life.
func (v *vitals) silence() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now().Sub(v.lastFrame)
}
