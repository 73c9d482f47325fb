package heartbeat_test

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
	"standin/heartbeat"
)

// expect compares what was posted and asked since the last look.
func (h *house) expect(what string, posts []string, asked []string) {
	h.t.Helper()
	if diff := cmp.Diff(posts, h.posted()); diff != "" {
		h.t.Errorf("%s: posts (-want +got):\n%s", what, diff)
	}
	if diff := cmp.Diff(asked, h.vendors.asked()); diff != "" {
		h.t.Errorf("%s: asked (-want +got):\n%s", what, diff)
	}
}

// clearing is the table of H18 to H21: what is stored, what the config says
// now, what the beat asks and leaves behind, and what the next visible turn says.
var clearing = []struct {
	name     string
	stored   fallback.Selection
	repoint  bool // the configured primary is groq/next now
	isolated bool
	model    fallback.Model // heartbeat.model
	asks     fallback.Model
	cleared  bool
	notice   string // of the next visible turn
	answers  fallback.Model
}{
	{
		name:    "an override of today's primary is kept [heartbeat-02, H19]",
		stored:  fallback.Selection{Model: first, Source: fallback.Auto, Origin: primary, Told: fallback.Told{Selected: primary, Active: first}},
		asks:    first,
		notice:  "↪️ Model Fallback cleared: anthropic/claude-opus-4-6 (was openai/gpt-5.4)", // its five minutes are over: the person's turn probes
		answers: primary,
	}, {
		name:    "one whose origin is not the primary any more is cleared, and told once [M7, D11, IL-171]",
		stored:  fallback.Selection{Model: first, Source: fallback.Auto, Origin: primary, Told: fallback.Told{Selected: primary, Active: first}},
		repoint: true, asks: newer, cleared: true,
		notice: "↪️ Model Fallback cleared: groq/next (was openai/gpt-5.4)", answers: newer,
	}, {
		name:    "one that the room was never told of goes without a word",
		stored:  fallback.Selection{Model: first, Source: fallback.Auto, Origin: primary},
		repoint: true, asks: newer, cleared: true, answers: newer,
	}, {
		name:    "without origin, what the room was told counts [H19]",
		stored:  fallback.Selection{Model: first, Source: fallback.Auto, Told: fallback.Told{Selected: primary, Active: first}},
		repoint: true, asks: newer, cleared: true,
		notice: "↪️ Model Fallback cleared: groq/next (was openai/gpt-5.4)", answers: newer,
	}, {
		name:   "without both, the override itself counts [H19]",
		stored: fallback.Selection{Model: first, Source: fallback.Auto},
		asks:   primary, cleared: true, answers: primary,
	}, {
		name:    "a user's choice stays, whatever the config says [H20, heartbeat-04]",
		stored:  fallback.Selection{Model: first, Source: fallback.ByUser},
		repoint: true, asks: first, answers: first,
	}, {
		name:    "a legacy choice counts as the user's [H20, M9]",
		stored:  fallback.Selection{Model: first},
		repoint: true, asks: first, answers: first,
	}, {
		name:    "a user's credential outlives the clearing [H19]",
		stored:  fallback.Selection{Model: first, Source: fallback.Auto, Origin: primary, Pin: fallback.Pin{Profile: "groq:default", Source: fallback.ByUser, Compactions: -1}},
		repoint: true, asks: newer, cleared: true, answers: newer,
	}, {
		name:    "a heartbeat with a model of its own clears nothing [H18]",
		stored:  fallback.Selection{Model: first, Source: fallback.Auto, Origin: primary, Told: fallback.Told{Selected: primary, Active: first}},
		repoint: true, model: cheap, asks: cheap,
		// The person's own turn asks the fallback it stands on: the origin is not
		// the primary, so nothing is probed (15.10).
		answers: first,
	}, {
		name:   "nor does it look at the primary [H18]",
		stored: fallback.Selection{Model: first, Source: fallback.Auto, Origin: primary, Told: fallback.Told{Selected: primary, Active: first}},
		model:  cheap, asks: cheap,
		notice: "↪️ Model Fallback cleared: anthropic/claude-opus-4-6 (was openai/gpt-5.4)", answers: primary,
	}, {
		name:   "heartbeat.model beats a user's choice for the one run [H18]",
		stored: fallback.Selection{Model: first, Source: fallback.ByUser},
		model:  cheap, asks: cheap, answers: first,
	}, {
		name:    "an isolated run clears the base session all the same [H21]",
		stored:  fallback.Selection{Model: first, Source: fallback.Auto, Origin: primary, Told: fallback.Told{Selected: primary, Active: first}},
		repoint: true, isolated: true, asks: newer, cleared: true,
		notice: "↪️ Model Fallback cleared: groq/next (was openai/gpt-5.4)", answers: newer,
	}, {
		name:     "an isolated run does not use the base session's override [H21]",
		stored:   fallback.Selection{Model: first, Source: fallback.Auto, Origin: primary, Told: fallback.Told{Selected: primary, Active: first}},
		isolated: true, asks: primary,
		notice: "↪️ Model Fallback cleared: anthropic/claude-opus-4-6 (was openai/gpt-5.4)", answers: primary,
	}, {
		name:    "an isolated run leaves a user's choice alone [H20]",
		stored:  fallback.Selection{Model: first, Source: fallback.ByUser},
		repoint: true, isolated: true, asks: newer, answers: first,
	}, {
		name: "a free session stays free",
		asks: primary, answers: primary,
	},
}

