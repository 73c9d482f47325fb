package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"standin/channels/slack/slacktest"
	"standin/fallback/provider/providertest"
)

// The command line about heartbeats, over a daemon on the real wire: what it
// would do, what it does, how it is switched, and what an event does
// [H23, IL-196, IL-109].
func TestHeartbeatOverTheWire(t *testing.T) {
	w := newWire(t)
	w.models = strings.Replace(w.models, "agents: {defaults: {", "agents: {defaults: {workspace: "+w.dir+"/ws, heartbeat: {every: 30m, target: last}, ", 1)
	says := func(wants []string, args ...string) string {
		t.Helper()
		code, out := w.run(append(args, "--state", w.dir, "-c", filepath.Join(w.dir, "config.yaml"))...)
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%v: exit %d, lacks %q:\n%s", args, code, want, out)
			}
		}
		return out
	}
	path := w.config("\nchannels: {slack: {apiUrl: SLACK, allowFrom: [" + slacktest.Alice + "]}, discord: {enabled: false}}\n")
	if code, out := w.run("check", "-c", path); code != exitOK || !strings.Contains(out, "heartbeat: every 30m, all day: about 48 requests a day\n    asks openai/gpt-5.5 → openai/gpt-5.5-mini (agents.defaults.model); what it says is posted where the session was last spoken to\n") {
		t.Errorf("check: %d\n%s", code, out)
	}
	says([]string{"main: every 30m, all day; the first is planned when standin serve starts", "about 48 requests a day"}, "heartbeat", "status")
	says([]string{"no daemon answers"}, "heartbeat", "run")

	w.serve("\nchannels: {slack: {apiUrl: SLACK, allowFrom: [" + slacktest.Alice + "]}, discord: {enabled: false}}\n")
	w.ready("slack")
	w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "hello"})
	w.onSlack(slacktest.DM, "answer of gpt-5.5")
	asked := len(w.vendor.Requests())
	// The credentials' file is made with the first turn, and not in one moment.
	w.await("the state can be read", func() bool {
		code, _ := w.run("heartbeat", "status", "--state", w.dir, "-c", path)
		return code == exitOK
	})

	says([]string{"The request has about ", "An answer goes to: slack ", "This is a heartbeat", "1. openai/gpt-5.5"}, "heartbeat", "run", "--dry-run")
	if n := len(w.vendor.Requests()); n != asked {
		t.Errorf("a dry run asks %d times", n-asked)
	}
	w.vendor.On(providertest.When{}, providertest.Answer("You have mail."))
	says([]string{"it said: You have mail.", "nothing was posted or kept"}, "heartbeat", "run", "--dry-run", "--live")
	w.onSlack(slacktest.DM, "answer of gpt-5.5")

	w.vendor.On(providertest.When{}, providertest.Answer("HEARTBEAT_OK"), providertest.Answer("You have mail."))
	says([]string{"main: nothing needed attention, by openai/gpt-5.5"}, "heartbeat", "run")
	says([]string{"main: it said something, which was posted, by openai/gpt-5.5", "it said: You have mail."}, "heartbeat", "run")
	w.onSlack(slacktest.DM, "answer of gpt-5.5", "You have mail.")
	says([]string{"the next is due ", "it said something, which was posted (openai/gpt-5.5)", "asks: openai/gpt-5.5 → openai/gpt-5.5-mini (agents.defaults.model)"}, "heartbeat", "status")
	says([]string{`"why": "posted"`, `"requestsPerDay": 48`}, "heartbeat", "status", "--json")

	says([]string{"main: the heartbeat is off until standin heartbeat enable."}, "heartbeat", "disable")
	says([]string{"main: off: it was switched off by hand"}, "heartbeat", "status")
	says([]string{"main: the heartbeat runs every 30m."}, "heartbeat", "enable")

	if err := os.MkdirAll(filepath.Join(w.dir, "ws"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "ws", "HEARTBEAT.md"), []byte("# Nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	says([]string{"now it would not ask: HEARTBEAT.md has nothing to do in it"}, "heartbeat", "status")
	says([]string{"By its schedule it would not ask a model now: HEARTBEAT.md has nothing to do in it."}, "heartbeat", "run", "--dry-run")

	w.vendor.On(providertest.When{}, providertest.Answer("The backup has failed."))
	says([]string{"It is kept for main, who is told with the next heartbeat or message."}, "system", "event", "--text", "the backup  failed\nat 3")
	says([]string{"main is told now."}, "system", "event", "--text", "and again at 4", "--mode", "now")
	// The beats that ran by hand keep an event's one back for its spacing.
	says([]string{"main: it said something, which was posted"}, "heartbeat", "run")
	w.onSlack(slacktest.DM, "answer of gpt-5.5", "You have mail.", "The backup has failed.")
	requests := w.vendor.Requests()
	if last := requests[len(requests)-1].Messages; !strings.Contains(last[len(last)-1].Text, "the backup failed at 3") || !strings.Contains(last[len(last)-1].Text, "and again at 4") {
		t.Errorf("the model was told %q", last[len(last)-1].Text)
	}

	for _, bad := range [][]string{
		{"heartbeat", "run", "--live"}, {"heartbeat", "run", "--agent", "nobody"}, {"system", "event"}, {"system", "event", "--text", "x", "--mode", "soon"},
	} {
		if code, out := w.run(append(bad, "--state", w.dir, "-c", path)...); code != exitUsage {
			t.Errorf("%v: exit %d\n%s", bad, code, out)
		}
	}
}
