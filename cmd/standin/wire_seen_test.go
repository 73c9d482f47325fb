package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"standin/channels/slack/slacktest"
	"standin/fallback/provider/providertest"
)

var update = flag.Bool("update-seen", false, "write testdata/seen anew")

// moving is what differs from run to run in what people see.
var moving = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\(devel\)[^\n]*`), "VERSION"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?(ms|s|min|h)\b|\b(less than a|\d+) (second|minute)s?\b`), "TIME"},
	{regexp.MustCompile(`\b\d{1,2}:\d{2}(:\d{2})?\b`), "CLOCK"},
	{regexp.MustCompile(`\b\d{17,20}\b`), "ID"},
}

// offered reads the labels of a message's buttons and menus, on either platform.
func offered(raw json.RawMessage) (labels []string) {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			if label, ok := v["label"].(string); ok {
				labels = append(labels, label)
			}
			if text, ok := v["text"].(map[string]any); ok && (v["type"] == "button" || v["value"] != nil) {
				labels = append(labels, fmt.Sprint(text["text"]))
			}
			for _, key := range []string{"components", "options", "elements"} {
				walk(v[key])
			}
		}
	}
	var all any
	_ = json.Unmarshal(raw, &all)
	walk(all)
	return labels
}

// scene is one post with what it offers below.
func scene(text string, parts json.RawMessage) string {
	if labels := offered(parts); len(labels) > 0 {
		text += "\n(to press: " + strings.Join(labels, " | ") + ")"
	}
	return text
}

// What people read of a change of model, a status, the picker and a failure, as
// it stands on their screens [M12, C12, D17, T19].
func TestTheScreensOfPeople(t *testing.T) {
	say := []string{"hello", "/status", "/model", "/model openai/gpt-5.5-mini", "/new", "/queue", "and now?"}
	stage := func(w *wire) {
		w.vendor.On(providertest.When{Model: "gpt-5.5"}, providertest.Status(400, `{"error":{"message":"bad request","type":"invalid_request_error"}}`))
	}
	for _, platform := range []string{"slack", "discord"} {
		t.Run(platform, func(t *testing.T) {
			w := newWire(t)
			alice := w.discord.Person("alice")
			chat := w.discord.DM(alice)
			w.serve(fmt.Sprintf("\nchannels: {slack: {apiUrl: SLACK, streaming: 'off', allowFrom: [%s]}, discord: {apiUrl: DISCORD, streaming: 'off', allowFrom: [\"%s\"]}}\n", slacktest.Alice, alice.ID))
			w.ready(platform)
			stage(w)
			posts := func() (all []string) {
				if platform == "slack" {
					for _, p := range w.slack.Posts(slacktest.DM) {
						all = append(all, scene(p.Read(), p.Blocks))
					}
					return all
				}
				for _, p := range w.discord.Posts(chat.ID) {
					all = append(all, scene(p.Content, p.Components))
				}
				return all
			}
			var seen strings.Builder
			for i, text := range say {
				if text == "and now?" { // every model refuses the form of the request
					w.vendor.Always(providertest.When{}, providertest.Status(429, `{"error":{"message":"Rate limit reached","type":"rate_limit_error"}}`))
				}
				before, want := len(posts()), 1
				if i == 0 {
					want = 2
				}
				if platform == "slack" {
					w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: text})
				} else {
					w.discord.Say(alice, chat, text)
				}
				w.await("an answer to "+text, func() bool { return len(posts()) >= before+want })
				fmt.Fprintf(&seen, "> %s\n", text)
				for _, p := range posts()[before:] {
					fmt.Fprintf(&seen, "%s\n\n", p)
				}
			}
			got := seen.String()
			for _, m := range moving {
				got = m.what.ReplaceAllString(got, m.as)
			}
			path := filepath.Join("testdata", "seen", platform+".txt")
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("people see something else (-want +got); if it is better, run with -update-seen:\n%s", diff)
			}
		})
	}
}
