package discord

import "fmt"

// Fatal ends Run: Discord refuses the bot, and trying again will not help.
// Other channels go on.
type Fatal struct {
	Code int    // Discord's close code, or the HTTP status that said so
	Why  string // in a few words
	Mend string // what to do
}

func (f *Fatal) Error() string { return fmt.Sprintf("discord: %s (%d): %s", f.Why, f.Code, f.Mend) }

// closing says what a close code means for what comes next.
type closing struct {
	why   string
	fresh bool   // the session is gone: the next connection identifies
	mend  string // not "": no connection will do; a person has to act
}

// closings are Discord's own close codes. Any other way to lose a connection
// leaves the session alive.
var closings = map[int]closing{
	1000: {why: "closed for good by Discord", fresh: true},
	1001: {why: "Discord goes away", fresh: true},
	4000: {why: "unknown error"},
	4001: {why: "unknown opcode"},
	4002: {why: "decode error"},
	4003: {why: "not authenticated", fresh: true},
	4004: {why: "the token is not valid", mend: "copy the bot's token again from Discord's developer portal, page Bot"},
	4005: {why: "already authenticated"},
	4007: {why: "invalid sequence", fresh: true},
	4008: {why: "sent too much"},
	4009: {why: "session timed out", fresh: true},
	4010: {why: "invalid shard", mend: "this is a fault of standin's; report it"},
	4011: {why: "the bot is in too many servers for one connection", mend: "sharding is not supported; use a bot of its own for some servers"},
	4012: {why: "this version of the gateway is gone", mend: "update standin"},
	4013: {why: "invalid intents", mend: "this is a fault of standin's; report it"},
	4014: {why: "an intent is not switched on", mend: "switch on Message Content Intent (and what channels.discord.intents asks for) in Discord's developer portal, page Bot"},
}

// closeReason reads a close code.
func closeReason(code int) closing {
	if c, known := closings[code]; known {
		return c
	}
	return closing{why: fmt.Sprintf("connection closed with code %d", code)}
}