func TestTheClearingRule(t *testing.T) {
	for _, c := range clearing {
		t.Run(c.name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				if c.repoint {
					h.repoint(newer)
				}
				h.set(func(k *heartbeat.Config) { k.Isolated, k.Model = c.isolated, c.model })
				h.begin(false)
				h.store(c.stored)
				before := h.selection()
				if rep := h.beat(); rep.Status != heartbeat.Ran || rep.Why != heartbeat.WhyOK || rep.Model != c.asks {
					t.Fatalf("%+v", rep)
				}
				h.expect("the beat", nil, names(c.asks))
				after := h.selection()
				switch {
				case !c.cleared && after != before:
					t.Errorf("the row moved:\n%+v\n%+v", before, after)
				case c.cleared && (!after.Model.IsZero() || after.Source != "" || !after.Origin.IsZero() || after.Told != before.Told):
					t.Errorf("the row is %+v", after)
				case c.cleared && before.Pin.ByPerson() && after.Pin != before.Pin:
					t.Errorf("the user's credential is %+v", after.Pin)
				}
				h.say("hello")
				posts := []string{"reply: hello from " + c.answers.String()}
				if c.notice != "" {
					posts = append([]string{"notice: " + c.notice}, posts...)
				}
				h.expect("the next turn", posts, names(c.answers))
				h.say("again")
				h.expect("the one after", []string{"reply: hello from " + c.answers.String()}, names(c.answers))
			})
		})
	}
}

// "Never clears … a parent session's" [H20]: a beat of a thread's session goes
// by the room's choice as it is, and leaves it.
func TestAParentsOverrideIsNotCleared(t *testing.T) {
	const room, thread = fallback.SessionID("agent:main:room:channel:c1"), fallback.SessionID("agent:main:room:channel:c1:thread:t1")
	inHouse(t, func(h *house) {
		h.repoint(newer)
		h.set(func(c *heartbeat.Config) { c.Session = thread })
		h.begin(false)
		h.storeFor(room, fallback.Selection{Model: first, Source: fallback.Auto, Origin: primary})
		h.storeFor(thread, fallback.Selection{})
		if rep := h.beat(); rep.Status != heartbeat.Ran {
			t.Fatalf("%+v", rep)
		}
		if got, _ := h.db.Selection(context.Background(), room); got.Model != first {
			t.Errorf("the room's row is %+v", got)
		}
	})
}

// "…≠ the currently configured effective primary (agent model, or
// channels.modelByChannel for that route)" [H19].
func TestTheChannelsModelIsThePrimaryThere(t *testing.T) {
	inHouse(t, func(h *house) {
		h.cfg.Rules.Models = map[string]map[string]fallback.Model{"room": {"dm": newer}}
		h.begin(false)
		h.store(fallback.Selection{Model: first, Source: fallback.Auto, Origin: newer})
		h.beat()
		if got := h.selection(); got.Model != first {
			t.Errorf("an override of the channel's model was cleared: %+v", got)
		}
		h.store(fallback.Selection{Model: first, Source: fallback.Auto, Origin: primary})
		if rep := h.beat(); rep.Model != newer || !h.selection().Model.IsZero() {
			t.Errorf("%+v leaves %+v", rep, h.selection())
		}
	})
}

