package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"standin/bot"
	"standin/channels"
	"standin/channels/channeltest"
	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/fallback"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

// The scenarios are testdata/scenario/*.txtar: the whole daemon as serve wires
// it, over a real SQLite file and the vendors' real SDKs. Only the vendors' far
// end and the room are doubles, and time is a bubble's: `advance 5m` takes none.
//
//	start                     wire and start the daemon on config.yaml
//	vendor MODEL act…         what the model does with its next calls (see act)
//	always MODEL act          what it does with all later ones
//	say TEXT                  a message in the direct chat, dealt with when the line ends
//	post TEXT                 a message whose turn is still running when the line ends
//	turn KIND MODEL…          a heartbeat or a job: on MODEL if it is not "-", with exactly
//	                          the others behind it, "none" for no other
//	room KIND TEXT            the next message in the room; ~TEXT is a regular expression
//	quiet                     nothing more was posted
//	asked [MODEL…]            the calls to vendors since the last such line
//	row free|SOURCE MODEL     the stored selection, and "pending" with a live switch to come
//	pin none|SOURCE PROFILE   the session's credential
//	errors PROFILE N          the failures that count against a credential
//	advance DURATION          time passes
//	restart                   the process ends and starts again on the same files
func TestScenarios(t *testing.T) {
	testscript.RunT(bubble{t}, testscript.Params{
		Dir:   "testdata/scenario",
		Cmds:  scenarioCommands(),
		Setup: setUpHouse,
	})
}

func setUpHouse(e *testscript.Env) error {
	e.Values[houseKey{}] = &house{dir: e.WorkDir, vendors: &providertest.Vendor{}}
	return nil
}

// bubble gives each script its own clock.
type bubble struct{ *testing.T }

func (t bubble) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(bubble{t}) })
	})
}
func (bubble) Parallel()     {}
func (bubble) Verbose() bool { return testing.Verbose() }

type houseKey struct{}

// house is the daemon of one script.
type house struct {
	dir     string
	vendors *providertest.Vendor
	app     *daemon.App
	room    *channeltest.Room
	stop    context.CancelFunc
	done    chan error
	read    int // posts that room lines have consumed
	counted int // calls that asked lines have consumed
	said    int // messages, whose ids are unique over restarts
	before  fallback.Selection
}

func scenarioCommands() map[string]func(*testscript.TestScript, bool, []string) {
	commands := map[string]func(*house, *testscript.TestScript, []string){
		"start":   (*house).scriptStart,
		"vendor":  (*house).scriptVendor,
		"always":  (*house).scriptAlways,
		"say":     (*house).scriptSay,
		"post":    (*house).scriptPost,
		"turn":    (*house).scriptTurn,
		"room":    (*house).scriptRoom,
		"quiet":   (*house).scriptQuiet,
		"asked":   (*house).scriptAsked,
		"row":     (*house).scriptRow,
		"pin":     (*house).scriptPin,
		"errors":  (*house).scriptErrors,
		"advance": (*house).scriptAdvance,
		"restart": (*house).scriptRestart,
	}
	maps.Copy(commands, crowdCommands())
	maps.Copy(commands, policyCommands())
	out := map[string]func(*testscript.TestScript, bool, []string){}
	for name, run := range commands {
		out[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("%s has no negation", name)
			}
			run(ts.Value(houseKey{}).(*house), ts, args)
		}
	}
	return out
}

func (h *house) scriptStart(ts *testscript.TestScript, _ []string) {
	conf, faults := config.Parse("config.yaml", []byte(ts.ReadFile("config.yaml")), ts.Getenv, h.dir)
	if conf == nil {
		ts.Fatalf("config: %v", faults)
	}
	h.room = channeltest.NewRoom("room")
	h.read = 0
	log := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(context.Background())
	a, err := daemon.New(ctx, daemon.Parts{
		State: h.dir, Config: conf, Channels: []channels.Channel{h.room},
		Vendors: provider.New(provider.Options{Transport: h.vendors, Log: log}),
		Log:     log, Now: time.Now, Sleep: daemon.Sleep,
	})
	ts.Check(err)
	h.app, h.stop, h.done = a, cancel, make(chan error, 1)
	go func() { h.done <- a.Run(ctx) }()
	ts.Defer(h.end)
	synctest.Wait()
}

// end stops the daemon, if it runs.
func (h *house) end() {
	if h.app == nil {
		return
	}
	h.stop()
	if err := <-h.done; err != nil {
		panic(fmt.Sprintf("the daemon did not end well: %v", err))
	}
	h.app = nil
}

func (h *house) scriptRestart(ts *testscript.TestScript, _ []string) {
	h.end()
	h.scriptStart(ts, nil)
}

func (h *house) scriptAdvance(ts *testscript.TestScript, args []string) {
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	time.Sleep(d)
	synctest.Wait()
}

func (h *house) scriptVendor(ts *testscript.TestScript, args []string) {
	var acts []providertest.Act
	for _, a := range args[1:] {
		acts = append(acts, act(ts, a))
	}
	h.vendors.On(providertest.When{Model: args[0]}, acts...)
}

func (h *house) scriptAlways(ts *testscript.TestScript, args []string) {
	h.vendors.Always(providertest.When{Model: args[0]}, act(ts, args[1]))
}

