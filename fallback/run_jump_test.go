package fallback_test

import (
	"errors"
	"slices"
	"testing"

	"standin/fallback"
	"standin/fallback/provider"
)

// "A live switch that points at a later candidate jumps straight to it" [M30].
// What is jumped to is the user's exact choice, with their credential: nothing
// follows it, the row stays theirs, and what was passed over is told [I4, I10].
func TestAJumpIsStrict(t *testing.T) {
	for _, fails := range []bool{false, true} {
		a := ask()
		a.Config.Default.Fallbacks = []fallback.Model{model("anthropic/claude-opus-4-6"), model("groq/b"), model("anthropic/other")}
		theirs := fallback.Selection{Model: model("groq/b"), Source: fallback.ByUser,
			Pin: fallback.Pin{Profile: "groq:mine", Source: fallback.ByUser, Compactions: -1}}
		var d *desk
		d = newDesk(t, func(m string) error {
			switch {
			case m == "openai/gpt-5.5":
				chosen := theirs
				chosen.Pending = true
				if ok, err := d.db.Swap(t.Context(), a.Session, fallback.Selection{}, chosen); !ok || err != nil {
					t.Error(ok, err)
				}
				return &provider.Error{Status: 503}
			case m == "groq/b" && fails:
				return &provider.Error{Status: 503}
			}
			return nil
		})
		var keys []fallback.Profile
		for _, id := range []fallback.ProfileID{"openai:default", "anthropic:default", "groq:default", "groq:mine"} {
			keys = append(keys, fallback.Profile{ID: id, Provider: id.Provider(), Type: fallback.APIKey, Key: provider.NewKey("k")})
		}
		d.Credentials = d.db.Credentials(keys)
		h := &hears{}
		d.Journal = h
		out, err := d.Run(t.Context(), a)
		var summary *fallback.SummaryError
		switch {
		case fails && (!errors.As(err, &summary) || !summary.Plan.Strict || summary.Plan.Why != fallback.FromUser):
			t.Errorf("%+v, %v", out, err)
		case !fails && (err != nil || out.Profile != "groq:mine"):
			t.Errorf("%+v, %v", out, err)
		}
		if want := []string{"openai/gpt-5.5", "groq/b"}; !slices.Equal(d.asked, want) {
			t.Errorf("asked %v, want %v", d.asked, want)
		}
		if row := d.row(t, a.Session); row != theirs {
			t.Errorf("the row became %+v", row)
		}
		if !slices.ContainsFunc(h.steps, func(s fallback.Step) bool {
			return s.What == fallback.StepSkip && s.Attempt.Skipped == fallback.SkipJumped && s.Attempt.Model == model("anthropic/claude-opus-4-6")
		}) {
			t.Error("nobody is told of the candidate that was passed over")
		}
	}
}

// A job goes down its own list, whatever its session's user chose meanwhile, and
// leaves the choice to the next message [M10, M30].
func TestAJobsFallbackDoesNotFollowALiveSwitch(t *testing.T) {
	d := newDesk(t, only("openai/gpt-5.5", &provider.Error{Status: 400, Message: "bad request"}))
	a := ask()
	a.Kind, a.Model = fallback.Cron, model("openai/gpt-5.5")
	theirs := fallback.Selection{Model: model("groq/b"), Source: fallback.ByUser, Pending: true}
	d.put(t, a.Session, theirs)
	out, err := d.Run(t.Context(), a)
	if err != nil || out.Used != model("anthropic/claude-opus-4-6") || d.row(t, a.Session) != theirs {
		t.Errorf("%+v, %v, the row is %+v", out, err, d.row(t, a.Session))
	}
}
