package fallback

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// agents is the house with one agent for each way of naming a model.
func agents() *Config {
	c := house()
	c.Agents = map[AgentID]ModelChoice{
		"string": {Primary: ref("anthropic/a")},
		"list":   {Primary: ref("anthropic/a"), Fallbacks: refs("groq/b"), Listed: true},
		"strict": {Listed: true},
	}
	return c
}

func auto(m, origin string) Selection {
	return Selection{Model: ref(m), Source: Auto, Origin: ref(origin)}
}

func byUser(m string) Selection { return Selection{Model: ref(m), Source: ByUser} }

const (
	primary = "openai/gpt-5.5"
	opus    = "anthropic/claude-opus-4-6"
)

func TestSourceOfTheSelectionDecidesTheChain(t *testing.T) {
	listed := func(a Ask, list ...string) Ask {
		a.Fallbacks, a.Listed = refs(list...), true
		return a
	}
	chat := func(agent AgentID) Ask { return Ask{Config: agents(), Agent: agent, Kind: Chat} }
	with := func(kind Kind, m string) Ask {
		a := Ask{Config: agents(), Agent: "main", Kind: kind}
		if m != "" {
			a.Model = ref(m)
		}
		return a
	}
	from := func(a Ask, agent AgentID) Ask { a.Agent = agent; return a }
	oneOff := with(Chat, "moonshot/k")
	oneOff.OneOff = true
	channel := chat("main")
	channel.Channel = ref("moonshot/k")
	for _, c := range []struct {
		rule   string
		ask    Ask
		stored Selection
		chain  string
		why    Why
		strict bool
	}{
		{"configured default: default fallbacks, the primary may be appended [M4, sc-018]", chat("main"), Selection{}, primary + " " + opus + " groq/b", FromDefault, false},
		{"agent model as a plain string or without fallbacks: strict [M5, sc-020]", chat("string"), Selection{}, "anthropic/a", FromAgent, true},
		{"agent model with fallbacks: exactly that list, defaults are not merged in [M5, sc-021]", chat("list"), Selection{}, "anthropic/a groq/b", FromAgent, false},
		{"an agent's empty list is strict without pinning the primary [M5, sc-022]", chat("strict"), Selection{}, primary, FromAgent, true},
		{"a channel's model stands before the agent's and keeps its policy [T4]", channel, Selection{}, "moonshot/k " + opus + " groq/b " + primary, FromChannel, false},

		{"automatic: the default list is passed, so no primary behind it [M6, 2.14, 3.5]", chat("main"), auto(opus, primary), opus + " groq/b", FromAuto, false},
		{"automatic without a source but with its origin counts as automatic (3.1)", chat("main"), Selection{Model: ref(opus), Origin: ref(primary)}, opus + " groq/b", FromAuto, false},
		{"automatic on the last fallback walks the list from its start (2.11)", chat("main"), auto("groq/b", primary), "groq/b " + opus, FromAuto, false},
		{"automatic: the agent's list comes before the default list [T5]", chat("list"), auto("groq/b", "anthropic/a"), "groq/b", FromAuto, false},
		{"user: strict, even on a configured fallback [M8, IL-074]", chat("main"), byUser(opus), opus, FromUser, true},
		{"legacy without source and origin counts as the user's [M9, sc-024]", chat("main"), Selection{Model: ref("moonshot/k")}, "moonshot/k", FromLegacy, true},
		{"half an origin is none: the row is a legacy one (3.1)", chat("main"), Selection{Model: ref("moonshot/k"), Origin: Model{Provider: "openai"}}, "moonshot/k", FromLegacy, true},
		{"automatic without an origin is ignored, the primary is tried first [T6, policy-05]", chat("main"), Selection{Model: ref(opus), Source: Auto}, primary + " " + opus + " groq/b", FromDefault, false},

		{"a job's model is a primary with the configured fallbacks [M10, sc-027]", with(Cron, "anthropic/a"), Selection{}, "anthropic/a " + opus + " groq/b", FromCron, false},
		{"a job's empty list is strict [M10, sc-028]", listed(with(Cron, "anthropic/a")), Selection{}, "anthropic/a", FromCron, true},
		{"a job's list wins over agent and default lists [3.6, sc-029]", listed(with(Cron, ""), "groq/b"), Selection{}, primary + " groq/b", FromDefault, false},
		{"a job without model follows the ordinary policy [R35]", with(Cron, ""), Selection{}, primary + " " + opus + " groq/b", FromDefault, false},
		{"a job's list may be outside the allowlist [R36, cron-06]", listed(with(Cron, ""), "x/y"), Selection{}, primary + " x/y", FromDefault, false},
		{"a job's model on an agent without a list is strict (3.6)", from(with(Cron, "moonshot/k"), "string"), Selection{}, "moonshot/k", FromCron, true},
		{"a job starts on the primary whatever a former run left [R27, cron-07]", with(Cron, ""), auto(opus, primary), primary + " " + opus + " groq/b", FromDefault, false},
		{"a user's choice on the job's session stands [R32]", with(Cron, ""), byUser("moonshot/k"), "moonshot/k", FromUser, true},
		{"a job's model comes before a user's choice [R32]", with(Cron, "anthropic/a"), byUser("moonshot/k"), "anthropic/a " + opus + " groq/b", FromCron, false},
		{"flags of the command line are strict [M10, sc-030]", oneOff, Selection{}, "moonshot/k", FromOneOff, true},

		{"a heartbeat's model beats what is stored and follows the policy [H18, sc-159]", with(Heartbeat, "moonshot/h"), auto(opus, primary), "moonshot/h " + opus + " groq/b " + primary, FromHeartbeat, false},
		{"a heartbeat keeps using the fallback of today's primary (16.2)", with(Heartbeat, ""), auto(opus, primary), opus + " groq/b", FromAuto, false},
		{"a heartbeat uses the user's choice [H20]", with(Heartbeat, ""), byUser("moonshot/k"), "moonshot/k", FromUser, true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			p := Resolve(c.ask, c.stored, false)
			if got := spell(Chain(c.ask.Config, p)); got != c.chain {
				t.Errorf("chain %s\n want %s", got, c.chain)
			}
			if p.Why != c.why || p.Strict != c.strict {
				t.Errorf("why %q strict %v, want %q %v", p.Why, p.Strict, c.why, c.strict)
			}
		})
	}
}

