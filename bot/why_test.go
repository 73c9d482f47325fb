package bot_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"standin/bot"
	"standin/fallback"
	"standin/store"

	"github.com/google/go-cmp/cmp"
)

// past writes a record by hand, oldest first, one second to a step.
type past []fallback.Step

var pastNoon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

func (p past) and(run string, s fallback.Step) past {
	s.At, s.Run, s.Session = pastNoon.Add(time.Duration(len(p))*time.Second), run, mainSession
	if s.Kind == "" {
		s.Kind = fallback.Chat
	}
	if s.Attempt != nil {
		s.Attempt.At = s.At
	}
	return append(p, s)
}

func (p past) failed(run string, m fallback.Model, r fallback.Reason) past {
	return p.and(run, fallback.Step{What: fallback.StepAttempt, Attempt: &fallback.Attempt{Model: m, Profile: "x:y", Position: 1, Total: 2, Reason: r}})
}

func (p past) answered(run string, m fallback.Model) past {
	return p.and(run, fallback.Step{What: fallback.StepAttempt, Attempt: &fallback.Attempt{Model: m, Profile: "x:y", Position: 1, Total: 2, OK: true}})
}

func (p past) wrote(run string, w fallback.Write) past {
	return p.and(run, fallback.Step{What: fallback.StepOverride, Write: &w})
}

func (p past) exhausted(run string) past {
	a := fallback.Attempt{Model: modelB}
	d := fallback.Book{}.Failed(a, fallback.Model{})
	return p.and(run, fallback.Step{What: fallback.StepDecision, Record: &d})
}

// story tells it five minutes later, with sel stored.
func (p past) story(sel fallback.Selection, notices bot.Notices) string {
	ask := fallback.Ask{Session: mainSession, Agent: "main", Kind: fallback.Chat, Config: config().Fallback}
	steps := slices.Clone(p)
	slices.Reverse(steps)
	about := bot.About{Session: mainSession, Selection: sel, Plan: fallback.Resolve(ask, sel, false), Notices: notices}
	return bot.SayWhy(bot.Tell(about, steps), pastNoon.Add(5*time.Minute))
}

var (
	free  = fallback.Selection{}
	onB   = fallback.Selection{Model: modelB, Source: fallback.Auto, Origin: modelA}
	onC   = fallback.Selection{Model: modelC, Source: fallback.Auto, Origin: modelA}
	userC = fallback.Selection{Model: modelC, Source: fallback.ByUser}
)

