package discord

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"standin/channels"
	"standin/channels/discord/discordtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// What is sent to Discord, word for word; the diff of the golden file is what a
// reviewer reads.
func TestGoldenPosts(t *testing.T) {
	for _, c := range []struct {
		name string
		out  channels.Outbound
	}{
		{"notice", channels.Outbound{Kind: channels.Notice, Text: "↪️ Model Fallback: openai/gpt-5.4 (selected anthropic/claude-opus-4-6; rate limit)", ReplyTo: "asked"}},
		{"reply", channels.Outbound{Kind: channels.Reply, Text: "Hello <@1>, see https://example.org\n\n| a | b |\n|---|---|\n| 1 | 2 |", ReplyTo: "asked"}},
		{"failure", channels.Outbound{Kind: channels.Failure, Text: "All models are temporarily rate-limited."}},
		{"code", channels.Outbound{Kind: channels.Reply, Text: "```go\n" + strings.Repeat("func f() {}\n", 30) + "```", ReplyTo: "asked"}},
		{"buttons", channels.Outbound{Kind: channels.Command, Text: "Choose a provider.", For: "alice",
			Choices: []channels.Choice{{Label: "OpenAI", Text: "/models openai"}, {Label: "Default", Text: "/model default"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, setup{config: func(cfg *Config) { cfg.ReplyToMode = channels.ReplyFirst }})
			asked := w.s.Say(w.alice, w.room, "question")
			c.out.ID, c.out.To = "0123456789abcdef-0", w.c.address(w.room.ID)
			if c.out.ReplyTo != "" {
				c.out.ReplyTo = asked.ID
			}
			if c.out.For != "" {
				c.out.For = w.alice.ID
			}
			w.mustSend(c.out)
			var got bytes.Buffer
			names := strings.NewReplacer(w.room.ID, "ROOM", asked.ID, "ASKED", w.alice.ID, "ALICE")
			for _, e := range w.s.Journal() {
				if e.What != discordtest.REST || !strings.HasPrefix(e.Text, "POST ") {
					continue
				}
				got.WriteString(names.Replace(e.Text) + "\n")
				if err := json.Indent(&got, []byte(names.Replace(e.Body)), "", "  "); err != nil {
					t.Fatal(err)
				}
				got.WriteString("\n")
			}
			golden(t, c.name+".golden", got.Bytes())
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: run with -update and read the diff; got\n%s", name, got)
	}
}
