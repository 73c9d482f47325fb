package slack

import "strings"

// common are emoji that people mark messages with, by the name that Slack takes
// and the character that other platforms take.
var common = map[string]string{
	"eyes": "👀", "white_check_mark": "✅", "heavy_check_mark": "✔️", "x": "❌", "hourglass": "⌛", "hourglass_flowing_sand": "⏳",
	"thumbsup": "👍", "+1": "👍", "thumbsdown": "👎", "-1": "👎", "wave": "👋", "pray": "🙏", "ok_hand": "👌", "raised_hands": "🙌",
	"robot_face": "🤖", "thinking_face": "🤔", "brain": "🧠", "bulb": "💡", "zap": "⚡", "fire": "🔥", "rocket": "🚀", "tada": "🎉",
	"sparkles": "✨", "star": "⭐", "heart": "❤️", "speech_balloon": "💬", "thought_balloon": "💭", "writing_hand": "✍️", "pencil2": "✏️",
	"memo": "📝", "mag": "🔍", "gear": "⚙️", "hammer_and_wrench": "🛠️", "lobster": "🦞", "crab": "🦀", "ghost": "👻", "bell": "🔔",
	"arrows_counterclockwise": "🔄", "red_circle": "🔴", "large_green_circle": "🟢", "coffee": "☕", "seedling": "🌱", "salute": "🫡",
}

// EmojiName gives the name by which Slack knows an emoji that is written as a
// name, with or without colons, or as a character; false when none is known.
func EmojiName(text string) (string, bool) {
	text = strings.Trim(text, ":")
	if emojiName.MatchString(text) {
		return text, true
	}
	for _, name := range []string{"thumbsup", "thumbsdown"} { // of two names for one, the plain one
		if bare(common[name]) == bare(text) {
			return name, true
		}
	}
	for name, char := range common {
		if bare(char) == bare(text) {
			return name, true
		}
	}
	return "", false
}

// Emoji gives the character of an emoji that is written as Slack names it, and
// any other text that is no name as it is; false for a name that is not known.
func Emoji(text string) (string, bool) {
	if name := strings.Trim(text, ":"); emojiName.MatchString(name) {
		char, ok := common[name]
		return char, ok
	}
	return text, text != ""
}

// bare leaves out what only asks for the coloured form.
func bare(char string) string { return strings.TrimSuffix(char, "\ufe0f") }