func TestStaleSelections(t *testing.T) {
	c := house()
	c.Allowed = refs("groq/*", opus)
	changed := house()
	changed.Default = ModelChoice{Primary: ref("groq/b"), Fallbacks: refs(opus)}
	told := auto(opus, "openai/gpt-4")
	told.Told = Told{Selected: ref("openai/gpt-4"), Active: ref(opus)}
	toldOnly := Selection{Model: ref(opus), Source: Auto, Told: Told{Selected: ref(primary), Active: ref(opus)}}
	for _, row := range []struct {
		rule   string
		cfg    *Config
		kind   Kind
		stored Selection
		why    ClearWhy // "" keeps the row's choice
		clear  bool
		asks   string
	}{
		{"automatic without origin is removed [T6]", c, Chat, Selection{Model: ref(opus), Source: Auto}, ClearNoOrigin, true, primary},
		{"an automatic choice is exempt from the allowlist [D8]", &Config{Default: house().Default, Allowed: refs("moonshot/k"), Providers: house().Providers}, Chat, auto("groq/b", primary), "", false, "groq/b"},
		{"an automatic choice that is in no list any more is removed [IL-028]", c, Chat, auto("x/old", primary), ClearOffChain, true, primary},
		{"a changed primary alone changes no selection (3.11, policy-08)", changed, Chat, auto(opus, primary), "", false, opus},
		{"a user's model outside the allowlist is dropped [T7, D8]", c, Chat, byUser("moonshot/k"), ClearNotPermitted, true, primary},
		{"a legacy model outside the allowlist as well [T7]", c, Chat, Selection{Model: ref("moonshot/k")}, ClearNotPermitted, true, primary},
		{"a user's model inside it stays [M8]", c, Chat, byUser("groq/x"), "", false, "groq/x"},
		{"the default may be chosen whatever the allowlist says [C9]", c, Chat, byUser(primary), "", false, primary},
		{"a heartbeat clears when the origin is not the primary any more [M7, sc-157]", changed, Heartbeat, auto(opus, primary), ClearOrigin, true, "groq/b"},
		{"a heartbeat keeps an override of today's primary [heartbeat-02]", c, Heartbeat, auto(opus, primary), "", false, opus},
		{"without origin a heartbeat goes by what the room was told [H19]", changed, Heartbeat, toldOnly, ClearOrigin, true, "groq/b"},
		{"and keeps its hands off when that is today's primary [H19]", c, Heartbeat, toldOnly, ClearNoOrigin, false, primary},
		{"without both it goes by the override itself (16.1)", c, Heartbeat, Selection{Model: ref(opus), Source: Auto}, ClearOrigin, true, primary},
		{"a heartbeat never clears a user's choice [H20, heartbeat-04]", changed, Heartbeat, byUser("moonshot/k"), "", false, "moonshot/k"},
		{"nor one that left the allowlist: that is told in a chat turn [I6]", c, Heartbeat, byUser("moonshot/k"), ClearNotPermitted, false, primary},
		{"nor an automatic one that left the chain [I6]", c, Heartbeat, auto("x/old", primary), ClearOffChain, false, primary},
		{"a job removes nothing [I6]", c, Cron, auto("x/old", primary), "", false, primary},
		{"a compaction removes nothing [I6, IL-151]", c, Compaction, Selection{Model: ref(opus), Source: Auto}, ClearNoOrigin, false, primary},
	} {
		t.Run(row.rule, func(t *testing.T) {
			p := Resolve(Ask{Config: row.cfg, Agent: "main", Kind: row.kind}, row.stored, true)
			if p.Clear != row.clear || p.ClearWhy != row.why {
				t.Errorf("clear %v because %q, want %v because %q", p.Clear, p.ClearWhy, row.clear, row.why)
			}
			if p.Probe {
				p.Requested = p.Current
			}
			if p.Requested != ref(row.asks) {
				t.Errorf("asks %s, want %s", p.Requested, row.asks)
			}
			if row.clear && p.Cleared != row.stored.Model {
				t.Errorf("the cleared model reads %q, want %q", p.Cleared, row.stored.Model)
			}
		})
	}
}