// A heartbeat that falls back tells nobody and writes nothing; the person's next
// turn tells [D11, N22, heartbeat-16, I6].
func TestAFallbackOfABeatIsAnnouncedByTheNextTurn(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(false)
		h.say("hello")
		h.posted()
		h.vendors.asked()
		before := h.selection()
		h.vendors.from(primary, limited())
		if rep := h.beat(); rep.Why != heartbeat.WhyOK || rep.Model != first {
			t.Fatalf("%+v", rep)
		}
		h.expect("the beat", nil, names(primary, first))
		if got := h.selection(); got != before {
			t.Errorf("the row moved: %+v", got)
		}
		h.pass(2 * time.Minute)
		h.say("and now?")
		h.expect("the turn", []string{
			"notice: ↪️ Model Fallback: openai/gpt-5.4 (selected anthropic/claude-opus-4-6; rate limit)", "reply: hello from openai/gpt-5.4"}, names(primary, first))
		h.say("and now?")
		h.expect("the one after", []string{"reply: hello from openai/gpt-5.4"}, names(first))
	})
}

// "Heartbeat model is scoped to its run" [IL-092, IL-252, IL-162, H27]: the first
// beat ever asks it, the session's row stays as it is byte for byte, and the
// next message asks the primary without a notice.
func TestTheHeartbeatsModelStaysItsOwn(t *testing.T) {
	inHouse(t, func(h *house) {
		h.set(func(c *heartbeat.Config) { c.Model = first })
		h.begin(false)
		if rep := h.beat(); rep.Model != first {
			t.Fatalf("%+v", rep)
		}
		h.expect("the first beat", nil, names(first))
		h.say("hello")
		h.expect("the turn", []string{"reply: hello from " + primary.String()}, names(primary))
		session, row := h.session(), h.selection()
		for range 3 {
			h.pass(30 * time.Minute)
			h.beat()
		}
		if h.session() != session || h.selection() != row {
			t.Errorf("the session is %+v %+v, was %+v %+v", h.session(), h.selection(), session, row)
		}
		h.expect("beats", nil, names(first, first, first))
		h.say("again")
		h.expect("the next turn", []string{"reply: hello from " + primary.String()}, names(primary))
	})
}

func (h *house) session() bot.Session {
	h.t.Helper()
	s, err := h.db.Session(context.Background(), mainSession)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// heartbeat.fallbacks stand in for the beat alone, whatever the session stands
// on; without them the agent's do [H18, IL-020].
func TestTheHeartbeatsOwnFallbacks(t *testing.T) {
	for _, k := range []struct {
		name      string
		model     fallback.Model
		listed    bool
		fallbacks []fallback.Model
		stored    fallback.Selection
		agent     *fallback.ModelChoice
		down      []fallback.Model
		asked     []fallback.Model
		status    heartbeat.Status
	}{
		{"its model and its list", cheap, true, []fallback.Model{second}, fallback.Selection{}, nil, []fallback.Model{cheap}, []fallback.Model{cheap, second}, heartbeat.Ran},
		{"its model and no other", cheap, true, nil, fallback.Selection{}, nil, []fallback.Model{cheap}, []fallback.Model{cheap}, heartbeat.Failed},
		{"its model, then the default's list and the primary", cheap, false, nil, fallback.Selection{}, nil, []fallback.Model{cheap, first, second}, []fallback.Model{cheap, first, second, primary}, heartbeat.Ran},
		{"its model, and an agent that is strict", cheap, false, nil, fallback.Selection{}, &fallback.ModelChoice{Primary: primary}, []fallback.Model{cheap}, []fallback.Model{cheap}, heartbeat.Failed},
		{"its model, and an agent with a list", cheap, false, nil, fallback.Selection{}, &fallback.ModelChoice{Primary: primary, Fallbacks: []fallback.Model{second}, Listed: true}, []fallback.Model{cheap}, []fallback.Model{cheap, second}, heartbeat.Ran},
		{"the session's model and its list", fallback.Model{}, true, []fallback.Model{second}, fallback.Selection{}, nil, []fallback.Model{primary}, []fallback.Model{primary, second}, heartbeat.Ran},
		{"a session on a fallback, and its list", fallback.Model{}, true, []fallback.Model{cheap}, fallback.Selection{Model: first, Source: fallback.Auto, Origin: primary}, nil, []fallback.Model{first}, []fallback.Model{first, cheap}, heartbeat.Ran},
		{"a session on a fallback goes on along the chain [H22]", fallback.Model{}, false, nil, fallback.Selection{Model: first, Source: fallback.Auto, Origin: primary}, nil, []fallback.Model{first}, []fallback.Model{first, second}, heartbeat.Ran},
		{"a user's choice is exact", fallback.Model{}, false, nil, fallback.Selection{Model: first, Source: fallback.ByUser}, nil, []fallback.Model{first}, []fallback.Model{first}, heartbeat.Failed},
	} {
		t.Run(k.name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				if k.agent != nil {
					h.cfg.Fallback.Agents["main"] = *k.agent
				}
				h.set(func(c *heartbeat.Config) { c.Model, c.Listed, c.Fallbacks = k.model, k.listed, k.fallbacks })
				h.begin(false)
				h.store(k.stored)
				before := h.selection()
				for _, m := range k.down {
					h.vendors.then(m, limited())
				}
				if rep := h.beat(); rep.Status != k.status {
					t.Errorf("%+v", rep)
				}
				if diff := cmp.Diff(names(k.asked...), h.vendors.asked()); diff != "" {
					t.Error(diff)
				}
				if h.selection() != before {
					t.Errorf("the row moved: %+v", h.selection())
				}
			})
		})
	}
}

