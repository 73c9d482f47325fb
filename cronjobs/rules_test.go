package cronjobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/bot/tools"
	"standin/channels"
	"standin/cronjobs"
	"standin/fallback"
)

// What a job may not be, rule by rule: the fault names the field.
func TestWhatAJobMayNotBe(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	models := &fallback.Config{DefaultAgent: "main", Agents: map[fallback.AgentID]fallback.ModelChoice{"worker": {}}}
	rules := cronjobs.Rules{Fallback: models, Home: time.UTC, Channels: []string{"slack", "console"}, Hosts: []string{"10.0.0.5"}}
	at := func(text, zone string) func(*cronjobs.Job) {
		return func(j *cronjobs.Job) { j.Schedule = cronjobs.Schedule{Kind: cronjobs.KindAt, At: text, Zone: zone} }
	}
	cron := func(expr, zone string) func(*cronjobs.Job) {
		return func(j *cronjobs.Job) { j.Schedule = cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: expr, Zone: zone} }
	}
	to := func(p cronjobs.Place) func(*cronjobs.Job) {
		return func(j *cronjobs.Job) { j.Delivery = &cronjobs.Delivery{Place: p} }
	}
	mainly := func(more func(*cronjobs.Job)) func(*cronjobs.Job) {
		return func(j *cronjobs.Job) {
			j.Target, j.Delivery, j.Payload = cronjobs.Main, nil, cronjobs.Payload{Kind: cronjobs.SystemEvent, Text: "look"}
			more(j)
		}
	}
	for _, c := range []struct {
		says   string
		change func(*cronjobs.Job)
		wrong  string // the field; "": nothing is wrong
	}{
		{"R1: a name", func(j *cronjobs.Job) { j.Name = " " }, "name"},
		{"R2: a kind of schedule", func(j *cronjobs.Job) { j.Schedule.Kind = "sometimes" }, "schedule.kind"},
		{"R2: an interval above zero", func(j *cronjobs.Job) { j.Schedule.EveryMs = -1 }, "schedule.everyMs"},
		{"R2: five or six fields", cron("0 9 * *", ""), "schedule.expr"},
		{"R2: six are taken", cron("30 0 9 * * *", ""), ""},
		{"R3: a session's name without separators", func(j *cronjobs.Job) { j.Target = "session:a/b" }, "sessionTarget"},
		{"R3: nor the other one", func(j *cronjobs.Job) { j.Target = `session:a\b` }, "sessionTarget"},
		{"R3: a name at all", func(j *cronjobs.Job) { j.Target = "session:" }, "sessionTarget"},
		{"R3: a session with a name", func(j *cronjobs.Job) { j.Target = "session:weekly" }, ""},
		{"R4: something to do", func(j *cronjobs.Job) { j.Payload.Message = "\n" }, "payload.message"},
		{"R4: of one kind", func(j *cronjobs.Job) { j.Payload.Text = "x" }, "payload.text"},
		{"R8: main takes events alone", func(j *cronjobs.Job) { j.Target = cronjobs.Main }, "sessionTarget"},
		{"R8: and they are for main alone", mainly(func(j *cronjobs.Job) { j.Target = cronjobs.Isolated }), "payload.kind"},
		{"R8: of course", mainly(func(*cronjobs.Job) {}), ""},
		{"R9: main is the default agent's", mainly(func(j *cronjobs.Job) { j.Agent = "worker" }), "sessionTarget"},
		{"R9: who may be named", mainly(func(j *cronjobs.Job) { j.Agent = "main" }), ""},
		{"an agent of the config", func(j *cronjobs.Job) { j.Agent = "nobody" }, "agentId"},
		{"R10: a webhook's URL", to(cronjobs.Place{Mode: cronjobs.Webhook, To: "ftp://example.org"}), "delivery.to"},
		{"R10: or none", to(cronjobs.Place{Mode: cronjobs.Webhook}), "delivery.to"},
		{"R10: a good one", to(cronjobs.Place{Mode: cronjobs.Webhook, To: "https://example.org/x"}), ""},
		{"R55: none that leads into the house", to(cronjobs.Place{Mode: cronjobs.Webhook, To: "http://192.168.1.1/x"}), "delivery.to"},
		{"R55: nor to this machine", to(cronjobs.Place{Mode: cronjobs.Webhook, To: "http://[::1]:80/x"}), "delivery.to"},
		{"R55: unless it is allowed", to(cronjobs.Place{Mode: cronjobs.Webhook, To: "http://10.0.0.5:8080/x"}), ""},
		{"R10: main posts to no channel", mainly(to(cronjobs.Place{Mode: cronjobs.Announce, Channel: "slack", To: "C1"})), "delivery.mode"},
		{"R10: its failures go to webhooks alone", mainly(func(j *cronjobs.Job) {
			j.Delivery = &cronjobs.Delivery{Place: cronjobs.Place{Mode: cronjobs.None}, Destination: &cronjobs.Place{Mode: cronjobs.Announce, Channel: "slack", To: "C1"}}
		}), "delivery.failureDestination"},
		{"R10: such as", mainly(func(j *cronjobs.Job) {
			j.Delivery = &cronjobs.Delivery{Place: cronjobs.Place{Mode: cronjobs.None}, Destination: &cronjobs.Place{Mode: cronjobs.Webhook, To: "https://example.org"}}
		}), ""},
		{"a channel that there is", to(cronjobs.Place{Mode: cronjobs.Announce, Channel: "irc", To: "x"}), "delivery.channel"},
		{"a place on it", to(cronjobs.Place{Mode: cronjobs.Announce, Channel: "slack"}), "delivery.to"},
		{"R14: a minute ago still counts", at("2026-06-01T11:59:01Z", ""), ""},
		{"R14: more does not", at("2026-06-01T11:58:59Z", ""), "schedule.at"},
		{"R14: nor does more than ten years", at("2036-06-02T12:00:00Z", ""), "schedule.at"},
		{"R14: without a zone it is UTC", at("2026-06-01T11:58", ""), "schedule.at"},
		{"R14: with one it is that zone's", at("2026-06-01T11:58", "America/New_York"), ""},
		{"R14: digits are milliseconds", at("1780315300000", ""), ""},
		{"R14: not seconds", at("1780315300", ""), "schedule.at"},
		{"R15: a zone of the list", cron("0 9 * * *", "Mars/Base"), "schedule.tz"},
		{"R15: not the word local", cron("0 9 * * *", "Local"), "schedule.tz"},
		{"R47: alerts after one failure at the least", func(j *cronjobs.Job) { zero := 0; j.FailureAlert = &cronjobs.FailureAlert{After: &zero} }, "failureAlert.after"},
	} {
		j := task("x", every(time.Hour))
		j.Delivery = nil
		c.change(&j)
		err := rules.Check(j, true, now)
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.HasPrefix(err.Error(), c.wrong+" ")) {
			t.Errorf("%s: %v", c.says, err)
		}
	}
	// R16, cron-23: day and weekday together, in the dialect of another program.
	if err := rules.Check(func() cronjobs.Job { j := task("x", every(time.Hour)); cron("0 9 13 * +5", "")(&j); return j }(), true, now); err == nil || !strings.Contains(err.Error(), `"+"`) {
		t.Errorf("cron-23: %v", err)
	}
}

