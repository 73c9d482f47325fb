package channels

import "testing"

func TestEmojiAreKnownByNameAndSign(t *testing.T) {
	for _, c := range []struct {
		emoji, name, sign string
	}{
		{"👍", "thumbsup", "👍"}, {":thumbsup:", "thumbsup", "👍"}, {"thumbsup", "thumbsup", "👍"}, {"❤️", "heart", "❤️"},
		{":party_parrot:", "party_parrot", ""}, {"🦜", "", "🦜"}, {"", "", ""}, {"DROP TABLE", "", ""},
	} {
		if name, ok := EmojiName(c.emoji); ok != (c.name != "") || ok && name != c.name {
			t.Errorf("name of %q: %q, %v", c.emoji, name, ok)
		}
		if sign, ok := EmojiSign(c.emoji); ok != (c.sign != "") || ok && sign != c.sign {
			t.Errorf("sign of %q: %q, %v", c.emoji, sign, ok)
		}
	}
}