// "Given defaults.heartbeat.model=x and agents.list[k].heartbeat.model=y; then
// k's ticks request y, others x" [IL-034, H2].
func TestEachAgentAsksItsOwnModel(t *testing.T) {
	inHouse(t, func(h *house) {
		c := h.s.Of["main"]
		c.Model = cheap
		own := c
		own.Model = second
		h.s.Agents = []fallback.AgentID{"main", "ops"}
		h.s.Of = map[fallback.AgentID]heartbeat.Config{"main": c, "ops": own}
		h.begin(false)
		h.beat()
		h.beats.Beat(context.Background(), "ops", heartbeat.Interval)
		h.expect("both", nil, names(cheap, second))
	})
}

// A beat that says something is posted; what is acknowledged leaves no trace,
// and nobody's last word is moved by either [H7, H16].
func TestWhatABeatLeavesBehind(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(false)
		h.say("hello")
		h.posted()
		before := h.session()
		h.pass(time.Hour)
		h.beat()
		if got := h.session(); got != before {
			t.Errorf("an acknowledgement moved the session: %+v, was %+v", got, before)
		}
		h.vendors.then(primary, answer{text: "the disk is full"})
		if rep := h.beat(); rep.Why != heartbeat.WhyPosted || rep.Posted == "" {
			t.Errorf("%+v", rep)
		}
		if got := h.posted(); len(got) != 1 || got[0] != "reply: the disk is full" {
			t.Errorf("posted %q", got)
		}
		if got := h.session(); !got.LastInteraction.Equal(before.LastInteraction) || got.Route != before.Route {
			t.Errorf("the session is %+v", got)
		}
		history, err := h.db.History(context.Background(), mainSession, before.Epoch, 50)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, e := range history {
			texts = append(texts, e.Text)
		}
		want := []string{"hello", "hello from " + primary.String(), heartbeat.Mark, "the disk is full"}
		if diff := cmp.Diff(want, texts); diff != "" {
			t.Error(diff)
		}
	})
}

// "Given 100 ticks; then prompt size of tick 100 equals tick 1 within 5 percent"
// [IL-186].
func TestTheContextDoesNotGrow(t *testing.T) {
	size := func(c []string) (n int) {
		for _, s := range c {
			n += len(s)
		}
		return n
	}
	inHouse(t, func(h *house) {
		h.begin(false)
		h.say("hello")
		var sizes []int
		for range 100 {
			h.pass(30 * time.Minute)
			h.beat()
			c := h.vendors.last()
			texts := []string{c.System}
			for _, m := range c.Messages {
				texts = append(texts, m.Text)
			}
			sizes = append(sizes, size(texts))
		}
		if one, last := sizes[0], sizes[99]; last > one+one/20 || last < one-one/20 {
			t.Errorf("request %d bytes at first, %d in the end", one, last)
		}
	})
}

