package heartbeat_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
	"standin/heartbeat"
)

// beats gives when models were asked since the last look.
func (h *house) beatTimes() (at []time.Time) {
	h.vendors.mu.Lock()
	defer h.vendors.mu.Unlock()
	at = slices.Clone(h.vendors.times)
	h.vendors.calls, h.vendors.times = nil, nil
	return at
}

// A week over the change of the clocks: every slot of the active hours has one
// beat, no other moment has any, compared with a reckoning of its own that
// walks minute by minute on the wall's clock [H3, H11].
func TestAWeekOfBeatsOverTheChangeOfTheClocks(t *testing.T) {
	for _, k := range []struct {
		name, zone, start, end string
		from                   time.Time
		every                  time.Duration
	}{
		{"the hour that is missing in Berlin", "Europe/Berlin", "22:00", "06:00", time.Date(2026, 3, 26, 0, 0, 0, 0, time.UTC), 30 * time.Minute},
		{"the hour that comes twice in Berlin", "Europe/Berlin", "22:00", "06:00", time.Date(2026, 10, 22, 0, 0, 0, 0, time.UTC), 30 * time.Minute},
		{"the hour that is missing in New York", "America/New_York", "02:15", "03:15", time.Date(2026, 3, 6, 0, 0, 0, 0, time.UTC), 7 * time.Minute},
		{"the hour that comes twice in New York", "America/New_York", "01:00", "02:00", time.Date(2026, 10, 29, 0, 0, 0, 0, time.UTC), 10 * time.Minute},
		{"half an hour that comes twice on Lord Howe", "Australia/Lord_Howe", "01:30", "24:00", time.Date(2026, 4, 2, 0, 0, 0, 0, time.UTC), 45 * time.Minute},
		{"all day", "UTC", "00:00", "24:00", time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), 3 * time.Hour},
	} {
		t.Run(k.name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				zone, err := time.LoadLocation(k.zone)
				if err != nil {
					t.Fatal(err)
				}
				start, _ := heartbeat.ParseClock(k.start)
				end, _ := heartbeat.ParseClock(k.end)
				h.set(func(c *heartbeat.Config) {
					c.Every, c.Hours = k.every, heartbeat.Hours{Set: true, Start: start, End: end, Zone: zone}
				})
				time.Sleep(time.Until(k.from))
				h.begin(true)
				seed, err := h.db.HeartbeatSeed(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				h.pass(7*24*time.Hour + time.Second)

				phase := heartbeat.Phase(seed, "main", k.every)
				var want []time.Time
				for slot := k.from.Truncate(k.every).Add(phase - 2*k.every); !slot.After(k.from.Add(7 * 24 * time.Hour)); slot = slot.Add(k.every) {
					// Truncate counts from the year 1; the grid counts from 1970.
					at := time.UnixMilli(0).Add(slot.Sub(time.UnixMilli(0)).Truncate(k.every)).Add(phase)
					if !at.After(k.from) || at.After(k.from.Add(7*24*time.Hour)) {
						continue
					}
					local := at.In(zone)
					now := fmt.Sprintf("%02d:%02d", local.Hour(), local.Minute())
					in := now >= k.start && now < k.end
					if k.start > k.end {
						in = now >= k.start || now < k.end
					}
					if in && (len(want) == 0 || !want[len(want)-1].Equal(at)) {
						want = append(want, at)
					}
				}
				got := h.beatTimes()
				if len(got) == 0 || len(got) != len(want) {
					t.Fatalf("%d beats, want %d", len(got), len(want))
				}
				for i := range got {
					if d := got[i].Sub(want[i]); d < 0 || d > time.Second {
						t.Fatalf("beat %d at %s, want %s", i, got[i], want[i])
					}
				}
				t.Logf("%d beats", len(got))
			})
		})
	}
}

