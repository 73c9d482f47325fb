package discord

import (
	"net/http"
	"testing"
	"time"
)

// What limits remember is bounded by the kinds of calls: no id and no token is
// part of a route's form, or each interaction would be kept for ever [D14].
func TestRoutesHaveOneFormEach(t *testing.T) {
	for path, want := range map[string]route{
		"channels/10/messages/20":                   {"GET channels/:id/messages/:id", "10"},
		"channels/10/messages/20/reactions/%F0/@me": {"GET channels/:id/messages/:id/reactions/:emoji/@me", "10"},
		"interactions/30/tok-a/callback":            {"GET interactions/:id/:token/callback", "30/tok-a"},
		"webhooks/40/tok-b/messages/@original":      {"GET webhooks/:id/:token/messages/@original", "40/tok-b"},
		"users/@me/channels":                        {"GET users/@me/channels", ""},
	} {
		if got := routeOf("GET", path); got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
	l := newLimits(time.Now)
	for _, token := range []string{"a", "b", "c"} {
		l.learn(routeOf("POST", "interactions/1/"+token+"/callback"), http.StatusNoContent, http.Header{"X-Ratelimit-Bucket": {"hash"}}, nil)
	}
	if len(l.shared) != 1 {
		t.Errorf("three interactions are remembered as %v", l.shared)
	}
}