// "isolatedSession ⇒ fresh session `<base>:heartbeat` per run (no double
// suffix), delivery still from base route" [H15].
func TestAnIsolatedBeatSeesNothingOfThePast(t *testing.T) {
	inHouse(t, func(h *house) {
		h.set(func(c *heartbeat.Config) { c.Isolated = true })
		h.begin(false)
		h.say("my secret is 42")
		h.vendors.then(primary, answer{text: "one"}, answer{text: "two"})
		h.beat()
		h.beat()
		c := h.vendors.last()
		if len(c.Messages) != 1 || strings.Contains(c.Messages[0].Text, "42") || c.Session != string(mainSession)+":heartbeat" {
			t.Errorf("%s is told %+v", c.Session, c.Messages)
		}
		if got := h.posted(); len(got) != 3 || got[1] != "reply: one" || got[2] != "reply: two" {
			t.Errorf("posted %q", got)
		}
		h.set(func(c *heartbeat.Config) { c.Session = mainSession + ":heartbeat" })
		h.beat()
		if s := h.vendors.last().Session; s != string(mainSession)+":heartbeat" {
			t.Errorf("the session is %s", s)
		}
	})
}

// The file goes along with the instructions, due tasks with the question; their
// stamps move only when a model has answered, and survive a restart [H9].
func TestTasksAreDoneWhenTheyAreDue(t *testing.T) {
	inHouse(t, func(h *house) {
		h.files.write("Be kind.\ntasks:\n- name: mail\n  interval: 1h\n  prompt: Look for mail.\n- name: rain\n  interval: 3h\n  prompt: Say whether it rains.\n")
		h.begin(false)
		tasks := func() (list []string) {
			c := h.vendors.last()
			text := c.Messages[len(c.Messages)-1].Text
			if !strings.Contains(c.System, "Be kind.") || strings.Contains(c.System, "interval") {
				t.Errorf("the instructions are %q", c.System)
			}
			for _, name := range []string{"mail", "rain"} {
				if strings.Contains(text, "- "+name+": ") {
					list = append(list, name)
				}
			}
			return list
		}
		h.vendors.from(primary, limited())
		h.vendors.from(first, limited())
		h.vendors.from(second, limited())
		if rep := h.beat(); rep.Status != heartbeat.Failed {
			t.Fatalf("%+v", rep)
		}
		h.vendors.always = nil
		h.pass(5 * time.Minute)
		h.beat()
		if got := tasks(); !slices.Equal(got, []string{"mail", "rain"}) {
			t.Errorf("after a failure %q are due, want both", got)
		}
		h.close()
		h.begin(false)
		h.vendors.asked()
		if rep := h.beat(); rep.Why != heartbeat.WhyNoTasks || len(h.vendors.asked()) != 0 {
			t.Errorf("%+v", rep)
		}
		h.pass(time.Hour)
		h.beat()
		if got := tasks(); !slices.Equal(got, []string{"mail"}) {
			t.Errorf("after an hour %q are due", got)
		}
	})
}

// A file with nothing to do costs no request [H9, D19, heartbeat-08]; one that is
// not there does [heartbeat-09]; one that cannot be read is said.
func TestTheFileDecidesWhetherAModelIsAsked(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(false)
		if rep := h.beat(); rep.Status != heartbeat.Ran {
			t.Errorf("missing: %+v", rep)
		}
		h.vendors.asked()
		h.files.write("# Tasks\n- [ ]\n")
		if rep := h.beat(); rep.Why != heartbeat.WhyEmptyFile {
			t.Errorf("empty: %+v", rep)
		}
		h.files.broken = &fs.PathError{Op: "open", Path: "HEARTBEAT.md", Err: fs.ErrPermission}
		if rep := h.beat(); rep.Why != heartbeat.WhyUnreadable || !strings.Contains(rep.Detail, "HEARTBEAT.md") {
			t.Errorf("unreadable: %+v", rep)
		}
		h.expect("no request", nil, nil)
		if row := h.row(); row.Status != heartbeat.Skipped || row.Why != heartbeat.WhyUnreadable {
			t.Errorf("the row is %+v", row)
		}
	})
}