// "Given next tick in 20 min; when config is reloaded 5 times; then no tick
// occurs before" [IL-221, H3]; another interval is another schedule.
func TestAReloadKeepsTheSchedule(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(true)
		due := h.beats.Due("main")
		if until := time.Until(due); until <= 0 || until > 30*time.Minute {
			t.Fatalf("the first is due in %s", until)
		}
		step := time.Until(due) / 6
		for i := range 5 {
			h.pass(step)
			h.set(func(c *heartbeat.Config) { c.Prompt = fmt.Sprint("HEARTBEAT_OK or what? ", i) })
			synctest.Wait()
		}
		if got := h.beatTimes(); len(got) != 0 || !h.beats.Due("main").Equal(due) {
			t.Errorf("beats at %v, and the next is due at %s instead of %s", got, h.beats.Due("main"), due)
		}
		h.pass(time.Until(due) + time.Second)
		if got := h.beatTimes(); len(got) != 1 {
			t.Errorf("beats at %v", got)
		}
		h.set(func(c *heartbeat.Config) { c.Every = 0 })
		h.pass(24 * time.Hour)
		if got := h.beatTimes(); len(got) != 0 {
			t.Errorf("it is off and beats at %v", got)
		}
		h.set(func(c *heartbeat.Config) { c.Every = time.Hour })
		h.pass(2*time.Hour + time.Minute)
		if got := h.beatTimes(); len(got) != 2 {
			t.Errorf("every hour it beats at %v", got)
		}
	})
}

// "Given heartbeat:{} ; then no heartbeat" [IL-109, D19].
func TestWithoutAnIntervalNothingBeats(t *testing.T) {
	inHouse(t, func(h *house) {
		h.set(func(c *heartbeat.Config) { *c = heartbeat.Defaults() })
		h.begin(true)
		h.pass(48 * time.Hour)
		if got := h.beatTimes(); len(got) != 0 || !h.beats.Due("main").IsZero() {
			t.Errorf("it beats at %v", got)
		}
	})
}

// "Busy skips retry after 1 s without moving the schedule" [H12, heartbeat-11].
func TestABusySessionComesFirst(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(true)
		due := h.beats.Due("main")
		h.vendors.then(primary, answer{text: "a long answer", took: 10*time.Second + 500*time.Millisecond})
		h.pass(time.Until(due) - 3*time.Second)
		var saying sync.WaitGroup
		saying.Go(func() { h.say("hello") })
		h.pass(8 * time.Second)
		if got := h.beatTimes(); len(got) != 1 {
			t.Errorf("while the session is busy models are asked at %v", got)
		}
		saying.Wait()
		h.pass(5 * time.Second)
		got := h.beatTimes()
		if len(got) != 1 {
			t.Fatalf("after the answer models are asked at %v", got)
		}
		if late := got[0].Sub(due); late < 7*time.Second || late > 9*time.Second {
			t.Errorf("the beat is %s late; the answer took 7.5 s of its time", late)
		}
		if next := h.beats.Due("main"); !next.Equal(due.Add(30 * time.Minute)) {
			t.Errorf("the next is due at %s, want %s", next, due.Add(30*time.Minute))
		}
	})
}

// Five wakes in 200 ms are one run [H13, heartbeat-14]; twenty in ten seconds
// with a spacing of a minute are one now and one after it [IL-085].
func TestWakesComeTogether(t *testing.T) {
	inHouse(t, func(h *house) {
		h.set(func(c *heartbeat.Config) { c.Every, c.Spacing = 0, time.Minute })
		h.begin(true)
		h.say("hello")
		h.beatTimes()
		for i := range 5 {
			h.note(fmt.Sprintf("cron:%d", i), "it is done")
			h.beats.Wake("main", heartbeat.Cron)
			h.pass(40 * time.Millisecond)
		}
		h.pass(time.Second)
		if got := h.beatTimes(); len(got) != 1 {
			t.Errorf("five wakes: %v", got)
		}
		h.pass(time.Hour)
		began := time.Now()
		for i := range 20 {
			h.note(fmt.Sprintf("wake:%d", i), "it is done")
			h.beats.Wake("main", heartbeat.Event)
			h.pass(500 * time.Millisecond)
		}
		h.pass(5 * time.Minute)
		got := h.beatTimes()
		if len(got) != 2 || got[0].Sub(began) > time.Second || got[1].Sub(got[0]) < time.Minute || got[1].Sub(got[0]) > 62*time.Second {
			t.Errorf("twenty wakes: %v", got)
		}
	})
}

