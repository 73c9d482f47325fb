package slack

import "testing"

// An emoji may be written as Slack does or as everybody else does [SL22].
func TestEmoji(t *testing.T) {
	for text, want := range map[string]string{"👀": "eyes", ":eyes:": "eyes", "eyes": "eyes", "👍": "thumbsup", "✔": "heavy_check_mark", "party_parrot": "party_parrot", "🦩": "", "": ""} {
		if got, ok := EmojiName(text); got != want || ok != (want != "") {
			t.Errorf("the name of %q is %q, %v", text, got, ok)
		}
	}
	for text, want := range map[string]string{"eyes": "👀", ":eyes:": "👀", "👀": "👀", "🦩": "🦩", "blob:123": "blob:123", "party_parrot": "", "": ""} {
		if got, ok := Emoji(text); got != want || ok != (want != "") {
			t.Errorf("the character of %q is %q, %v", text, got, ok)
		}
	}
	for name := range common {
		if !emojiName.MatchString(name) {
			t.Errorf("%q is no name", name)
		}
	}
}
