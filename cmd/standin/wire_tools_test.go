package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"standin/channels/slack/slacktest"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

// uses asks for one tool.
func uses(name, input string) providertest.Act {
	return providertest.Calls("", provider.ToolCall{Name: name, Input: input})
}

// chatty is a direct chat with the owner on one platform.
type chatty struct {
	say   func(text string)
	posts func() []string
}

// inChat runs a story in the owner's direct chat on each platform.
func inChat(t *testing.T, more string, story func(t *testing.T, w *wire, c chatty)) {
	for _, platform := range []string{"slack", "discord"} {
		t.Run(platform, func(t *testing.T) {
			w := newWire(t)
			alice := w.discord.Person("alice")
			dm := w.discord.DM(alice)
			w.models = strings.Replace(w.models, "agents: {defaults: {", `agents: {defaults: {workspace: "`+filepath.Join(w.dir, "workspace")+`", `, 1)
			w.serve(fmt.Sprintf("\nchannels: {slack: {apiUrl: SLACK, streaming: 'off', allowFrom: [%s]}, discord: {apiUrl: DISCORD, streaming: 'off', allowFrom: [\"%s\"]}}\ncommands: {ownerAllowFrom: [%s, \"%s\"]}\n%s\n",
				slacktest.Alice, alice.ID, slacktest.Alice, alice.ID, more))
			w.ready(platform)
			c := chatty{
				say: func(text string) {
					w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: text})
				},
				posts: func() (all []string) {
					for _, p := range w.slack.Posts(slacktest.DM) {
						all = append(all, p.Read())
					}
					return all
				},
			}
			if platform == "discord" {
				c = chatty{
					say: func(text string) { w.discord.Say(alice, dm, text) },
					posts: func() (all []string) {
						for _, p := range w.discord.Posts(dm.ID) {
							all = append(all, p.Content)
						}
						return all
					},
				}
			}
			story(t, w, c)
		})
	}
}

// reads waits until the chat's posts are these; one that ends in … only begins so.
func (c chatty) reads(w *wire, want ...string) {
	w.t.Helper()
	w.awaitPosts(want, c.posts)
}

const (
	formRefused = `{"error":{"message":"bad request","type":"invalid_request_error"}}`
	noticeForm  = "↪️ Model Fallback: openai/gpt-5.5-mini (selected openai/gpt-5.5; format)"
	halfDone    = "openai/gpt-5.5-mini"
)

// A conversation that uses three tools, breaks off in the middle once before and
// once after one of them acted, and ends right. What was looked at is looked at
// again on the stand-in, what was done is not done again, and `standin why` tells
// the one from the other [I8, I10].
func TestToolsOverTheWire(t *testing.T) {
	inChat(t, "", func(t *testing.T, w *wire, c chatty) {
		primary, standIn := providertest.When{Model: "gpt-5.5"}, providertest.When{Model: "gpt-5.5-mini"}

		// Before an act: the clock is looked at, the model breaks off, and the stand-in
		// begins anew.
		w.vendor.On(primary, uses("session_status", `{}`), providertest.Status(400, formRefused))
		w.vendor.On(standIn, uses("session_status", `{}`), uses("write", `{"path":"plan.md","text":"meet at noon\n"}`), providertest.Answer("It is written down."))
		c.say("what time is it? write down that we meet at noon")
		c.reads(w, noticeForm, "It is written down.")
		if text, err := os.ReadFile(filepath.Join(w.dir, "workspace", "plan.md")); err != nil || string(text) != "meet at noon\n" {
			t.Errorf("plan.md reads %q, %v", text, err)
		}

		// After an act: the message is out, the model breaks off, and nobody begins anew.
		w.vendor.On(standIn, uses("message", `{"text":"The order is placed."}`), providertest.Status(400, formRefused))
		c.say("place the order")
		c.reads(w, noticeForm, "It is written down.", "The order is placed.", halfDone+"…")
		if last := c.posts()[3]; !strings.Contains(last, "already done part of what you asked") {
			t.Errorf("the person reads %q", last)
		}

		// It ends right: the next turn knows what was done.
		w.vendor.On(standIn, providertest.Answer("It was placed once; nothing is missing."))
		c.say("is it done?")
		c.reads(w, noticeForm, "It is written down.", "The order is placed.", halfDone+"…", "It was placed once; nothing is missing.")
		var used []string
		for _, m := range w.vendor.Requests() {
			used = append(used, m.Model)
		}
		if got := strings.Join(used, " "); got != "gpt-5.5 gpt-5.5 gpt-5.5-mini gpt-5.5-mini gpt-5.5-mini gpt-5.5-mini gpt-5.5-mini gpt-5.5-mini" {
			t.Errorf("asked %s", got)
		}
		all := w.vendor.Requests()
		if heard := fmt.Sprint(all[len(all)-1].Messages); !strings.Contains(heard, "The order is placed.") {
			t.Errorf("the last turn does not hear of the act: %s", heard)
		}

		var code int
		var said string
		w.await("the record is written", func() bool { // it is written behind the answers
			code, said = w.run("why", "--state", w.dir, "--config", filepath.Join(w.dir, "config.yaml"))
			return strings.Contains(said, "cannot be undone")
		})
		for _, line := range []string{
			"openai/gpt-5.5 with openai:default used session_status\n",
			"openai/gpt-5.5-mini with openai:default used session_status\n",
			"openai/gpt-5.5-mini with openai:default used write\n",
			"used message, which cannot be undone: from there on no other model would be asked\n",
		} {
			if code != 0 || strings.Count(said, line) != 1 {
				t.Errorf("why (%d) does not tell %q once", code, line)
			}
		}
		t.Logf("%s", said)
	})
}