// "Flood guard 5 runs per 60 s; manual never deferred" [H13].
func TestAFloodIsHeldBack(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(false)
		for i := range 8 {
			h.note(fmt.Sprintf("cron:%d", i), "it is done")
			rep := h.beatFor(heartbeat.Cron)
			if flood := i >= 5; flood != (rep.Why == heartbeat.WhyFlood) {
				t.Errorf("run %d: %+v", i+1, rep)
			}
			h.pass(time.Second)
		}
		if rep := h.beatFor(heartbeat.Manual); rep.Status != heartbeat.Ran {
			t.Errorf("a person's: %+v", rep)
		}
	})
}

// A wake is told what happened, in a question of its own, with and without an
// isolated session; HEARTBEAT.md does not matter to it [H10, R26].
func TestAWakeTellsWhatHappened(t *testing.T) {
	for _, isolated := range []bool{false, true} {
		t.Run(fmt.Sprint("isolated ", isolated), func(t *testing.T) {
			inHouse(t, func(h *house) {
				h.set(func(c *heartbeat.Config) { c.Isolated = isolated })
				h.files.write("# nothing\n")
				h.begin(false)
				h.say("hello")
				h.posted()
				h.note("cron:report", "the report is ready")
				h.vendors.then(primary, answer{text: "Your report is ready."})
				if rep := h.beatFor(heartbeat.Cron); rep.Status != heartbeat.Ran || rep.Why != heartbeat.WhyPosted {
					t.Fatalf("%+v", rep)
				}
				c := h.vendors.last()
				text := c.Messages[len(c.Messages)-1].Text
				if !strings.Contains(text, "the report is ready") || !strings.Contains(text, "Something has happened") {
					t.Errorf("the question is %q", text)
				}
				if got := h.posted(); len(got) != 1 || got[0] != "reply: Your report is ready." {
					t.Errorf("posted %q", got)
				}
				if waiting, _ := h.db.Noted(context.Background(), mainSession); len(waiting) != 0 {
					t.Errorf("it waits on: %+v", waiting)
				}
				if rep := h.beatFor(heartbeat.Cron); rep.Why != heartbeat.WhyTaken {
					t.Errorf("a second wake: %+v", rep)
				}
			})
		})
	}
}

// "Given a one-shot job and a heartbeat due at the same millisecond for one
// session; then two runs happen in order and the job's text is in its own
// prompt" [IL-301].
func TestAJobAndABeatAtTheSameMoment(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(true)
		h.say("hello")
		h.vendors.asked()
		h.pass(time.Until(h.beats.Due("main")))
		h.note("cron:report", "the report is ready")
		h.beats.Wake("main", heartbeat.Cron)
		h.pass(2 * time.Minute)
		var texts []string
		for _, c := range h.vendors.calls {
			texts = append(texts, c.Messages[len(c.Messages)-1].Text)
		}
		told := 0
		for _, text := range texts {
			if strings.Contains(text, "the report is ready") {
				told++
				if !strings.Contains(text, "Something has happened") {
					t.Errorf("the job's text is in another question: %q", text)
				}
			}
		}
		if len(texts) != 2 || told != 1 {
			t.Errorf("%d runs, %d of them the job's: %q", len(texts), told, texts)
		}
	})
}

