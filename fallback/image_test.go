package fallback_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
)

// The chain of the image models: "explicit override or imageModel.primary, then
// imageModel.fallbacks; de-duplicated; no allowlist filter, no appended default,
// no text fallbacks" (21.A.2), "a bare id gets the provider of
// imageModel.primary" (21.A.4).
func TestTheChainOfTheImageModels(t *testing.T) {
	images := fallback.ModelChoice{Primary: model("openai/gpt-4o"), Fallbacks: []fallback.Model{model("groq/v")}}
	for _, c := range []struct {
		name     string
		images   fallback.ModelChoice
		override fallback.Model
		want     string
	}{
		{"as configured", images, fallback.Model{}, "openai/gpt-4o groq/v"},
		{"sc-195: the override replaces the primary, image fallbacks stay", images, model("anthropic/c"), "anthropic/c groq/v"},
		{"a bare override is of the primary's provider", images, fallback.Model{Name: "gpt-5.5"}, "openai/gpt-5.5 groq/v"},
		{"each once", images, model("groq/v"), "groq/v"},
		{"a primary alone", fallback.ModelChoice{Primary: model("openai/gpt-4o")}, fallback.Model{}, "openai/gpt-4o"},
		{"nothing configured", fallback.ModelChoice{}, fallback.Model{}, ""},
	} {
		cfg := ask().Config
		cfg.Images, cfg.Allowed = c.images, []fallback.Model{model("openai/gpt-5.5")}
		var got []string
		for _, m := range fallback.ImageChain(cfg, c.override) {
			got = append(got, m.String())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

// picture is a turn with a picture, on models of which SEES can be shown it.
func picture(sees ...string) fallback.Ask {
	a := ask()
	a.Config.Facts, a.Config.Blind = map[fallback.Model]provider.Facts{}, map[fallback.Model]bool{}
	for _, ref := range []string{"openai/gpt-5.5", "anthropic/claude-opus-4-6", "groq/b", "groq/v", "openai/gpt-4o"} {
		a.Config.Facts[model(ref)] = provider.Facts{Images: slices.Contains(sees, ref)}
		a.Config.Blind[model(ref)] = !slices.Contains(sees, ref)
	}
	a.Messages = []provider.Message{{Role: provider.User, Text: "what is this?\n[image: cat.png]", Images: []provider.Image{{Type: "image/png", Data: []byte("png")}}}}
	return a
}

// lent is a turn whose picture the session's model cannot see, with two image models.
func lent() fallback.Ask {
	a := picture("openai/gpt-4o", "groq/v")
	a.Config.Images = fallback.ModelChoice{Primary: model("openai/gpt-4o"), Fallbacks: []fallback.Model{model("groq/v")}, Listed: true}
	return a
}

// "imageModel takes turns with images when the session's model cannot" [M34], and
// only then; a session's own turn is what it always was.
func TestWhoLooksAtAPicture(t *testing.T) {
	text := lent()
	text.Messages[0].Images = nil
	own := picture("openai/gpt-5.5")
	own.Config.Images = lent().Config.Images
	for _, c := range []struct {
		name string
		ask  fallback.Ask
		used string
		how  fallback.Sight
	}{
		{"no picture", text, "openai/gpt-5.5", fallback.SightNone},
		{"the session's model sees", own, "openai/gpt-5.5", fallback.SightOwn},
		{"the session's model is blind", lent(), "openai/gpt-4o", fallback.SightLent},
		{"nobody sees", picture(), "openai/gpt-5.5", fallback.SightTold},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, only("", nil))
			out, err := d.Run(t.Context(), c.ask)
			if err != nil || out.Used != model(c.used) || out.Sight != c.how {
				t.Fatalf("%+v, %v", out, err)
			}
			shown := len(d.calls[0].Messages[0].Images) > 0
			if want := c.how == fallback.SightOwn || c.how == fallback.SightLent; shown != want {
				t.Errorf("the model was shown the picture: %v", shown)
			}
			if told := strings.Contains(d.calls[0].Messages[0].Text, "openai/gpt-5.5 takes text alone"); told != (c.how == fallback.SightTold) {
				t.Errorf("the model reads %q", d.calls[0].Messages[0].Text)
			}
		})
	}
	if nobody := picture(); len(nobody.Messages[0].Images) != 1 {
		t.Error("the caller's messages were changed")
	}
}

