package fallback_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"standin/fallback"
	"standin/fallback/provider"
	"standin/store"
)

// moody are vendors that do something else with each call.
type moody struct {
	t     *rapid.T
	calls map[string]int // by model
	order []string
}

// moods are the ways in which calls end.
var moods = map[string]error{
	"answers": nil, "empty": nil,
	"401": &provider.Error{Status: 401, Message: "invalid api key"}, "402": &provider.Error{Status: 402},
	"404": &provider.Error{Status: 404, Message: "model not found"}, "400": &provider.Error{Status: 400, Message: "bad request"},
	"418": &provider.Error{Status: 418, Message: "teapot"}, "429": &provider.Error{Status: 429, RetryAfter: time.Hour},
	"503": &provider.Error{Status: 503}, "529": &provider.Error{Status: 529},
	"refused": &provider.Error{Transport: provider.Refused}, "silent": &provider.Error{Transport: provider.FirstTokenTimeout},
	"half": &provider.Error{Transport: provider.IdleTimeout, Streamed: true},
	"long": &provider.Error{Status: 400, Code: "context_length_exceeded", Message: "prompt is too long"},
	"no":   &provider.Error{Status: 400, Code: "content_filter", Message: "The prompt was flagged"},
	"odd":  errors.New("something nobody has seen"),
}

// Call implements provider.Caller.
func (v *moody) Call(_ context.Context, c provider.Call) (*provider.Reply, error) {
	name := c.Endpoint.Provider + "/" + c.Model
	v.calls[name]++
	v.order = append(v.order, name)
	mood := rapid.SampledFrom(slices.Sorted(maps.Keys(moods))).Draw(v.t, name)
	if err := moods[mood]; err != nil {
		return nil, err
	}
	if mood == "empty" {
		return &provider.Reply{Finish: "stop"}, nil
	}
	return &provider.Reply{Text: "hello", Finish: "stop"}, nil
}

type nowhere struct{}

func (nowhere) Record(context.Context, fallback.Step) {}

// Any combination of failures ends in an answer or in a summary with one entry
// for each candidate that was come to, within as many calls as there are
// credentials, and leaves a session whose fallback failed as it was
// [M2, M28, I5, IL-240, IL-250, IL-275].
func TestEveryWalkEnds(t *testing.T) {
	db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Throwaway: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		cfg := &fallback.Config{Cooldowns: fallback.DefaultCooldowns(), Providers: map[string]provider.Endpoint{}}
		keys := map[string]int{}
		var profiles []fallback.Profile
		for _, name := range []string{"a", "b", "c"} {
			// Each round has providers of its own: windows of the last one are gone.
			p := fmt.Sprintf("%s%d", name, round)
			cfg.Providers[p] = provider.Endpoint{Provider: p}
			keys[p] = rapid.IntRange(0, 3).Draw(rt, "credentials of "+name)
			for i := range keys[p] {
				profiles = append(profiles, fallback.Profile{ID: fallback.ProfileID(fmt.Sprintf("%s:%d", p, i)),
					Provider: p, Type: fallback.APIKey, Key: provider.NewKey("k")})
			}
		}
		var chain []fallback.Model
		for i := range rapid.IntRange(1, 8).Draw(rt, "candidates") {
			p := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "provider")
			chain = append(chain, fallback.Model{Provider: fmt.Sprintf("%s%d", p, round), Name: fmt.Sprint("m", i)})
		}
		cfg.Default = fallback.ModelChoice{Primary: chain[0], Fallbacks: chain[1:], Listed: true}

		v := &moody{t: rt, calls: map[string]int{}}
		r := &fallback.Runner{Selections: db, Credentials: db.Credentials(profiles), Vendors: v, Journal: nowhere{},
			Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: time.Now,
			Sleep: func(context.Context, time.Duration) error { return nil }}
		session := fallback.SessionID(fmt.Sprint("s", round))
		out, err := r.Run(t.Context(), fallback.Ask{Session: session, Agent: "main", Kind: fallback.Chat, Config: cfg})

		for _, m := range chain {
			bound := keys[m.Provider]
			if len(chain) == 1 {
				bound++ // the one repetition [D9]
			}
			if n := v.calls[m.String()]; n > bound {
				rt.Fatalf("%s was asked %d times with %d credentials: %v", m, n, keys[m.Provider], v.order)
			}
		}
		var summary *fallback.SummaryError
		var attempts []fallback.Attempt
		switch {
		case err == nil:
			attempts = out.Attempts
		case errors.As(err, &summary):
			attempts = summary.Attempts
		default:
			rt.Fatalf("neither an answer nor a summary: %v", err)
		}
		at := 0
		for _, a := range attempts { // in the order of the chain, none left out
			if a.Position != at && a.Position != at+1 || a.Model != chain[a.Position-1] {
				rt.Fatalf("candidate %d of %v has no entry: %+v", at+1, chain, attempts)
			}
			at = a.Position
		}
		// The next one answered, or another credential of the one that failed last.
		if err == nil && !slices.Contains(chain[max(at-1, 0):min(at+1, len(chain))], out.Used) {
			rt.Fatalf("%s answered after %d of %v", out.Used, at, chain)
		}
		row, e := db.Selection(t.Context(), session)
		if e != nil {
			rt.Fatal(e)
		}
		if err != nil && !row.Model.IsZero() {
			rt.Fatalf("all failed and the session is left on %s", row.Model)
		}
		if err == nil && out.Used != chain[0] && row.Model != out.Used {
			rt.Fatalf("%s answers and the session is on %q", out.Used, row.Model)
		}
	})
}