// What is left for the next beat is told by it, before the usual one and
// whatever HEARTBEAT.md says [R26: next-heartbeat].
func TestWhatIsLeftForTheNextBeat(t *testing.T) {
	for text, runs := range map[string]int{"Look around.": 2, "# nothing\n": 1} {
		inHouse(t, func(h *house) {
			h.files.write(text)
			h.begin(true)
			h.note("wake:1", "the report is ready")
			h.pass(time.Until(h.beats.Due("main")) + 5*time.Second)
			asked := h.vendors.calls
			if len(asked) != runs || !strings.Contains(asked[0].Messages[0].Text, "the report is ready") {
				t.Errorf("%q: asked %d times", text, len(asked))
			}
			h.vendors.asked()
			h.pass(time.Until(h.beats.Due("main")) + 5*time.Second)
			if got := len(h.vendors.asked()); got != runs-1 {
				t.Errorf("%q: the one after asks %d times", text, got)
			}
		})
	}
}

// A model that may not be paid for is passed over, with its reason; when none is
// left the beat is, and no room hears of its operator's limits [D20, IL-220].
func TestABudgetPassesAModelOver(t *testing.T) {
	inHouse(t, func(h *house) {
		f := h.cfg.Fallback
		f.Facts = map[fallback.Model]provider.Facts{first: {Price: provider.Price{Priced: true}}}
		f.Budgets = []fallback.Cap{{Name: "heartbeats", Kinds: []fallback.Kind{fallback.Heartbeat}, NoPaid: true}}
		h.begin(false)
		h.engine.Ledger = h.db
		if rep := h.beat(); rep.Model != first {
			t.Errorf("%+v", rep)
		}
		h.expect("the beat", nil, names(first))
		h.set(func(c *heartbeat.Config) { c.Listed = true })
		rep := h.beat()
		if rep.Status != heartbeat.Skipped || rep.Why != heartbeat.WhyBudget || !strings.Contains(rep.Detail, "budget") {
			t.Errorf("%+v", rep)
		}
		if got := h.posted(); len(got) != 0 {
			t.Errorf("posted %q", got)
		}
	})
}

// A trial shows what a beat would say and changes nothing: no post, no
// transcript, no event taken, no row, no slot [IL-196].
func TestATrialChangesNothing(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(true)
		h.say("hello")
		h.posted()
		h.note("cron:report", "the report is ready")
		due, row, session := h.beats.Due("main"), h.row(), h.session()
		h.vendors.then(primary, answer{text: "Your report is ready."})
		rep := h.beatFor(heartbeat.Trial)
		if rep.Status != heartbeat.Ran || rep.Text != "Your report is ready." || rep.Posted != "" {
			t.Errorf("%+v", rep)
		}
		waiting, _ := h.db.Noted(context.Background(), mainSession)
		if got := h.posted(); len(got) != 0 || len(waiting) != 1 || h.session() != session || !h.beats.Due("main").Equal(due) || h.row().Status != row.Status {
			t.Errorf("posted %q, %d events wait, the session is %+v, the next is due %s, the row is %+v", got, len(waiting), h.session(), h.beats.Due("main"), h.row())
		}
	})
}

// A job's text is answered where the agent was last spoken to, whatever the
// target says [R26].
func TestAJobsTextIsAnsweredWhereTheAgentIs(t *testing.T) {
	inHouse(t, func(h *house) {
		h.set(func(c *heartbeat.Config) { c.Target = heartbeat.TargetNone })
		h.begin(false)
		h.say("hello")
		h.posted()
		h.note("cron:report", "the report is ready")
		h.vendors.then(primary, answer{text: "Your report is ready."})
		if rep := h.beatFor(heartbeat.Cron); rep.Why != heartbeat.WhyPosted {
			t.Errorf("%+v", rep)
		}
		if got := h.posted(); len(got) != 1 {
			t.Errorf("posted %q", got)
		}
	})
}

