package bot

import (
	"fmt"

	"standin/bot/policy"
)

// The sentences of busy platforms.

// sayNotForYou refuses without telling anything about the room.
func sayNotForYou() string { return "Sorry, I am not set up to take this from you here." }

// sayPairing tells an unknown person how to be let in [P1].
func sayPairing(p Pairing) string {
	return fmt.Sprintf("I don't know you yet, so I have not read your message. Your id here is %s and your code %s. "+
		"Ask whoever runs me to run, within an hour: standin pairing approve %s %s", p.User, p.Code, p.Channel, p.Code)
}

// sayWelcome tells a person that they were let in.
func sayWelcome(p Pairing) string {
	s := "You have been let in. I have not read what you wrote before, so please say it again."
	if p.Owner {
		s += " You are my owner from now on: you may give commands wherever I listen, and /help lists them."
	}
	return s
}

// sayQueue tells what becomes of waiting messages now.
func sayQueue(q policy.Queue, waiting int) string {
	does := map[policy.Mode]string{
		policy.Steer:     "the running answer takes them in when its tools have come back, and else each is answered by itself, in order",
		policy.FollowUp:  "each is answered by itself, in order",
		policy.Collect:   "those of one place are answered together",
		policy.Interrupt: "the newest one stops the running answer",
	}[q.Mode]
	s := fmt.Sprintf("Queue mode %s: when messages come while I answer, %s. At most %d wait; beyond that %s.", q.Mode, does, q.Cap, map[policy.Overflow]string{
		policy.Summarize: "the oldest are summed up in one line each",
		policy.DropOld:   "the oldest are dropped",
		policy.DropNew:   "new ones are dropped",
	}[q.Drop])
	if q.Mode == policy.Collect && q.Debounce > 0 {
		s += fmt.Sprintf(" Their answer begins once it has been quiet for %s.", q.Debounce)
	}
	if waiting > 0 {
		s += fmt.Sprintf(" %s now.", count(waiting, "message waits", "messages wait"))
	}
	return s
}

func sayQueueRefused(err error) string {
	return fmt.Sprintf("That does not work: %s. Nothing has changed. An example: /queue collect cap:10 debounce:2s drop:old; back to the configured setting: /queue default.", err)
}

// saySend tells whether the session's turns are posted.
func saySend(own string, allowed bool) string {
	s := "I post my answers here"
	if !allowed {
		s = "I post nothing here but the answers of commands; I still read what is said to me"
	}
	switch own {
	case "":
		return s + ", as the configuration says. /send on or /send off changes it for this session."
	case "on":
		return s + ", because of /send on. /send inherit goes back to the configuration."
	}
	return s + ", because of /send off. /send on lets me answer again; /send inherit goes back to the configuration."
}

func saySendRefused(arg string) string {
	return fmt.Sprintf("I don't know %q. Nothing has changed. Use /send on, /send off, or /send inherit to go by the configuration.", arg)
}

// sayOwnersOnly refuses a command that is the owner's.
func sayOwnersOnly(name string) string {
	return fmt.Sprintf("/%s is for my owner. Nothing has changed. Owners are named in commands.ownerAllowFrom; /whoami tells your id.", name)
}

// What a model is told of how it is heard [S35, S36].
const (
	hintByTool    = "(Your final text is not posted. To say something to people here, use the tool message.)"
	hintRoomEvent = "(This was said in the room and not to you. Nobody expects an answer, and your final text is not posted. Only if it matters that you speak, use the tool message.)"
)