// "Same text as last delivered heartbeat within 24 h ⇒ not sent", over a restart
// too [H8, heartbeat-13, IL-087].
func TestTheSameAlertIsSaidOnceADay(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(false)
		h.say("hello")
		h.posted()
		h.vendors.from(primary, answer{text: "the disk is full"})
		var why []heartbeat.Why
		for i := range 3 {
			why = append(why, h.beat().Why)
			if i == 1 {
				h.close()
				h.begin(false)
			}
			h.pass(2 * time.Hour)
		}
		if want := []heartbeat.Why{heartbeat.WhyPosted, heartbeat.WhyDuplicate, heartbeat.WhyDuplicate}; !slices.Equal(why, want) {
			t.Errorf("%v, want %v", why, want)
		}
		if got := h.posted(); len(got) != 1 {
			t.Errorf("posted %q", got)
		}
		h.pass(18 * time.Hour)
		if rep := h.beat(); rep.Why != heartbeat.WhyPosted {
			t.Errorf("a day later: %+v", rep)
		}
	})
}

// "NOT skips: no-target, unknown-account, dm-blocked … the turn still runs …,
// only the outbound post is left out and the reason recorded" [H12].
func TestWhatIsNotPostedIsRecorded(t *testing.T) {
	for _, k := range []struct {
		why heartbeat.Why
		set func(c *heartbeat.Config)
	}{
		{heartbeat.WhyNoTarget, func(c *heartbeat.Config) { c.Target = heartbeat.TargetNone }},
		{heartbeat.WhyDirect, func(c *heartbeat.Config) { c.BlockDirect = true }},
		{heartbeat.WhyNoAccount, func(c *heartbeat.Config) { c.Target, c.To, c.Account = "room", "c1", "gone" }},
	} {
		t.Run(string(k.why), func(t *testing.T) {
			inHouse(t, func(h *house) {
				h.set(k.set)
				h.begin(false)
				h.beats.Known = func(to channels.Address) bool { return to.Account == "" }
				h.say("hello")
				h.posted()
				h.note("cron:1", "the report is ready")
				h.vendors.then(primary, answer{text: "the disk is full"})
				if rep := h.beat(); rep.Status != heartbeat.Ran || rep.Why != k.why || rep.Text != "the disk is full" {
					t.Errorf("%+v", rep)
				}
				if got := h.posted(); len(got) != 0 {
					t.Errorf("posted %q", got)
				}
				if waiting, _ := h.db.Noted(context.Background(), mainSession); len(waiting) != 0 {
					t.Errorf("events wait: %+v", waiting)
				}
				if row := h.row(); row.Why != k.why || row.Text != "" {
					t.Errorf("the row is %+v", row)
				}
			})
		})
	}
}

func (h *house) note(key, text string) {
	h.t.Helper()
	if err := h.bot.Note(context.Background(), bot.SystemEvent{Session: mainSession, Key: key, Text: text}); err != nil {
		h.t.Fatal(err)
	}
}

// "Visibility": showOk posts the bare acknowledgement, showAlerts hides what is
// said, and with all three off no model is asked [H14, H12].
func TestWhatAPlaceGetsToSee(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(false)
		h.say("hello")
		h.posted()
		h.vendors.asked()
		see := func(v heartbeat.Visibility) { s := *h.s; s.Seen.Default = v; h.s = &s }
		see(heartbeat.Visibility{OK: true, Alerts: true})
		h.beat()
		h.expect("acknowledgements are shown", []string{"reply: HEARTBEAT_OK"}, names(primary))
		see(heartbeat.Visibility{Indicator: true})
		h.vendors.then(primary, answer{text: "the disk is full"})
		if rep := h.beat(); rep.Why != heartbeat.WhyHidden {
			t.Errorf("%+v", rep)
		}
		h.expect("alerts are hidden", nil, names(primary))
		see(heartbeat.Visibility{})
		if rep := h.beat(); rep.Why != heartbeat.WhyAlertsOff {
			t.Errorf("%+v", rep)
		}
		h.expect("nothing is shown", nil, nil)
	})
}