// What has happened is told as it was, whoever changed the selection and
// whatever the record lacks [I10].
func TestWhy(t *testing.T) {
	set := func(was, now fallback.Selection) fallback.Write {
		return fallback.Write{Act: fallback.ActSet, Was: was, Now: now}
	}
	back := func(was, now fallback.Selection) fallback.Write {
		return fallback.Write{Act: fallback.ActRollback, Was: was, Now: now}
	}
	by := func(w fallback.Write, who, command string) fallback.Write {
		w.By = &fallback.Person{Name: who, Command: command}
		return w
	}
	ruled := func(was fallback.Selection, r fallback.ClearWhy) fallback.Write {
		return fallback.Write{Act: fallback.ActClear, Was: was, Rule: r}
	}
	moved := past{}.failed("1", modelA, fallback.RateLimit).wrote("1", set(free, onB)).answered("1", modelB)
	for _, c := range []struct {
		name    string
		record  past
		row     fallback.Selection
		notices bot.Notices
		has     []string
		not     []string
	}{
		{name: "nothing ever happened", has: []string{"as configured.\nNothing has happened in this session"}},
		{name: "answers and nothing else", record: past{}.answered("1", modelA), has: []string{"Nothing has changed that since 12:00 UTC"}},
		{name: "notices are off", record: moved, row: onB, notices: bot.NoticesOff, has: []string{"The room was not told: notices are off"}},
		{name: "the notice is still owed", record: moved, row: onB, has: []string{"has not been told yet"}, not: []string{"The room was told"}},
		{
			name: "a chain that failed and was rolled back is no change", row: free,
			record: past{}.failed("1", modelA, fallback.RateLimit).wrote("1", set(free, onB)).failed("1", modelB, fallback.Timeout).wrote("1", back(onB, free)).exhausted("1"),
			has:    []string{"as configured", "no model answered a message", "with x:y failed: rate limit", "no answer", "The stored choice stayed as it was."},
			not:    []string{"stands in", "later messages"},
		},
		{
			name: "the process died before the stand-in had answered", row: onB,
			record: past{}.failed("1", modelA, fallback.RateLimit).wrote("1", set(free, onB)),
			has:    []string{"It has stood in since 12:00:01 UTC", "no answer is on record yet"},
		},
		{
			name: "a choice while a run goes on stays the last change", row: userC,
			record: past{}.failed("1", modelA, fallback.RateLimit).wrote("1", set(free, onB)).wrote("2", by(set(onB, userC), "ann", "/model")).failed("1", modelB, fallback.Timeout),
			has:    []string{"it was chosen by hand", "ann chose google/gemini-3-pro with /model", "Until then openai/gpt-5.4 stood in"},
		},
		{
			name: "an operator's reset has no name", row: free, record: append(past{}, moved...).wrote("2", by(fallback.Write{Act: fallback.ActClear, Was: onB}, "", "sessions.reset")),
			has: []string{"Somebody began a new session with sessions.reset"},
		},
		{name: "a heartbeat's rule", row: free, record: append(past{}, moved...).wrote("2", ruled(onB, fallback.ClearOrigin)), has: []string{"a heartbeat found that the model it stood in for"}},
		{name: "a rule of the allowlist", row: free, record: past{}.wrote("2", ruled(userC, fallback.ClearNotPermitted)).answered("2", modelA), has: []string{"google/gemini-3-pro was dropped: the config does not permit it any more"}},
		{name: "a row that no record explains", row: onC, has: []string{"in place of anthropic/claude-opus-4-6", "How that came about is not on record.", "asked again with the next message"}},
		{name: "a record that does not fit the row", row: onC, record: moved, has: []string{"How that came about is not on record. The last change that is:", "openai/gpt-5.4 stood in for"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.notices == "" {
				c.notices = bot.NoticesAll
			}
			got := c.record.story(c.row, c.notices)
			for _, want := range c.has {
				if !strings.Contains(got, want) {
					t.Errorf("lacks %q:\n%s", want, got)
				}
			}
			for _, never := range c.not {
				if strings.Contains(got, never) {
					t.Errorf("says %q:\n%s", never, got)
				}
			}
		})
	}
}

// People's choices are in the journal before their answer leaves, and only if
// they change something.
func TestChoicesAreRecorded(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		type entry struct {
			Act      fallback.Act
			Model    string
			Source   fallback.Source
			Who, How string
		}
		got := func() (list []entry) {
			steps, err := h.db.Steps(t.Context(), store.StepFilter{Session: mainSession, What: fallback.StepOverride})
			if err != nil {
				t.Fatal(err)
			}
			slices.Reverse(steps)
			for _, s := range steps {
				list = append(list, entry{s.Write.Act, s.Write.Now.Model.String(), s.Write.Now.Source, s.Write.By.Name, s.Write.By.Command})
			}
			return list
		}
		h.say("/new")
		h.say("/model openai/gpt-5.4")
		h.say("/model openai/gpt-5.4")
		h.say("/new")
		h.say("/model anthropic/claude-opus-4-6@anthropic:me")
		if err := h.bot.Patch(t.Context(), mainSession, "gem"); err != nil {
			t.Fatal(err)
		}
		if err := h.bot.Reset(t.Context(), mainSession); err != nil {
			t.Fatal(err)
		}
		h.say("/model default")
		h.say("/new gem and a question")
		want := []entry{
			{"set", "openai/gpt-5.4", "user", "Alice", "/model"},
			{"set", "", "", "Alice", "/model"}, // the default with a credential
			{"set", "google/gemini-3-pro", "user", "", "sessions.patch"},
			{"clear", "", "", "Alice", "/model"},
			{"set", "google/gemini-3-pro", "user", "Alice", "/new"},
		}
		if d := cmp.Diff(want, got()); d != "" {
			t.Errorf("recorded (-want +got):\n%s", d)
		}
	})
}
