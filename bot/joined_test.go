package bot_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot/policy"
	"standin/bot/tools"
	"standin/fallback"
	"standin/fallback/provider"
)

// mine is a tool of the owner's.
func mine() []tools.Tool {
	return []tools.Tool{{Name: "mine", Owner: true, Run: func(context.Context, tools.Place, json.RawMessage) (tools.Result, error) {
		return tools.Say("done")
	}}}
}

// The owner's tools are out of reach as soon as others speak in the owner's turn,
// however their messages came into it [S24, S26, R71].
func TestOthersInTheOwnersTurn(t *testing.T) {
	for _, c := range []struct {
		name  string
		mode  policy.Mode
		said  []string // by whom, while an earlier turn of the owner's runs
		given bool
	}{
		{"the owner alone, steered", policy.Steer, []string{"boss"}, true},
		{"a stranger, steered", policy.Steer, []string{"u1"}, false},
		{"the owner alone, collected", policy.Collect, []string{"boss", "boss"}, true},
		{"a stranger, collected into the owner's", policy.Collect, []string{"u1", "boss"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ruled(t, openRoom, func(t *testing.T, h *house) {
				cfg := *h.cfg
				cfg.Rules.Commands.Owners = []string{"boss"}
				cfg.Rules.Queue.Mode = c.mode
				h.cfg = &cfg
				h.bot.Options.Tools = mine
				use := func(ctx context.Context, ask fallback.Ask) provider.ToolResult {
					got, _ := ask.Tools.Use(ctx, []provider.ToolCall{{ID: "1", Name: "mine", Input: "{}"}})
					return got[0]
				}
				var last provider.ToolResult
				h.engine.then(func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
					if first := use(ctx, ask); first.Failed {
						t.Errorf("the owner's own turn: %+v", first)
					}
					time.Sleep(10 * time.Second)
					if ask.Steer() != "" {
						last = use(ctx, ask)
						offered := slices.ContainsFunc(ask.Tools.Offer(), func(o provider.Tool) bool { return o.Name == "mine" })
						if offered != c.given {
							t.Errorf("offered: %v", offered)
						}
					}
					return h.engine.says("first")(ctx, ask)
				})
				if c.mode == policy.Collect {
					h.engine.then(func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
						last = use(ctx, ask)
						return h.engine.says("second")(ctx, ask)
					})
				}
				h.post(toBot(inRoom("boss", "start")))
				synctest.Wait()
				for _, who := range c.said {
					h.post(toBot(inRoom(who, "use mine")))
				}
				h.settle()
				if last.Name != "mine" || last.Failed == c.given || last.Failed && !strings.Contains(last.Text, "what others wrote") {
					t.Errorf("given %+v", last)
				}
				// What others said is remembered as theirs.
				h.engine.then(func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
					last = use(ctx, ask)
					return h.engine.says("third")(ctx, ask)
				})
				h.post(toBot(inRoom("boss", "go on")))
				h.settle()
				if last.Failed == c.given {
					t.Errorf("the next turn was given %+v", last)
				}
			})
		})
	}
}
