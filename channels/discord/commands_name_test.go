package discord

import (
	"strings"
	"testing"
)

func TestDiscordTakesLettersDigitsDashesAndUnderscoresAsAName(t *testing.T) {
	for name, want := range map[string]bool{
		"status":                true,
		"new_chat-2":            true,
		"größe":                 true,
		"状态":                    true,
		strings.Repeat("ä", 32): true,
		strings.Repeat("ä", 33): false,
		"":                      false,
		"two words":             false,
		"a/b":                   false,
		"a\xff":                 false,
	} {
		if got := commandName(name); got != want {
			t.Errorf("commandName(%q) = %v", name, got)
		}
	}
}
