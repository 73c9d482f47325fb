package bot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"standin/bot"
	"standin/bot/policy"
	"standin/fallback"
)

// furnish gives the agent a workspace with these files.
func furnish(t *testing.T, h *house, files map[string]string) {
	t.Helper()
	dir := filepath.Join(h.dir, "ws")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.cfg.Agents = map[fallback.AgentID]bot.AgentConfig{"main": {System: "Be brief.", Workspace: dir}}
}

var notesOfBubble = map[string]string{ // a bubble begins on 1 January 2000
	"AGENTS.md": "You are Heron.", "USER.md": "The owner is Anna.", "MEMORY.md": "Anna likes tea.",
	"memory/2000-01-01.md": "Met Bob.", "memory/1999-12-30.md": "Old.", "notes.md": "Not an instruction.",
}

// The workspace's files are instructions, the same from turn to turn; the clock
// is not among them [G34, G35].
func TestTheWorkspaceInstructs(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		furnish(t, h, notesOfBubble)
		h.say("hello")
		h.say("again")
		asks := h.engine.asked()
		told := asks[0].System
		for _, want := range []string{"Be brief.", "## AGENTS.md\nYou are Heron.", "The owner is Anna.", "Anna likes tea.", "Met Bob.", "Today is "} {
			if !strings.Contains(told, want) {
				t.Errorf("missing %q in %q", want, told)
			}
		}
		if strings.Contains(told, "Old.") || strings.Contains(told, "Not an instruction") || strings.Contains(told, "00:00") {
			t.Errorf("told %q", told)
		}
		if asks[1].System != told {
			t.Error("the instructions changed from one turn to the next")
		}
	})
}

// Private memory never enters a shared room, nor a direct chat with anybody but
// the owner [G34].
func TestPrivateMemoryStaysPrivate(t *testing.T) {
	rules := openRoom
	rules.DMPolicy, rules.AllowFrom = policy.DMOpen, []string{"*"}
	ruled(t, rules, func(t *testing.T, h *house) {
		furnish(t, h, notesOfBubble)
		h.post(toBot(inRoom("u1", "hello")))
		h.post(direct("u1", "hello"))
		h.settle()
		for _, ask := range h.engine.asked() {
			if told := ask.System; strings.Contains(told, "Anna") || strings.Contains(told, "Bob") || !strings.Contains(told, "Heron") {
				t.Errorf("%s was told %q", ask.Session, told)
			}
		}
	})
}

// Long files are cut, and all of them together are bounded; a link out of the
// folder is not followed; a light turn has none.
func TestTheWorkspaceIsBounded(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		long := strings.Repeat("é", 25_000)
		furnish(t, h, map[string]string{"AGENTS.md": long, "IDENTITY.md": long, "TOOLS.md": long, "USER.md": long})
		outside := filepath.Join(h.dir, "secret")
		if err := os.WriteFile(outside, []byte("the secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, filepath.Join(h.dir, "ws", "SOUL.md")); err != nil {
			t.Fatal(err)
		}
		h.say("hello")
		told := h.engine.asked()[0].System
		if n := strings.Count(told, "é"); n > 60_000 || strings.Count(told, "(cut here: 20000 characters are shown)") < 2 || !strings.Contains(told, "left out") {
			t.Errorf("%d characters", n)
		}
		if strings.Contains(told, "the secret") {
			t.Error("a link led out of the workspace")
		}
		if _, err := h.bot.Turn(t.Context(), bot.Turn{Session: mainSession, Agent: "main", Kind: fallback.Heartbeat, Text: "beat", Light: true}); err != nil {
			t.Fatal(err)
		}
		asks := h.engine.asked()
		if told := asks[len(asks)-1].System; strings.Contains(told, "é") {
			t.Error("a light turn has the workspace")
		}
	})
}