func TestAnInvalidUserChoiceStaysAndSaysSo(t *testing.T) {
	// IL-060: each message yields the error; I4: nothing else answers meanwhile.
	p := Resolve(Ask{Config: house(), Kind: Chat}, byUser("typo/x"), false)
	if p.Invalid == "" || p.Clear || !p.Strict || p.Requested != ref("typo/x") {
		t.Errorf("plan %+v, want the choice kept, strict and invalid", p)
	}
	if p := Resolve(Ask{Config: house(), Kind: Chat}, byUser("groq/new"), false); p.Invalid != "" {
		t.Errorf("a model of a known provider is not invalid: %q", p.Invalid)
	}
	free := Choose(house(), "main", Model{}, byUser("typo/x"), Model{}, "", at(0))
	if !free.Model.IsZero() || free.Source != NoSource {
		t.Errorf("/model default left %+v", free)
	}
}

func TestProbe(t *testing.T) {
	ask := Ask{Config: house(), Agent: "main", Kind: Chat}
	heartbeat, directive, onChannel, job := ask, ask, ask, ask
	heartbeat.Kind, directive.NoProbe, onChannel.Channel, job.Kind = Heartbeat, true, ref("moonshot/k"), Cron
	own := ask
	own.Kind, own.Model = Heartbeat, ref("moonshot/h")
	for _, c := range []struct {
		rule   string
		ask    Ask
		stored Selection
		due    bool
		chain  string
	}{
		{"due: the primary first, the current fallback behind it, then the list [D13b, T13]", ask, auto("groq/b", primary), true, primary + " groq/b " + opus},
		{"recovered automatic rows are probed too (15.2)", ask, Selection{Model: ref(opus), Origin: ref(primary)}, true, primary + " " + opus + " groq/b"},
		{"within five minutes: straight to the fallback [M11, sc-149]", ask, auto(opus, primary), false, opus + " groq/b"},
		{"not when the origin is not the primary (15.10)", ask, auto(opus, "openai/gpt-4"), true, opus + " groq/b"},
		{"the channel's model counts as primary (15.2)", onChannel, auto(opus, "moonshot/k"), true, "moonshot/k " + opus + " groq/b"},
		{"not when a channel's model has taken the primary's place (15.2)", onChannel, auto(opus, primary), true, opus + " groq/b"},
		{"not when the override is its own origin (15.2)", ask, auto(primary, primary), true, primary + " " + opus + " groq/b"},
		{"not with a directive in the message [T13, sc-154]", directive, auto(opus, primary), true, opus + " groq/b"},
		{"not with a heartbeat's own model [H18]", own, auto(opus, primary), true, "moonshot/h " + opus + " groq/b " + primary},
		{"not in a heartbeat: it could not write the recovery down [I6]", heartbeat, auto(opus, primary), true, opus + " groq/b"},
		{"a user's choice is never probed away [I4]", ask, byUser(opus), true, opus},
	} {
		t.Run(c.rule, func(t *testing.T) {
			p := Resolve(c.ask, c.stored, c.due)
			if got := spell(Chain(c.ask.Config, p)); got != c.chain {
				t.Errorf("chain %s\n want %s", got, c.chain)
			}
			if want := c.stored.Model != p.Requested && p.Why == FromAuto; p.Probe != want {
				t.Errorf("probe %v, want %v", p.Probe, want)
			}
			if p.Probe && (p.Selected != p.Requested || p.Current != c.stored.Model) {
				t.Errorf("probe plan %+v", p)
			}
		})
	}
}