// act reads one act: ok, ok:TEXT, empty, hang, reset, refused, dns, tls,
// break:TEXT, stall:TEXT, slow:TEXT (5 s before each word),
// fault:TYPE (an error event inside the stream), or
// STATUS[+HEADER=VALUE…][:TEXT], where a TEXT that is JSON is the whole body.
// 10s/503 takes ten seconds.
func act(ts *testscript.TestScript, s string) providertest.Act {
	if wait, rest, ok := strings.Cut(s, "/"); ok {
		if d, err := time.ParseDuration(wait); err == nil {
			return act(ts, rest).After(d)
		}
	}
	name, arg, given := strings.Cut(s, ":")
	switch name {
	case "ok":
		if given {
			return providertest.Answer(arg)
		}
		return providertest.Answer("ok")
	case "empty":
		return providertest.Empty()
	case "hang":
		return providertest.Hang()
	case "break":
		return providertest.StreamBreak(arg)
	case "slow":
		return providertest.Answer(arg).Pace(5 * time.Second)
	case "fault":
		return providertest.StreamError("so far ", fmt.Sprintf(`{"error":{"type":%q,"message":"no more"}}`, arg))
	case "stall":
		return providertest.Stall(arg)
	case "reset", "refused", "dns", "tls":
		return providertest.Network(provider.Transport(name))
	}
	name, headers, _ := strings.Cut(name, "+")
	status, err := strconv.Atoi(name)
	if err != nil {
		ts.Fatalf("no such act: %s", s)
	}
	if arg == "" {
		arg = http.StatusText(status)
	}
	body := fmt.Sprintf(`{"error":{"message":%q}}`, arg)
	if strings.HasPrefix(arg, "{") {
		body = arg
	}
	var header []string
	for _, pair := range strings.FieldsFunc(headers, func(r rune) bool { return r == '+' }) {
		name, value, _ := strings.Cut(pair, "=")
		header = append(header, name, value)
	}
	return providertest.Status(status, body, header...)
}

func (h *house) scriptSay(ts *testscript.TestScript, args []string) {
	h.scriptPost(ts, args)
	ts.Check(h.app.Bot.Idle(context.Background()))
	synctest.Wait()
}

func (h *house) scriptPost(ts *testscript.TestScript, args []string) {
	h.said++
	ts.Check(h.room.Say(context.Background(), channels.Inbound{ID: strconv.Itoa(h.said), Text: strings.Join(args, " ")}))
	synctest.Wait()
}

// scriptTurn runs what a heartbeat or a job would. Its failure is its caller's
// to tell; here it is only seen in what was asked and posted.
func (h *house) scriptTurn(ts *testscript.TestScript, args []string) {
	t := bot.Turn{Session: mainSession, Agent: "main", Kind: fallback.Kind(args[0]), Text: "tick"}
	if len(args) > 1 && args[1] != "-" {
		t.Model, _ = fallback.ParseRef(args[1])
	}
	if len(args) > 2 {
		t.Listed = true
		for _, ref := range args[2:] {
			if m, _ := fallback.ParseRef(ref); ref != "none" {
				t.Fallbacks = append(t.Fallbacks, m)
			}
		}
	}
	_, _ = h.app.Bot.Turn(context.Background(), t)
	synctest.Wait()
}

const mainSession = fallback.SessionID("agent:main:main")

func (h *house) scriptRoom(ts *testscript.TestScript, args []string) {
	posted := h.room.Posted()
	if h.read == len(posted) {
		ts.Fatalf("nothing more was posted; want %s %q", args[0], args[1])
	}
	out := posted[h.read]
	h.read++
	want, is := args[1], out.Text == args[1]
	if pattern, ok := strings.CutPrefix(want, "~"); ok {
		is = regexp.MustCompile(pattern).MatchString(out.Text)
	}
	if string(out.Kind) != args[0] || !is {
		ts.Fatalf("the room got %s %q\nwant %s %q", out.Kind, out.Text, args[0], want)
	}
}

func (h *house) scriptQuiet(ts *testscript.TestScript, _ []string) {
	if more := h.room.Posted()[h.read:]; len(more) > 0 {
		ts.Fatalf("the room got %s %q besides", more[0].Kind, more[0].Text)
	}
}

func (h *house) scriptAsked(ts *testscript.TestScript, args []string) {
	all := h.vendors.Models()
	got := all[h.counted:]
	h.counted = len(all)
	if !slices.Equal(got, args) {
		ts.Fatalf("asked %v, want %v", got, args)
	}
}

func (h *house) scriptRow(ts *testscript.TestScript, args []string) {
	h.wantRow(ts, mainSession, strings.Join(args, " "))
}

func (h *house) scriptPin(ts *testscript.TestScript, args []string) {
	row, err := h.app.DB.Selection(context.Background(), mainSession)
	ts.Check(err)
	got := "none"
	if row.Pin.Profile != "" {
		got = strings.TrimSpace(string(row.Pin.Source) + " " + string(row.Pin.Profile))
	}
	if want := strings.Join(args, " "); got != want {
		ts.Fatalf("the session's credential is %s, want %s", got, want)
	}
}

func (h *house) scriptErrors(ts *testscript.TestScript, args []string) {
	id := fallback.ProfileID(args[0])
	all, err := h.app.DB.Credentials(h.app.Config().Profiles).Usage(context.Background(), "main", id.Provider())
	ts.Check(err)
	if got := strconv.Itoa(all[id].Errors); got != args[1] {
		ts.Fatalf("%s failures count against %s, want %s", got, id, args[1])
	}
}
