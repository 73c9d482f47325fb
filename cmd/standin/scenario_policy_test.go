package main

import (
	"context"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"standin/fallback"
)

// policyCommands are what scripts need to look at a session's row as a whole:
//
//	before                    remembers the stored selection
//	as-before                 it is that again, in each of its fields
//	left MODEL [ORIGIN]       an automatic selection is found in the store, as another
//	                          version or another program left it; without ORIGIN it has none
//	misdated PROFILE DURATION  a window of the credential is found in the store that ends
//	                          so far ahead, as a clock that was wrong has left it
func policyCommands() map[string]func(*house, *testscript.TestScript, []string) {
	return map[string]func(*house, *testscript.TestScript, []string){
		"before": func(h *house, ts *testscript.TestScript, _ []string) { h.before = h.selection(ts) },
		"as-before": func(h *house, ts *testscript.TestScript, _ []string) {
			now := h.selection(ts)
			now.Since = h.before.Since // for people; never compared
			if now != h.before {
				ts.Fatalf("the row is %+v\nit was %+v", now, h.before)
			}
		},
		"misdated": func(h *house, ts *testscript.TestScript, args []string) {
			ahead, err := time.ParseDuration(args[1])
			ts.Check(err)
			until := time.Now().Add(ahead)
			_, _, err = h.app.DB.Credentials(h.app.Config().Profiles).Update(context.Background(), "main", fallback.ProfileID(args[0]), func(u fallback.Usage) fallback.Usage {
				u.Whole = fallback.Cooldown{Window: fallback.Window{Until: until, Reason: fallback.RateLimit}, Errors: 1, Last: until.Add(-time.Minute)}
				return u
			})
			ts.Check(err)
		},
		"left": func(h *house, ts *testscript.TestScript, args []string) {
			left := fallback.Selection{Source: fallback.Auto}
			left.Model, _ = fallback.ParseRef(args[0])
			if len(args) > 1 {
				left.Origin, _ = fallback.ParseRef(args[1])
			}
			ok, err := h.app.DB.Swap(context.Background(), mainSession, h.selection(ts), left)
			ts.Check(err)
			if !ok {
				ts.Fatalf("somebody else has changed the row meanwhile")
			}
		},
	}
}

func (h *house) selection(ts *testscript.TestScript) fallback.Selection {
	row, err := h.app.DB.Selection(context.Background(), mainSession)
	ts.Check(err)
	return row
}