func TestSelectedIsTheOriginOfAnAutomaticChoice(t *testing.T) {
	// N1, C13: on a sticky turn people selected the origin, not the stand-in.
	p := Resolve(Ask{Config: house(), Kind: Chat}, auto(opus, primary), false)
	if p.Selected != ref(primary) || p.Requested != ref(opus) {
		t.Errorf("selected %s requested %s", p.Selected, p.Requested)
	}
}

func TestOnlyChatTurnsOfFreeOrAutomaticRowsPersist(t *testing.T) {
	for _, kind := range []Kind{Chat, Cron, Heartbeat, Compaction, ProbeRun} {
		for stored, may := range map[Selection]bool{{}: true, auto(opus, primary): true, byUser(opus): false, {Model: ref(opus)}: false} {
			p := Resolve(Ask{Config: house(), Agent: "main", Kind: kind}, stored, true)
			if want := may && kind == Chat; p.Persist != want {
				t.Errorf("%s on %+v: persist %v, want %v [I6, T9, sc-139]", kind, stored, p.Persist, want)
			}
		}
	}
	flags := Ask{Config: house(), Kind: Chat, Model: ref("moonshot/k"), OneOff: true}
	if p := Resolve(flags, Selection{}, true); p.Persist || p.Announces() {
		t.Error("a one-off run says and writes nothing of the session [M10]")
	}
}

