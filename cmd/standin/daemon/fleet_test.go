package daemon

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"standin/channels"
	"standin/channels/slack"
	"standin/cmd/standin/config"
)

// cable is an account's channel of which only the connection matters.
type cable struct {
	name string
	fail error // ends Run at once
	slow bool  // is not connected yet

	mu   sync.Mutex
	runs int
	sent int
}

func (l *cable) Name() string { return l.name }

func (l *cable) Run(ctx context.Context, _ channels.Receiver) error {
	l.mu.Lock()
	l.runs++
	l.mu.Unlock()
	if l.fail != nil {
		return l.fail
	}
	<-ctx.Done()
	return ctx.Err()
}

func (l *cable) Send(context.Context, channels.Outbound) (channels.Receipt, error) {
	l.sent++
	return channels.Receipt{MessageID: l.name}, nil
}

func (l *cable) Health() channels.Health {
	if l.slow {
		return channels.Health{State: channels.Connecting}
	}
	return channels.Health{State: channels.Ready}
}

// harbour is a fleet whose accounts are cables.
type harbour struct {
	*fleet
	lines map[string][]*cable // every one ever made, by place
	fails map[string]error    // what the next line of a place ends with
	log   *bytes.Buffer
	end   context.CancelFunc
	done  chan error
}

func (h *harbour) set(t *testing.T, accounts ...config.Account) {
	h.lines, h.log, h.done = map[string][]*cable{}, &bytes.Buffer{}, make(chan error, 1)
	h.fleet = newFleet(slog.New(slog.NewTextHandler(h.log, nil)), time.Now, nil, accounts, func(a config.Account) (channels.Channel, error) {
		if len(a.Faults) > 0 {
			return nil, errors.New(strings.Join(a.Faults, "; "))
		}
		l := &cable{name: a.Place.String(), fail: h.fails[a.Place.String()]}
		h.lines[l.name] = append(h.lines[l.name], l)
		return l, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	h.end = cancel
	go func() { h.done <- h.run(ctx, nil) }()
	synctest.Wait()
}

// runs counts the runs of every line that a place ever had.
func (h *harbour) runs(name string) (n int) {
	for _, l := range h.lines[name] {
		n += l.runs
	}
	return n
}

func (h *harbour) ended() bool {
	synctest.Wait()
	return len(h.done) > 0
}

var (
	mine = config.Account{Place: config.Place{Channel: "slack", Account: ""}, Slack: slack.Defaults()}
	work = config.Account{Place: config.Place{Channel: "slack", Account: "work"}, Slack: slack.Defaults()}
)

// with changes what an account is connected with.
func with(a config.Account, limit int) config.Account {
	a.Slack.TextChunkLimit = limit
	return a
}

// "Hot: channels (restart of that channel)" [G8].
func TestApplyConnectsAnewOnlyWhatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h harbour
		h.set(t, mine, work)
		changed := with(work, 500)
		changed.Surface.AllowFrom = []string{"U1"}
		h.apply([]config.Account{mine, changed})
		synctest.Wait()
		if h.runs("slack") != 1 || h.runs("slack/work") != 2 {
			t.Errorf("slack ran %d times, slack/work %d", h.runs("slack"), h.runs("slack/work"))
		}
		onlyRule := changed
		onlyRule.Surface.AllowFrom = nil
		h.apply([]config.Account{mine, onlyRule})
		if synctest.Wait(); h.runs("slack/work") != 2 {
			t.Error("a rule made a new connection")
		}
		h.end()
		if err := <-h.done; err != nil {
			t.Error(err)
		}
	})
}

