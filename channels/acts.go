package channels

import (
	"context"
	"strings"
)

// Actor is a Channel that can do more to a message than post one. Errors are
// SendErrors that say whether it may have happened.
type Actor interface {
	// React puts an emoji on a message of the conversation, or takes it away again.
	// The emoji is a character or a name between colons.
	React(ctx context.Context, to Address, message, emoji string, on bool) error
	// Edit changes the text of a message that the account itself has posted.
	Edit(ctx context.Context, to Address, message, text string) error
}

// emojiNames are the common emoji by the names that people give them, which is
// how one platform wants them.
var emojiNames = map[string]string{
	"👍": "thumbsup", "👎": "thumbsdown", "❤": "heart", "🎉": "tada", "✅": "white_check_mark", "❌": "x", "👀": "eyes", "🙏": "pray",
	"😂": "joy", "😄": "smile", "😢": "cry", "😮": "open_mouth", "🤔": "thinking_face", "🚀": "rocket", "🔥": "fire", "💯": "100",
	"👏": "clap", "⚠": "warning", "⏳": "hourglass_flowing_sand", "👋": "wave", "🙌": "raised_hands", "💡": "bulb", "🐛": "bug", "⭐": "star",
	"☕": "coffee", "🤖": "robot_face", "📌": "pushpin", "📝": "memo", "🔒": "lock", "❓": "question", "❗": "exclamation", "➕": "heavy_plus_sign",
}

// variation is the mark that asks for a coloured emoji; names do not have it.
const variation = "\uFE0F"

// EmojiName gives an emoji's name without colons; ok is false for a character
// whose name is not known here.
func EmojiName(emoji string) (name string, ok bool) {
	plain := strings.TrimSuffix(strings.TrimSpace(emoji), variation)
	if name, ok := emojiNames[plain]; ok {
		return name, true
	}
	name = strings.Trim(plain, ":")
	return name, name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && r != '+' && r != ':' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	}) < 0
}

// EmojiSign gives an emoji's character; ok is false for a name that is not known
// here.
func EmojiSign(emoji string) (sign string, ok bool) {
	plain := strings.TrimSpace(emoji)
	name := strings.Trim(plain, ":")
	if name == plain && strings.IndexFunc(plain, func(r rune) bool { return r > 0x7F }) >= 0 {
		return plain, true
	}
	for sign, known := range emojiNames {
		if known == name {
			return sign, true
		}
	}
	return "", false
}