// A silent turn whose tool posted tells of its model; a silent one that did
// nothing leaves that to the next visible turn [M14, N16, N17].
func TestASilentTurnOverTheWire(t *testing.T) {
	inChat(t, "", func(t *testing.T, w *wire, c chatty) {
		primary, standIn := providertest.When{Model: "gpt-5.5"}, providertest.When{Model: "gpt-5.5-mini"}
		w.vendor.Always(primary, providertest.Status(400, formRefused))
		w.vendor.On(standIn, providertest.Answer("NO_REPLY"),
			uses("message", `{"text":"The report: all is well."}`), providertest.Answer("NO_REPLY"), providertest.Answer("Nothing more."))
		c.say("anything new?")
		w.await("the silent turn is over", func() bool { return len(w.vendor.Requests()) == 2 })
		if posts := c.posts(); len(posts) != 0 {
			t.Errorf("a turn that did nothing posted %q", posts)
		}
		c.say("post the report")
		w.await("report and notice", func() bool { return len(c.posts()) == 2 })
		c.say("more?")
		w.await("the answer", func() bool { return len(c.posts()) == 3 })
		posts := c.posts()
		if posts[0] != "The report: all is well." || !strings.HasPrefix(posts[1], "↪️ Model Fallback: openai/gpt-5.5-mini (selected openai/gpt-5.5; ") || posts[2] != "Nothing more." {
			t.Errorf("the chat reads %q", posts)
		}
	})
}

// mcp.servers of a config bring tools along, through `standin serve` [G36].
func TestAServersToolsOverTheWire(t *testing.T) {
	s := sdk.NewServer(&sdk.Implementation{Name: "weather", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "forecast", Description: "Tells the weather.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, in struct {
			City string `json:"city"`
		}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "rain in " + in.City}}}, nil, nil
		})
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	defer server.Close()
	servers := fmt.Sprintf("mcp: {servers: {weather: {url: %q}", server.URL)
	if command := os.Getenv("STANDIN_TEST_MCP"); command != "" { // a published one, too
		servers += fmt.Sprintf(", everything: {command: %q, startTimeoutSeconds: 60}", command)
	}
	inChat(t, servers+"}}", func(t *testing.T, w *wire, c chatty) {
		offered := func(tool string) func() bool {
			return func() bool {
				all := w.vendor.Requests()
				if len(all) > 0 && strings.Contains(strings.Join(all[len(all)-1].Tools, " "), tool) {
					return true
				}
				n := len(c.posts())
				c.say("ping")
				w.await("pong", func() bool { return len(c.posts()) > n })
				return false
			}
		}
		w.await("the server's tool is offered", offered("weather__forecast"))
		w.vendor.On(providertest.When{}, uses("weather__forecast", `{"city":"Oslo"}`), providertest.Answer("Take an umbrella."))
		n := len(c.posts())
		c.say("how is the weather?")
		w.await("the answer", func() bool { return len(c.posts()) > n })
		all := w.vendor.Requests()
		if got := c.posts()[n]; got != "Take an umbrella." || !strings.Contains(fmt.Sprint(all[len(all)-1].Messages), "rain in Oslo") {
			t.Errorf("answered %q after %v", got, all[len(all)-1].Messages)
		}
		if os.Getenv("STANDIN_TEST_MCP") == "" {
			return
		}
		w.await("the published server's tool is offered", offered("everything__echo"))
		w.vendor.On(providertest.When{}, uses("everything__echo", `{"message":"from serve"}`), providertest.Answer("echoed"))
		n = len(c.posts())
		c.say("echo")
		w.await("the echo", func() bool { return len(c.posts()) > n })
		if all := w.vendor.Requests(); !strings.Contains(fmt.Sprint(all[len(all)-1].Messages), "from serve") {
			t.Errorf("the model heard %v", all[len(all)-1].Messages)
		}
	})
}