// An account that cannot be used is told once, with its mend, and the others
// run; mended by a reload it runs too.
func TestAnAccountThatCannotBeUsedLeavesTheOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := harbour{fails: map[string]error{"slack/work": &slack.Fatal{Code: "invalid_auth", Mend: "copy it again"}}}
		broken := mine
		broken.Faults = []string{"botToken is missing: set it"}
		h.set(t, broken, work, config.Account{Place: config.Place{Channel: "slack", Account: "third"}})
		if h.ended() {
			t.Fatal("one that runs is enough")
		}
		all := h.standings()
		if all[0].State != channels.Down || all[0].Reason != "botToken is missing: set it" || all[2].State != channels.Down || all[2].Mend != "copy it again" || all[1].State != channels.Ready {
			t.Errorf("%+v", all)
		}
		if n := strings.Count(h.log.String(), "level=ERROR"); n != 1 { // the refusal was told by the adapter
			t.Errorf("told %d times:\n%s", n, h.log)
		}
		delete(h.fails, "slack/work")
		h.apply([]config.Account{mine, with(work, 500), {Place: config.Place{Channel: "slack", Account: "third"}}})
		synctest.Wait()
		for _, s := range h.standings() {
			if s.State != channels.Ready {
				t.Errorf("after the mend %s is %+v", s.Place, s.Health)
			}
		}
		h.end()
		<-h.done
	})
}

// The last channel that cannot go on takes the daemon down with its name; a
// reload that leaves none makes it wait for the next one.
func TestWhatEndsTheDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := harbour{fails: map[string]error{"slack": errors.New("no more")}}
		h.set(t, mine)
		if !h.ended() {
			t.Fatal("nothing runs, and the daemon goes on")
		}
		if err := <-h.done; err == nil || err.Error() != "channel slack: no more" {
			t.Errorf("it ended with %v", err)
		}

		var waiting harbour
		waiting.set(t, mine)
		waiting.apply(nil)
		waiting.apply(nil)
		if waiting.ended() {
			t.Fatal("a reload ended the daemon")
		}
		waiting.apply([]config.Account{mine})
		if synctest.Wait(); waiting.runs("slack") != 2 {
			t.Error("the channel that came back does not run")
		}
		waiting.apply(nil)
		waiting.end()
		if err := <-waiting.done; err != nil {
			t.Error(err)
		}
	})
}

// What is owed to an account goes through it, waits for one that cannot be used,
// and is refused where the config has none.
func TestPortSendsThroughTheAccountOfTheAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h harbour
		broken := work
		broken.Faults = []string{"botToken is missing"}
		h.set(t, mine, broken)
		p := port{name: "slack", fleet: h.fleet}
		for account, want := range map[string]channels.Outcome{"": "", "work": channels.NotSent, "gone": channels.Refused} {
			_, err := p.Send(t.Context(), channels.Outbound{To: channels.Address{Channel: "slack", Account: account}})
			if got := channels.OutcomeOf(err); got != want {
				t.Errorf("account %q: %q (%v), want %q", account, got, err, want)
			}
		}
		if h.lines["slack"][0].sent != 1 {
			t.Error("the message did not go through its account")
		}
		if d := p.Draft(t.Context(), channels.Address{Channel: "slack", Account: "work"}, "", nil); d != nil {
			t.Error("a draft where there is no channel")
		}
		h.end()
		<-h.done
	})
}

// "/readyz 503 until start-up channels settle" [G23]: not before they were even
// begun, and not again because one of them is lost later.
func TestUpIsOnceEveryChannelHasSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &cable{name: "slack", slow: true}
		a := &App{fleet: newFleet(slog.New(slog.DiscardHandler), time.Now, nil, []config.Account{mine}, func(config.Account) (channels.Channel, error) { return l, nil })}
		want := func(when string, up bool) {
			t.Helper()
			if a.isUp() != up {
				t.Errorf("%s: up is %t", when, !up)
			}
		}
		l.slow = false
		want("before run", false)
		l.slow = true
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- a.fleet.run(ctx, nil) }()
		synctest.Wait()
		want("while it connects", false)
		l.slow = false
		want("once it is ready", true)
		l.slow = true
		want("when it is lost later", true)
		cancel()
		<-done
	})
}

// Where no account is named and the channel has none of its own, the default
// account is meant [G14].
func TestTheDefaultAccountStandsForTheChannels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h harbour
		h.set(t, work)
		if _, known, _ := h.at(config.Place{Channel: "slack"}); known {
			t.Error("an account that nobody named is meant")
		}
		h.defaults = func(channel string) string { return map[string]string{"slack": "work"}[channel] }
		if ch, known, err := h.at(config.Place{Channel: "slack"}); !known || err != nil || ch != channels.Channel(h.lines["slack/work"][0]) {
			t.Errorf("%v, %v, %v", ch, known, err)
		}
		h.end()
		<-h.done
	})
}