// A chain that rests as a whole is waited for: no beat fails at each interval,
// and the first one comes when the first model may be asked again.
func TestARestingChainIsWaitedFor(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(true)
		h.say("hello")
		h.posted()
		h.beatTimes()
		for _, m := range []fallback.Model{primary, first, second} {
			id := fallback.ProfileID(m.Provider + ":default")
			_, _, err := h.engine.Credentials.Update(context.Background(), "main", id, func(u fallback.Usage) fallback.Usage {
				u.Disabled = fallback.Window{Until: time.Now().Add(5*time.Hour + time.Duration(len(m.Provider))*time.Minute), Reason: fallback.Billing}
				return u
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		h.pass(4 * time.Hour)
		row := h.row()
		if got := h.beatTimes(); len(got) != 0 || row.Status != heartbeat.Skipped || row.Why != heartbeat.WhyCooling {
			t.Errorf("models are asked at %v, and the row is %+v", got, row)
		}
		soonest := began.Add(5*time.Hour + 6*time.Minute) // openai, google
		if !row.Due.Equal(soonest) {
			t.Errorf("the next is due at %s, want %s", row.Due, soonest)
		}
		h.pass(time.Until(soonest) + 2*time.Second)
		if got := h.beatTimes(); len(got) != 1 || got[0].Sub(soonest) > time.Second {
			t.Errorf("models are asked at %v, want %s", got, soonest)
		}
		if got := h.posted(); len(got) != 0 {
			t.Errorf("told %q", got)
		}
	})
}

// "Given heartbeat.idleAfter=7d and a session idle for 8 d; then no model call; a
// new user message resumes it" [IL-161].
func TestNobodyIsLookedAfterWhoHasGone(t *testing.T) {
	inHouse(t, func(h *house) {
		h.set(func(c *heartbeat.Config) { c.Every, c.IdleAfter = time.Hour, 7*24*time.Hour })
		h.begin(true)
		h.say("hello")
		h.beatTimes()
		h.pass(8 * 24 * time.Hour)
		if got := h.beatTimes(); len(got) != 7*24 && len(got) != 7*24-1 {
			t.Errorf("%d beats in eight days, want those of seven", len(got))
		}
		if row := h.row(); row.Why != heartbeat.WhyIdle {
			t.Errorf("the row is %+v", row)
		}
		h.say("I am back")
		h.beatTimes()
		h.pass(2 * time.Hour)
		if got := h.beatTimes(); len(got) != 2 {
			t.Errorf("after a message: %v", got)
		}
	})
}

// Switched off by hand it rests, on a running daemon too; a person's own run is
// made all the same [H12, H23].
func TestSwitchedOffByHand(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(true)
		if err := h.db.SwitchHeartbeat(context.Background(), "main", true); err != nil {
			t.Fatal(err)
		}
		h.pass(2 * time.Hour)
		if got := h.beatTimes(); len(got) != 0 || h.row().Why != heartbeat.WhyOff || !h.row().Off {
			t.Errorf("it beats at %v, and the row is %+v", got, h.row())
		}
		if rep := h.beatFor(heartbeat.Manual); rep.Status != heartbeat.Ran {
			t.Errorf("%+v", rep)
		}
		if err := h.db.SwitchHeartbeat(context.Background(), "main", false); err != nil {
			t.Fatal(err)
		}
		h.beatTimes()
		h.pass(2 * time.Hour)
		if got := h.beatTimes(); len(got) != 4 {
			t.Errorf("switched on again it beats at %v", got)
		}
	})
}

// Agents do not beat together, and each has its own row [H3].
func TestAgentsBeatByTurns(t *testing.T) {
	inHouse(t, func(h *house) {
		c := h.s.Of["main"]
		c.Every = time.Hour
		h.s.Agents = []fallback.AgentID{"main", "ops", "sales"}
		h.s.Of = map[fallback.AgentID]heartbeat.Config{"main": c, "ops": c, "sales": c}
		h.begin(true)
		h.pass(24 * time.Hour)
		at := h.beatTimes()
		if len(at) != 72 {
			t.Errorf("%d beats of three agents in a day, want 72", len(at))
		}
		for i := 1; i < len(at); i++ {
			if at[i].Equal(at[i-1]) {
				t.Errorf("two beats at %s", at[i])
			}
		}
	})
}