// "Every error continues; no cooldown gate, no skip cache, no persistence, no
// notice" (21.A.3): a conversation that fails over in a turn with a picture is
// afterwards on the model that it was on before.
func TestAnImageTurnLeavesTheSessionAlone(t *testing.T) {
	for _, err := range []*provider.Error{
		{Status: 429}, {Status: 401}, {Status: 400, Message: "prompt is too long: 300000 tokens > 200000 maximum"},
		{Status: 400, Message: "image exceeds 5 MB maximum"}, {Status: 404, Message: "no such model"},
	} {
		d := newDesk(t, only("openai/gpt-4o", err))
		out, failed := d.Run(t.Context(), lent())
		if failed != nil || out.Used != model("groq/v") || out.Settle != nil || out.Notice != "" {
			t.Fatalf("after %v: %+v, %v", err, out, failed)
		}
		if len(out.Attempts) != 1 || out.Attempts[0].Model != model("openai/gpt-4o") {
			t.Errorf("the record has %+v", out.Attempts)
		}
		if row, _ := d.db.Selection(t.Context(), "agent:main:main"); len(d.writes) > 0 || row != (fallback.Selection{}) {
			t.Errorf("after %v the session's row is %+v, written %+v", err, row, d.writes)
		}
		// The failed one is asked again by the next such turn: nothing stands before it.
		if _, err := d.Run(t.Context(), lent()); err != nil || !slices.Equal(d.asked, []string{"openai/gpt-4o", "groq/v", "openai/gpt-4o", "groq/v"}) {
			t.Errorf("asked %v, %v", d.asked, err)
		}
	}
}

// A person's exact choice is theirs alone, and still theirs after the turn.
func TestAnImageTurnUnderAChosenModel(t *testing.T) {
	d := newDesk(t, only("", nil))
	chosen := fallback.Selection{Model: model("groq/b"), Source: fallback.ByUser}
	if _, err := d.db.Swap(t.Context(), "agent:main:main", fallback.Selection{}, chosen); err != nil {
		t.Fatal(err)
	}
	out, err := d.Run(t.Context(), lent())
	if err != nil || out.Used != model("openai/gpt-4o") || out.Notice != "" {
		t.Fatalf("%+v, %v", out, err)
	}
	if row, _ := d.db.Selection(t.Context(), "agent:main:main"); row.Model != chosen.Model || row.Source != chosen.Source {
		t.Errorf("the row is %+v", row)
	}
}

// In the session's own chain a stand-in that cannot see is passed over, and the
// record says why.
func TestABlindStandInIsPassedOver(t *testing.T) {
	d := newDesk(t, only("openai/gpt-5.5", &provider.Error{Status: 429}))
	out, err := d.Run(t.Context(), picture("openai/gpt-5.5", "groq/b"))
	if err != nil || out.Used != model("groq/b") || !strings.Contains(out.Notice, "groq/b") {
		t.Fatalf("%+v, %v", out, err)
	}
	if len(out.Attempts) != 2 || out.Attempts[1].Skipped != fallback.SkipBlind || out.Attempts[1].Detail != "anthropic/claude-opus-4-6 cannot be shown pictures" {
		t.Errorf("the record has %+v", out.Attempts)
	}
	// When all fail, the failure is about those who were asked.
	d = newDesk(t, func(string) error { return &provider.Error{Status: 429} })
	_, err = d.Run(t.Context(), picture("openai/gpt-5.5"))
	if c := fallback.CauseOf(err, time.Now()); c.Kind != fallback.CauseRateLimited || len(c.Attempts) != 1 {
		t.Errorf("%v: %+v", err, c)
	}
	// An image model that is known to be blind is passed over too.
	d = newDesk(t, only("", nil))
	a := lent()
	a.Config.Blind[model("openai/gpt-4o")], a.Config.Facts[model("openai/gpt-4o")] = true, provider.Facts{}
	if out, err = d.Run(t.Context(), a); err != nil || out.Used != model("groq/v") || out.Attempts[0].Skipped != fallback.SkipBlind {
		t.Errorf("%+v, %v", out, err)
	}
}

// "Exhaustion: 6.9 with label "image models" and without reasons in the text."
func TestAllImageModelsFail(t *testing.T) {
	d := newDesk(t, func(string) error { return &provider.Error{Status: 429, Message: "slow down"} })
	_, err := d.Run(t.Context(), lent())
	if err == nil || err.Error() != "all 2 image models failed: openai/gpt-4o: slow down | groq/v: slow down" {
		t.Errorf("%v", err)
	}
}

// "Nothing configured → configuration error" [sc-196], for a turn that has
// nothing to say but its picture.
func TestNobodyCanLook(t *testing.T) {
	d := newDesk(t, only("", nil))
	a := picture()
	a.Wordless = true
	_, err := d.Run(t.Context(), a)
	var blind *fallback.BlindError
	if !errors.As(err, &blind) || len(d.asked) > 0 || !strings.Contains(err.Error(), "agents.defaults.imageModel") {
		t.Errorf("asked %v, %v", d.asked, err)
	}
	if c := fallback.CauseOf(err, time.Now()); c.Kind != fallback.CauseBlind || c.Model != model("openai/gpt-5.5") {
		t.Errorf("%+v", c)
	}
}