// The rules of a run and its end, one scene each.
func TestRules(t *testing.T) {
	scene := func(says string, f func(t *testing.T, h *house)) {
		t.Run(says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t)
				f(t, h)
				h.stop()
			})
		})
	}
	scene("R17: an interval counts from its anchor, and keeps to that grid after failures", func(t *testing.T, h *house) {
		h.cfg.Retry.MaxAttempts = 0
		h.start()
		j := task("often", every(10*time.Minute))
		since := time.Now()
		j.Schedule.AnchorMs = cronjobs.At(since.Add(3 * time.Minute))
		j = h.add(j)
		h.fails(fallback.Format)
		h.pass(14 * time.Minute)
		h.answers("fine")
		h.pass(20 * time.Minute)
		if got := begun(h.runs(j.ID), since); !slices.Equal(got, []string{"3m0s", "13m0s", "23m0s", "33m0s"}) {
			t.Errorf("began at %v", got)
		}
	})
	scene("R19: between an end and the next begin lie two seconds", func(t *testing.T, h *house) {
		h.start()
		h.turns.set(func() { h.turns.took = func(bot.Turn) time.Duration { return 1500 * time.Millisecond } })
		for _, s := range []cronjobs.Schedule{every(time.Second), {Kind: cronjobs.KindCron, Expr: "* * * * * *"}} {
			j := h.add(task("second", s))
			h.pass(30 * time.Second)
			runs := h.runs(j.ID)
			for i := 1; i < len(runs); i++ {
				if gap := runs[i].Started.Time().Sub(runs[i-1].Ended.Time()); runs[i-1].Ended != 0 && gap < 2*time.Second {
					t.Errorf("%s: %v between run %d and the next", s.Kind, gap, i)
				}
			}
			if len(runs) < 6 {
				t.Errorf("%s: only %d runs", s.Kind, len(runs))
			}
			if _, err := h.book.Remove(t.Context(), j.ID); err != nil {
				t.Fatal(err)
			}
		}
		h.pass(5 * time.Second)
	})
	scene("R25: a turn has an hour, or what the payload says, and none at 0", func(t *testing.T, h *house) {
		h.start()
		seconds := func(n int) *int { return &n }
		for _, c := range []struct {
			given *int
			want  time.Duration
		}{{nil, time.Hour}, {seconds(90), 90 * time.Second}, {seconds(0), -1}, {seconds(-5), -1}} {
			j := task("bounded", yearly)
			j.Payload.TimeoutSeconds = c.given
			j = h.add(j)
			if _, _, err := h.s.RunNow(t.Context(), j.ID, false); err != nil {
				t.Fatal(err)
			}
			h.pass(time.Second)
			if got := h.turns.asked[len(h.turns.asked)-1].Timeout; got != c.want {
				t.Errorf("bounded by %v, want %v", got, c.want)
			}
		}
	})
	scene("R25: a turn that does not end by itself, or does not get its turn, ends as timeout", func(t *testing.T, h *house) {
		h.start()
		h.turns.set(func() { h.turns.took = func(bot.Turn) time.Duration { return 24 * time.Hour } })
		two := 120
		j := task("hangs", yearly)
		j.Payload.TimeoutSeconds = &two
		j = h.add(j)
		if _, _, err := h.s.RunNow(t.Context(), j.ID, false); err != nil {
			t.Fatal(err)
		}
		h.pass(15 * time.Minute)
		if r := h.runs(j.ID)[0]; r.Status != cronjobs.Failed || r.Reason != "timeout" || time.Duration(r.Took)*time.Millisecond > 13*time.Minute {
			t.Errorf("%+v", r)
		}
	})
	scene("R29, R27: what narrows a run is handed to its turn, and its text says whose it is and when", func(t *testing.T, h *house) {
		h.start()
		j := task("light", yearly)
		j.Payload.LightContext, j.Payload.ToolsAllow = true, []string{"web_fetch"}
		j = h.add(j)
		if _, _, err := h.s.RunNow(t.Context(), j.ID, false); err != nil {
			t.Fatal(err)
		}
		h.pass(time.Second)
		turn := h.turns.asked[0]
		if !turn.Light || !slices.Equal(turn.Tools, []string{"web_fetch"}) || !turn.Fresh || !strings.HasPrefix(turn.Text, "[cron:"+string(j.ID)+" light] do light") || !strings.Contains(turn.Text, "Current time: ") {
			t.Errorf("%+v", turn)
		}
	})
	scene("R34: a model that cannot be read is an error, and nothing is asked in its place", func(t *testing.T, h *house) {
		h.start()
		j := h.add(task("odd", yearly))
		if _, err := h.db.ChangeJob(t.Context(), j.ID, func(j *cronjobs.Job) (cronjobs.Change, error) {
			j.Payload.Model = "openai/"
			return cronjobs.Change{Write: true}, nil
		}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := h.s.RunNow(t.Context(), j.ID, false); err != nil {
			t.Fatal(err)
		}
		h.pass(time.Second)
		if r := h.runs(j.ID)[0]; r.Status != cronjobs.Failed || !strings.Contains(r.Error, "openai/") || len(h.turns.asked) != 0 {
			t.Errorf("%+v", r)
		}
	})
	scene("R41: a skip counts by itself and leaves the count of errors alone; a success clears both", func(t *testing.T, h *house) {
		h.cfg.Retry.MaxAttempts = 0
		h.start()
		j := h.add(task("mixed", every(2*time.Hour)))
		skipped := fallback.Attempt{Model: primary, Reason: fallback.Timeout, Skipped: "local_server"}
		for i, want := range []string{"1 0", "1 1", "1 2", "2 2", "0 0"} {
			h.turns.set(func() {
				h.turns.answer = func(bot.Turn) (string, error) {
					switch i {
					case 0, 3:
						return "", summary(fallback.Format)
					case 4:
						return "fine", nil
					}
					return "", &fallback.SummaryError{Attempts: []fallback.Attempt{skipped}}
				}
			})
			h.pass(2*time.Hour + time.Minute)
			if st := h.job(j.ID).State; fmt.Sprint(st.Errors, st.Skips) != want {
				t.Errorf("after run %d: errors and skips %d %d, want %s", i+1, st.Errors, st.Skips, want)
			}
		}
	})
	for _, c := range []struct {
		reason fallback.Reason
		most   int
		want   int
	}{{fallback.Overloaded, 3, 1}, {fallback.RateLimit, 3, 4}, {fallback.RateLimit, 0, 1}} {
		scene(fmt.Sprintf("R42, R43: with retryOn rate_limit and %d attempts %s is run %d times", c.most, c.reason, c.want), func(t *testing.T, h *house) {
			h.cfg.Retry.On, h.cfg.Retry.MaxAttempts = []string{"rate_limit"}, c.most
			h.start()
			h.fails(c.reason)
			j := h.add(task("once", in(time.Minute)))
			h.pass(time.Hour)
			if n := len(h.runs(j.ID)); n != c.want {
				t.Errorf("%d runs", n)
			}
		})
	}
	scene("R42: a one-shot job that was skipped is switched off and kept", func(t *testing.T, h *house) {
		h.start()
		h.turns.set(func() {
			h.turns.answer = func(bot.Turn) (string, error) {
				return "", &fallback.SummaryError{Attempts: []fallback.Attempt{{Model: primary, Reason: fallback.Timeout, Skipped: "local_server"}}}
			}
		})
		j := h.add(task("once", in(time.Minute)))
		h.pass(time.Hour)
		if got := h.job(j.ID); got.Enabled || got.State.Next != 0 || len(h.runs(j.ID)) != 1 {
			t.Errorf("%+v", got.State)
		}
	})
	scene("R44: a failure that passes is tried again before the next slot, where that is later; else the back-off counts", func(t *testing.T, h *house) {
		h.start()
		h.fails(fallback.Overloaded)
		since := time.Now()
		j := h.add(task("hourly", every(time.Hour)))
		h.pass(2*time.Hour + time.Minute)
		if got := begun(h.runs(j.ID), since); !slices.Equal(got, []string{"1h0m0s", "1h0m30s", "1h1m30s", "1h6m30s", "2h0m0s", "2h0m30s"}) {
			t.Errorf("began at %v", got)
		}
		if !h.job(j.ID).Enabled {
			t.Error("it was switched off [R45]")
		}
	})
	scene("R47: false means none, best effort none, and a success clears the time of the last alert", func(t *testing.T, h *house) {
		h.cfg.Retry.MaxAttempts = 0
		h.start()
		h.fails(fallback.Format)
		off, best, usual := task("off", every(10*time.Minute)), task("best", every(10*time.Minute)), task("usual", every(10*time.Minute))
		off.FailureAlert, best.Delivery.BestEffort = &cronjobs.FailureAlert{Off: true}, true
		off, best, usual = h.add(off), h.add(best), h.add(usual)
		h.pass(25 * time.Minute)
		if said := h.turns.said(); len(said) != 1 || !strings.Contains(said[0], `"usual"`) {
			t.Errorf("said %q", said)
		}
		h.answers("fine")
		h.pass(2 * time.Hour)
		if st := h.job(usual.ID).State; st.LastAlert != 0 || st.Errors != 0 || st.FailingSince != 0 {
			t.Errorf("%+v", st)
		}
		if n := len(h.runs(off.ID)) + len(h.runs(best.ID)); n < 4 {
			t.Errorf("the quiet ones ran %d times in all", n)
		}
	})
	scene("R48: who has just read of a failure is not told of it a second time", func(t *testing.T, h *house) {
		h.cfg.Retry.MaxAttempts = 0
		h.start()
		h.fails(fallback.Format)
		j := task("loud", every(10*time.Minute))
		place := j.Delivery.Place
		j.Delivery.Destination = &place
		h.add(j)
		h.pass(21 * time.Minute)
		if said := h.turns.said(); len(said) != 2 {
			t.Errorf("two failures are told in %d posts: %q", len(said), said)
		}
	})
	scene("R50: what the agent has posted there itself is not posted again; a bare all-is-well is not posted", func(t *testing.T, h *house) {
		h.start()
		h.turns.set(func() { h.turns.sent = []tools.Sent{{To: channels.Address{Channel: "console", Conversation: "room"}}} })
		j := h.add(task("self", yearly))
		_, _, _ = h.s.RunNow(t.Context(), j.ID, false)
		h.pass(time.Second)
		h.turns.set(func() { h.turns.sent = []tools.Sent{{To: channels.Address{Channel: "console", Conversation: "other"}}} })
		k := h.add(task("elsewhere", yearly))
		_, _, _ = h.s.RunNow(t.Context(), k.ID, false)
		h.pass(time.Second)
		h.answers("HEARTBEAT_OK")
		l := h.add(task("well", yearly))
		_, _, _ = h.s.RunNow(t.Context(), l.ID, false)
		h.pass(time.Second)
		if r := h.runs(j.ID)[0]; r.Status != cronjobs.OK || r.Delivery.Status != cronjobs.NotDelivered || !strings.Contains(r.Delivery.Why, "itself") {
			t.Errorf("%+v", r)
		}
		if said := h.turns.said(); !slices.Equal(said, []string{"done"}) {
			t.Errorf("said %q", said)
		}
		if r := h.runs(l.ID)[0]; r.Status != cronjobs.OK || r.Delivery.Status != cronjobs.NotDelivered {
			t.Errorf("%+v", r)
		}
	})
	scene("R52: a retry is the same delivery", func(t *testing.T, h *house) {
		h.start()
		n := 0
		h.turns.set(func() {
			h.turns.answer = func(bot.Turn) (string, error) {
				if n++; n == 1 {
					return "", summary(fallback.Overloaded)
				}
				return "fine", nil
			}
		})
		h.add(task("once", in(time.Minute)))
		h.pass(time.Hour)
		if len(h.turns.asked) != 2 || h.turns.asked[0].ID != h.turns.asked[1].ID {
			t.Errorf("turns %+v", h.turns.asked)
		}
	})
	scene("R63, R64: of the record the newest lines stay, of what was said a day", func(t *testing.T, h *house) {
		h.cfg.KeepLines = 5
		h.start()
		j := h.add(task("often", every(10*time.Minute)))
		h.pass(26 * time.Hour)
		runs := h.runs(j.ID)
		if len(runs) > 7 || time.Since(runs[len(runs)-1].Started.Time()) > 11*time.Minute {
			t.Errorf("%d lines", len(runs))
		}
		session := fallback.SessionID("agent:main:cron:" + string(j.ID))
		first := h.turns.asked[0].ID
		if left, err := h.db.Left(t.Context(), session, first); err != nil || left.Answered {
			t.Errorf("what was said a day ago is there: %+v, %v", left, err)
		}
		if left, err := h.db.Left(t.Context(), session, h.turns.asked[len(h.turns.asked)-1].ID); err != nil || len(left.Posts) == 0 {
			t.Errorf("the last post is gone: %+v, %v", left, err)
		}
	})
}