// "Failure ⇒ heartbeat-specific line only if showAlerts and target; never
// repeated within 24 h" [H22]; it names the heartbeat, the models, the reasons
// and when it goes on [IL-289, T19].
func TestAFailureIsToldOnceADay(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(false)
		h.say("hello")
		h.posted()
		fail := func() heartbeat.Report {
			h.vendors.asked()
			for _, m := range []fallback.Model{primary, first, second} {
				h.vendors.then(m, limited())
			}
			return h.beat()
		}
		if rep := fail(); rep.Status != heartbeat.Failed || rep.Posted == "" {
			t.Errorf("%+v", rep)
		}
		want := "failure: The heartbeat did not run: anthropic/claude-opus-4-6 (rate limit), openai/gpt-5.4 (rate limit), google/gemini-3-pro (rate limit)." +
			" A model is ready again in about 60 s; it is tried again then. You can go on writing to me as usual."
		if got := h.posted(); len(got) != 1 || got[0] != want {
			t.Errorf("told %q\nwant %q", got, want)
		}
		h.pass(2 * time.Hour)
		fail()
		if got := h.posted(); len(got) != 0 {
			t.Errorf("told again: %q", got)
		}
		if row := h.row(); row.Failures != 2 || row.Status != heartbeat.Failed {
			t.Errorf("the row is %+v", row)
		}
		h.pass(24 * time.Hour)
		fail()
		if got := h.posted(); len(got) != 1 {
			t.Errorf("a day later it is told again once: %q", got)
		}
		h.pass(2 * time.Hour)
		h.beat()
		if row := h.row(); row.Failures != 0 || row.Failed != "" {
			t.Errorf("after a good one the row is %+v", row)
		}
	})
}

// A failure that nobody is to see is not posted [H22].
func TestAFailureWithoutAPlaceIsNotPosted(t *testing.T) {
	for name, set := range map[string]func(h *house){
		"no target":     func(h *house) { h.set(func(c *heartbeat.Config) { c.Target = heartbeat.TargetNone }) },
		"alerts hidden": func(h *house) { h.s.Seen.Default = heartbeat.Visibility{Indicator: true} },
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				set(h)
				h.begin(false)
				h.say("hello")
				h.posted()
				for _, m := range []fallback.Model{primary, first, second} {
					h.vendors.then(m, refused())
				}
				if rep := h.beat(); rep.Status != heartbeat.Failed || rep.Posted != "" {
					t.Errorf("%+v", rep)
				}
				if got := h.posted(); len(got) != 0 {
					t.Errorf("posted %q", got)
				}
			})
		})
	}
}

// An empty answer of a heartbeat is silence, not a failure line [N17, IL-298].
func TestAnEmptyAnswerIsSilence(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(false)
		h.say("hello")
		h.posted()
		for _, text := range []string{"NO_REPLY", " "} {
			for _, m := range []fallback.Model{primary, first, second} {
				h.vendors.then(m, answer{text: text})
			}
			h.beat()
		}
		if got := h.posted(); len(got) != 0 {
			// An answer without any text is a failure of the chain, and that is told.
			if len(got) != 1 || !strings.HasPrefix(got[0], "failure: The heartbeat did not run: ") {
				t.Errorf("posted %q", got)
			}
		}
	})
}

// A stray token in a chat turn is taken off its edges; alone it says nothing [H7].
func TestAStrayTokenInAChat(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(false)
		h.vendors.then(primary, answer{text: "HEARTBEAT_OK"}, answer{text: "All is well.\n\nHEARTBEAT_OK"}, answer{text: "the word HEARTBEAT_OK means all is well"})
		h.say("one")
		h.say("two")
		h.say("three")
		h.expect("chat", []string{"reply: All is well.", "reply: the word HEARTBEAT_OK means all is well"}, names(primary, primary, primary))
	})
}

// A file may not be written while a beat runs: then nothing was asked, and the
// report says why.
func TestABeatThatCannotBeWrittenDownDoesNotRun(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(false)
		h.rows.dead = true
		if rep := h.beat(); rep.Status != heartbeat.Failed || rep.Detail == "" {
			t.Errorf("%+v", rep)
		}
		h.expect("nothing", nil, nil)
	})
}