// dying is a bot that dies around the end of a turn, as a process does.
type dying struct {
	*bot.Bot
	rows *rows
	when string
}

// Turn implements heartbeat.Bot.
func (d *dying) Turn(ctx context.Context, t bot.Turn) (bot.Result, error) {
	switch d.when {
	case "before the answer":
		d.rows.dead = true
		return bot.Result{}, bot.ErrShutdown
	case "after the post was written":
		res, err := d.Bot.Turn(ctx, t)
		d.rows.dead = true
		return res, err
	}
	return d.Bot.Turn(ctx, t)
}

// A crash between a beat's answer and its row: what it said stands in the room
// once, its tasks are done, and a beat that never came so far runs again under
// its own id [I2, R52].
func TestACrashAroundABeatPostsOnce(t *testing.T) {
	for _, when := range []string{"before the answer", "after the post was written"} {
		t.Run(when, func(t *testing.T) {
			inHouse(t, func(h *house) {
				h.files.write("tasks:\n- name: mail\n  interval: 6h\n  prompt: Look for mail, or say HEARTBEAT_OK.\n")
				h.begin(false)
				h.say("hello")
				h.posted()
				h.vendors.asked()
				h.vendors.from(primary, answer{text: "You have mail."})
				h.beats.Bot = &dying{Bot: h.bot, rows: h.rows, when: when}
				h.beats.Beat(context.Background(), "main", heartbeat.Interval)
				h.settle()
				if row := h.row(); row.Turn == "" {
					t.Fatalf("the crash left %+v", row)
				}
				h.close()

				h.pass(time.Minute)
				h.begin(true)
				h.pass(10 * time.Second)
				if got := h.posted(); len(got) != 1 || got[0] != "reply: You have mail." {
					t.Errorf("posted %q", got)
				}
				row := h.row()
				if row.Turn != "" || row.Why != heartbeat.WhyPosted || row.Text == "" || row.Tasks["mail"].IsZero() {
					t.Errorf("the row is %+v", row)
				}
				asked := 1
				if got := len(h.vendors.asked()); got != asked {
					t.Errorf("%d requests, want %d", got, asked)
				}
				// What was said counts for what is said next.
				h.pass(6 * time.Hour)
				if got := h.posted(); len(got) != 0 {
					t.Errorf("said again: %q", got)
				}
			})
		})
	}
}

// A daemon that stops while a beat runs takes it up again.
func TestAStopDuringABeat(t *testing.T) {
	inHouse(t, func(h *house) {
		h.cfg.DrainTimeout = time.Second
		h.begin(true)
		h.say("hello")
		h.posted()
		h.vendors.then(primary, answer{text: "never seen", took: time.Hour}, answer{text: "You have mail."})
		h.pass(time.Until(h.beats.Due("main")) + time.Second)
		h.close()
		h.begin(true)
		h.pass(10 * time.Second)
		if got := h.posted(); len(got) != 1 || got[0] != "reply: You have mail." {
			t.Errorf("posted %q", got)
		}
	})
}

// An answer that waits for its sending keeps a beat back, for half a minute at
// most [H12].
func TestAnAnswerThatIsNotSentYet(t *testing.T) {
	inHouse(t, func(h *house) {
		h.begin(false)
		h.say("hello")
		h.posted()
		h.room.Refuse(100, channels.NotSent)
		err := h.bot.Post(context.Background(), channels.Outbound{ID: "p1", To: channels.Address{Channel: "room", Conversation: "dm"}, Kind: channels.Reply, Text: "late"})
		if err != nil {
			t.Fatal(err)
		}
		h.pass(time.Second)
		if rep := h.beats.Beat(context.Background(), "main", heartbeat.Interval); rep.Why != heartbeat.WhyBusy {
			t.Errorf("%+v", rep)
		}
		h.pass(30 * time.Second)
		if rep := h.beats.Beat(context.Background(), "main", heartbeat.Interval); rep.Status != heartbeat.Ran {
			t.Errorf("%+v", rep)
		}
	})
}
