package bot

import (
	"strings"

	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
)

// SessionKey names the conversation that a message belongs to where no rules say
// otherwise [S1]: all direct chats with an agent are one session; rooms have
// their own, and so has each thread of a room. See policy.Rules.Session.
func SessionKey(agent fallback.AgentID, in channels.Inbound) fallback.SessionID {
	return policy.Rules{}.Session(agent, in, true)
}

// fate is what becomes of a message.
type fate int

const (
	toIgnore fate = iota // ends in silence, with its reason
	toObey               // a command
	toAnswer             // a turn
	toRefuse             // a native command of somebody who may not give it [C2]
)

// call is a message read as a command, or the reason why it is ignored.
type call struct {
	cmd  *Command // nil: nobody knows the name
	name string
	args string
	why  string
}

// sort says what a message is. Only people who may give commands can stop or
// steer (C1, C2, S33); in rooms the agent answers only when it is addressed.
func (b *Bot) sort(cfg *Config, in channels.Inbound) (fate, call) {
	addressed := in.Chat == channels.Direct || in.Mentioned
	if name, args, ok := readCommand(cfg, in, addressed); ok {
		cmd := b.command(name)
		switch {
		case cmd != nil && in.Authorized:
			return toObey, call{cmd: cmd, name: name, args: args}
		case cmd != nil && isStopWord(in.Text):
			// "stop" from somebody who may not stop anything is talk.
		case cmd != nil && in.Command:
			return toRefuse, call{why: "command of an unauthorized sender"}
		case cmd != nil:
			return toIgnore, call{why: "command of an unauthorized sender"}
		case addressed && in.Authorized:
			return toObey, call{name: name, args: args}
		}
	}
	switch {
	case !addressed:
		return toIgnore, call{why: ambient}
	case strings.TrimSpace(in.Text) == "" && len(in.Files) == 0:
		return toIgnore, call{why: "empty"}
	}
	return toAnswer, call{}
}

// ambient is the reason of a silence between other people.
const ambient = "ambient"

// overhears tells whether a message that was not for the agent is kept for its
// room's next mention [S17].
func overhears(cfg *Config, in channels.Inbound, c call) bool {
	s, known := cfg.Rules.Surface(in.To)
	return known && s.Overheard > 0 && c.why == ambient && in.Chat != channels.Direct && strings.TrimSpace(in.Text) != ""
}

// readCommand reads a message as a command: a slash command, a bare stop word,
// or one of the configured reset triggers.
func readCommand(cfg *Config, in channels.Inbound, addressed bool) (name, args string, ok bool) {
	if name, args, ok = slashed(cfg, in); ok {
		return name, args, true
	}
	text := in.Text
	if addressed && isStopWord(text) {
		return "stop", "", true
	}
	text = strings.TrimSpace(text)
	for _, trigger := range cfg.ResetTriggers {
		trigger = strings.TrimSpace(trigger)
		if trigger == "" || len(text) < len(trigger) || !strings.EqualFold(text[:len(trigger)], trigger) {
			continue
		}
		rest := text[len(trigger):]
		if trimmed := strings.TrimSpace(rest); addressed && (rest == "" || trimmed != rest) {
			return "new", trimmed, true
		}
	}
	return "", "", false
}

// slashed reads a slash command, where a text may hold one (commands.text) [C18].
func slashed(cfg *Config, in channels.Inbound) (name, args string, ok bool) {
	if s, _ := cfg.Rules.Surface(in.To); s.NativeOnly && !in.Command {
		return "", "", false
	}
	if name, args, ok = parseCommand(in.Text); ok && goesOn(cfg.Fallback, in) {
		return "", "", false
	}
	return name, args, ok
}

// parseCommand reads "/name args". The name is letters, digits, "-" and "_"
// after one slash, in lower case whatever was typed, with an optional colon
// behind it; "/etc/hosts" is no command.
func parseCommand(text string) (name, args string, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "/") {
		return "", "", false
	}
	end := 1
	for end < len(text) && isNameByte(text[end]) {
		end++
	}
	if end == 1 || !isLetter(text[1]) {
		return "", "", false
	}
	name, rest := strings.ToLower(text[1:end]), text[end:]
	rest = strings.TrimPrefix(rest, ":")
	args = strings.TrimSpace(rest)
	if rest != "" && args == rest && !strings.HasPrefix(text[end:], ":") {
		return "", "", false // something else follows the name directly
	}
	return name, args, true
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isNameByte(c byte) bool {
	return isLetter(c) || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// stopWords are the bare words that mean /stop [S33].
var stopWords = map[string]bool{
	"stop": true, "esc": true, "abort": true, "wait": true, "exit": true, "interrupt": true, "halt": true,
	"please stop": true, "stop please": true, "stop it": true,
	"stopp": true, "halt bitte": true, "bitte stopp": true, "bitte aufhören": true, "aufhören": true, // German
	"arrête": true, "arrete": true, "arrêter": true, // French
	"para": true, "detente": true, "detén": true, "parar": true, // Spanish, Portuguese
	"ferma": true, "fermati": true, "basta": true, // Italian
	"стоп": true, "остановись": true, // Russian
	"停止": true, "停": true, "やめて": true, "止めて": true, "中止": true, "중지": true, "멈춰": true, "توقف": true, "रुको": true,
}

// isStopWord tells whether a whole message is a stop word, in any case and with
// or without punctuation behind it.
func isStopWord(text string) bool {
	text = strings.TrimRight(strings.TrimSpace(text), ".!?…,;:。！？ ")
	return stopWords[strings.ToLower(strings.Join(strings.Fields(text), " "))]
}
