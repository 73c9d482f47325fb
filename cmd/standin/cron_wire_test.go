package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"standin/channels/slack/slacktest"
	"standin/cronjobs"
	"standin/fallback/provider/providertest"
)

// cron runs a verb of standin cron beside the daemon.
func (w *wire) cron(args ...string) (int, string) {
	return w.run(slices.Concat([]string{"cron"}, args, []string{"--state", w.dir, "-c", filepath.Join(w.dir, "config.yaml")})...)
}

// ran is the run that `cron run --wait --json` tells of.
func (w *wire) ran(job string) (r cronjobs.Run) {
	w.t.Helper()
	_, out := w.cron("run", job, "--wait", "--json", "--poll-interval", "20ms")
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		w.t.Fatalf("cron run %s: %v\n%s", job, err, out)
	}
	return r
}

// M10 over the real wire: what a job names is asked first and is what the
// record says, for each way of naming fallbacks, with the first model up and
// down; and nothing of it stays with the session.
func TestCronModelsOverTheWire(t *testing.T) {
	w := newWire(t)
	w.serve("\nchannels: {slack: {apiUrl: SLACK, channels: {" + slacktest.General + ": {}}}, discord: {enabled: false}}\n")
	w.ready("slack")
	for i, c := range []struct {
		flags []string
		want  []string
	}{
		{nil, []string{"gpt-5.5", "gpt-5.5-mini"}},
		{[]string{"--fallbacks", "none"}, []string{"gpt-5.5"}},
		{[]string{"--model", "openai/job"}, []string{"job", "gpt-5.5-mini"}},
		{[]string{"--model", "openai/job", "--fallbacks", "none"}, []string{"job"}},
		{[]string{"--model", "openai/job", "--fallbacks", "openai/own"}, []string{"job", "own"}},
	} {
		for _, up := range []bool{true, false} {
			name := fmt.Sprintf("job-%d-%v", i, up)
			t.Run(strings.Join(c.flags, " ")+fmt.Sprint(" up ", up), func(t *testing.T) {
				code, out := w.cron(append([]string{"add", "--name", name, "--every", "24h", "--message", name, "--no-deliver"}, c.flags...)...)
				if code != exitOK || strings.Contains(out, "No daemon") {
					t.Fatal(out)
				}
				asked := c.want[:1]
				if !up {
					w.vendor.On(providertest.When{Model: c.want[0]}, providertest.Status(400, `{"error":{"message":"no such thing","code":"model_not_found"}}`))
					asked = c.want
				}
				before := len(w.vendor.Requests())
				r := w.ran(name)
				var got []string
				for _, q := range w.vendor.Requests()[before:] {
					if q.Model != "" { // a look whether the server of the house is up [R39]
						got = append(got, q.Model)
					}
				}
				if !slices.Equal(got, asked) {
					t.Errorf("asked %v, want %v", got, asked)
				}
				used := "openai/" + asked[len(asked)-1]
				if !up && len(c.want) == 1 {
					used = ""
				}
				if r.Requested != "openai/"+c.want[0] || r.Used != used || (used == "") != (r.Status == cronjobs.Failed) {
					t.Errorf("the record: asked for %s, answered by %q, %s %s", r.Requested, r.Used, r.Status, r.Error)
				}
			})
		}
	}
	if _, out := w.cron("list"); strings.Count(out, "\n") != 11 {
		t.Errorf("list:\n%s", out)
	}
}

// A job that is added beside the daemon is seen at once, its answer arrives
// where it was to go, and so does one for a person [IL-018].
func TestCronOverTheWire(t *testing.T) {
	w := newWire(t)
	alice := w.discord.Person("alice")
	guild := w.discord.NewGuild("workshop")
	hall := guild.NewChannel("hall")
	if code, out := w.cron("run", "x"); code == exitOK {
		t.Error(out)
	}
	w.serve(fmt.Sprintf(`
channels:
  slack: {apiUrl: SLACK, allowFrom: [%s], channels: {%s: {}}}
  discord: {apiUrl: DISCORD, allowFrom: ["%s"], guilds: {"%s": {}}}
`, slacktest.Alice, slacktest.General, alice.ID, guild.ID))
	w.ready("slack", "discord")
	must := func(args ...string) string {
		t.Helper()
		code, out := w.cron(args...)
		if code != exitOK {
			t.Fatalf("cron %v: %d\n%s", args, code, out)
		}
		return out
	}
	must("add", "--name", "Soon", "--at", "1s", "--message", "now", "--channel", "slack", "--to", "channel:"+slacktest.General)
	w.onSlack(slacktest.General, "answer of gpt-5.5")
	must("add", "--name", "Direct", "--every", "24h", "--message", "now", "--channel", "discord", "--to", "user:"+alice.ID)
	if r := w.ran("Direct"); r.Delivery.Status != cronjobs.Delivered || r.Delivery.MessageID == "" {
		t.Errorf("%+v", r.Delivery)
	}
	w.onDiscord(w.discord.DM(alice).ID, "answer of gpt-5.5")
	if got := w.discord.Posts(hall.ID); len(got) != 0 {
		t.Errorf("the hall reads %v", got)
	}

	// In a chat the same verbs, and the chat is the job's home.
	w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "/cron add --name Tea --every 24h --message “make tea”"})
	w.onSlack(slacktest.DM, "Added \"Tea\" (…")
	if r := w.ran("Tea"); r.Delivery.Status != cronjobs.Delivered {
		t.Errorf("%+v", r)
	}
	w.onSlack(slacktest.DM, "Added \"Tea\" (…", "answer of gpt-5.5")
	w.slack.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "<@" + slacktest.BotUser + "> /cron list"})

	if out := must("explain", "Tea"); !strings.Contains(out, "1. openai/gpt-5.5: agents.defaults.model") || !strings.Contains(out, "2. openai/gpt-5.5-mini: agents.defaults.model.fallbacks") {
		t.Errorf("explain:\n%s", out)
	}
	must("disable", "Tea")
	if out := must("list"); strings.Contains(out, "Tea") || !strings.Contains(out, "--all") {
		t.Errorf("list:\n%s", out)
	}
	must("enable", "Tea")
	must("edit", "Tea", "--model", "openai/gpt-5.5-mini", "--fallbacks", "none")
	if r := w.ran("Tea"); r.Used != "openai/gpt-5.5-mini" {
		t.Errorf("after the edit: %+v", r)
	}
	must("edit", "Tea", "--clear-model", "--clear-fallbacks")
	must("status")
	must("rm", "Tea")
	if code, out := w.cron("show", "Tea"); code != exitFault || !strings.Contains(out, "there is no job") {
		t.Errorf("show: %d\n%s", code, out)
	}
	if out := must("runs"); strings.Count(out, "Tea") != 2 {
		t.Errorf("the record of a job that is gone:\n%s", out)
	}
}