func TestPinOfAPlan(t *testing.T) {
	work := Pin{Profile: "openai:work", Compactions: -1}
	ask := Ask{Config: house(), Kind: Chat}
	free := Selection{Pin: work}
	if p := Resolve(ask, free, false); p.Pin.Source != ByUser {
		t.Errorf("a pin without source and count is the user's (9.5): %+v", p.Pin)
	}
	free.Pin.Compactions = 2
	if p := Resolve(ask, free, false); p.Pin.Source != Auto {
		t.Errorf("a pin without source but with a count is automatic (9.5): %+v", p.Pin)
	}
	one := ask
	one.Model, one.Profile, one.OneOff = ref("groq/x"), "groq:me", true
	if p := Resolve(one, free, false); p.Pin != (Pin{"groq:me", ByUser, -1}) {
		t.Errorf("a one-off profile is the run's pin: %+v", p.Pin)
	}
	stale := Selection{Model: ref(opus), Source: Auto, Pin: Pin{"anthropic:a", ByUser, -1}}
	if p := Resolve(ask, stale, false); !p.Clear || p.Pin.Profile != "anthropic:a" {
		t.Errorf("clearing a legacy row keeps the user's profile (3.8): %+v", p)
	}
	stale.Pin = Pin{"anthropic:a", Auto, 0}
	if p := Resolve(ask, stale, false); p.Pin != (Pin{}) {
		t.Errorf("the automatic pin of a cleared row goes with it: %+v", p.Pin)
	}
	sibling := auto("openai/gpt-5.5-mini", primary)
	sibling.Pin = Pin{"openai:b", Auto, 0}
	cfg := house()
	cfg.Default.Fallbacks = refs("openai/gpt-5.5-mini")
	if p := Resolve(Ask{Config: cfg, Kind: Chat}, sibling, true); !p.Probe || p.Pin != (Pin{}) {
		t.Errorf("a probe chooses the primary's profile afresh (15.5): %+v", p)
	}
	if p := Resolve(Ask{Config: cfg, Kind: Chat}, sibling, false); p.Pin.Profile != "openai:b" {
		t.Errorf("a sticky turn keeps the fallback's profile: %+v", p)
	}
}

// at is a moment of the tests' day.
func at(d time.Duration) time.Time { return time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC).Add(d) }

