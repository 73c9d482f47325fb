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

// sayQueue tells what becomes of waiting messages now.
func sayQueue(q policy.Queue, waiting int) string {
	does := map[policy.Mode]string{
		policy.Steer:     "each is answered by itself, in order (there are no tool calls yet to steer)",
		policy.FollowUp:  "each is answered by itself, in order",
		policy.Collect:   "those of one place are answered together",
		policy.Interrupt: "the newest one stops the running answer",
	}[q.Mode]
	s := fmt.Sprintf("Queue mode %s: when messages come while I answer, %s. At most %d wait; beyond that %s.", q.Mode, does, q.Cap, map[policy.Overflow]string{
		policy.Summarize: "the oldest are summed up in one line each",
		policy.DropOld:   "the oldest are dropped",
		policy.DropNew:   "new ones are dropped",
	}[q.Drop])
	if waiting > 0 {
		s += fmt.Sprintf(" %s now.", count(waiting, "message waits", "messages wait"))
	}
	return s
}

func sayQueueRefused(err error) string {
	return fmt.Sprintf("That does not work: %s. Nothing has changed. An example: /queue collect cap:10 drop:old; back to the configured setting: /queue default.", err)
}