func TestEngage(t *testing.T) {
	told := Told{Selected: ref(primary), Active: ref("groq/b"), Reason: "x"}
	for _, c := range []struct {
		rule      string
		stored    Selection
		requested string
		candidate string
		want      Selection
	}{
		{"a free row gets model, source and origin [M6, sc-136]", Selection{Pin: Pin{"openai:a", Auto, 3}, Told: told}, primary, opus,
			Selection{Model: ref(opus), Source: Auto, Origin: ref(primary), Told: told}},
		{"the first origin stays when the chain walks on [T9]", auto(opus, primary), opus, "groq/b", auto("groq/b", primary)},
		{"a recovered automatic row is marked and keeps its origin (13.5)", Selection{Model: ref(opus), Origin: ref(primary)}, opus, "groq/b", auto("groq/b", primary)},
		{"an automatic pin follows within its provider, its count is cleared (9.9, 13.5)", Selection{Pin: Pin{"openai:a", Auto, 3}}, primary, "openai/mini",
			Selection{Model: ref("openai/mini"), Source: Auto, Origin: ref(primary), Pin: Pin{"openai:a", Auto, -1}}},
		{"a user's pin outlives an outage [D3]", Selection{Pin: Pin{"openai:work", ByUser, -1}}, primary, opus,
			Selection{Model: ref(opus), Source: Auto, Origin: ref(primary), Pin: Pin{"openai:work", ByUser, -1}}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			c.want.Since = at(0)
			got := Engage(c.stored, Plan{Requested: ref(c.requested)}, ref(c.candidate), at(0))
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	engaged := auto(opus, primary)
	engaged.Told, engaged.Pin = Told{Selected: ref(primary), Active: ref(opus), Reason: "x"}, Pin{"anthropic:a", Auto, 1}
	pinned := byUser("moonshot/k")
	pinned.Pin, pinned.Since = Pin{"moonshot:me", ByUser, -1}, at(-time.Hour)
	for _, c := range []struct {
		rule    string
		agent   AgentID
		channel string
		stored  Selection
		choice  string
		profile ProfileID
		want    Selection
	}{
		{"a choice writes source user and ends origin, told pair and automatic pin [M8, C11]", "main", "", engaged, "groq/b", "",
			Selection{Model: ref("groq/b"), Source: ByUser, Pending: true, Since: at(0)}},
		{"a profile comes with it as the user's pin [command-06]", "main", "", Selection{}, "groq/b", "groq:work",
			Selection{Model: ref("groq/b"), Source: ByUser, Pin: Pin{"groq:work", ByUser, -1}, Pending: true, Since: at(0)}},
		{"/model default frees the session and ends the user's pin [C6, command-19]", "main", "", pinned, "", "", Selection{Pending: true, Since: at(0)}},
		{"the current default frees instead of pinning [C10, command-09]", "main", "", engaged, primary, "", Selection{Pending: true, Since: at(0)}},
		{"the agent's own primary is its default [C10]", "string", "", engaged, "anthropic/a", "", Selection{Pending: true, Since: at(0)}},
		{"for that agent the global default is a choice [C10]", "string", "", Selection{}, primary, "", Selection{Model: ref(primary), Source: ByUser, Pending: true, Since: at(0)}},
		{"so it is where the channel has a model [T4]", "main", "moonshot/k", Selection{}, primary, "", Selection{Model: ref(primary), Source: ByUser, Pending: true, Since: at(0)}},
		{"the default with a profile pins the profile alone [C6]", "main", "", Selection{}, primary, "openai:work", Selection{Pin: Pin{"openai:work", ByUser, -1}, Pending: true}},
		{"the stand-in chosen aloud becomes exact [M8, IL-021]", "main", "", engaged, opus, "", Selection{Model: ref(opus), Source: ByUser, Pending: true, Since: at(0)}},
		{"the same choice again asks for no live switch (17.1)", "main", "", pinned, "moonshot/k", "moonshot:me", pinned},
		{"nothing to change asks for no live switch (17.1)", "main", "", Selection{Pin: Pin{"openai:a", Auto, 0}}, primary, "", Selection{}},
		{"a switch that waits is not forgotten (17.2)", "main", "", Selection{Model: ref("groq/b"), Source: ByUser, Pending: true, Since: at(-1)}, "groq/b", "",
			Selection{Model: ref("groq/b"), Source: ByUser, Pending: true, Since: at(-1)}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got := Choose(agents(), c.agent, ref(c.channel), c.stored, ref(c.choice), c.profile, at(0))
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAUsersChoiceIsNeverAnsweredByAnotherModel(t *testing.T) {
	// I4 for any row, config and kind of run: a permitted choice has a chain of one.
	rapid.Check(t, func(t *rapid.T) {
		c := agents()
		if rapid.Bool().Draw(t, "allowlist") {
			c.Allowed = refs("moonshot/k")
		}
		agent := rapid.SampledFrom([]AgentID{"main", "string", "list", "strict", "nobody"}).Draw(t, "agent")
		kind := rapid.SampledFrom([]Kind{Chat, Cron, Heartbeat, Compaction}).Draw(t, "kind")
		m := rapid.SampledFrom(refs("moonshot/k", "groq/b", opus, primary, "typo/x")).Draw(t, "model")
		s := Selection{Model: m, Source: rapid.SampledFrom([]Source{ByUser, NoSource}).Draw(t, "source")}
		p := Resolve(Ask{Config: c, Agent: agent, Kind: kind}, s, rapid.Bool().Draw(t, "due"))
		if p.ClearWhy == ClearNotPermitted {
			if c.permits(agent, Model{}, m) {
				t.Fatalf("%s is permitted and was dropped", m)
			}
			return
		}
		if chain := Chain(c, p); len(chain) != 1 || chain[0] != m || !p.Strict || p.Persist || p.Probe {
			t.Fatalf("chain %v of plan %s", chain, fmt.Sprintf("%+v", p))
		}
	})
}
