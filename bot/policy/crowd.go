package policy

import (
	"time"

	"standin/channels"
)

// How many messages of one bot in one room are too many, and how long it is not
// listened to then [SL15].
const (
	crowdMost   = 20
	crowdWithin = time.Minute
	crowdRest   = time.Minute
)

// Crowd keeps two bots from answering each other for ever. It is a value of its
// caller's, who keeps it under a lock; the zero value is ready.
type Crowd struct {
	seen map[bot]*pace
}

// bot is one bot in one room.
type bot struct {
	room channels.Address
	id   string
}

type pace struct {
	times []time.Time // of the last minute
	until time.Time   // not listened to before
}

// crowdSize bounds what is remembered; beyond it what is over is forgotten.
const crowdSize = 1024

// Hears counts a bot's message and tells whether it is listened to: after more
// than 20 in a minute it is not for a minute [SL15].
func (c *Crowd) Hears(in channels.Inbound, now time.Time) bool {
	if c.seen == nil {
		c.seen = map[bot]*pace{}
	}
	key := bot{in.To, in.From.ID}
	key.room.Thread = ""
	p := c.seen[key]
	if p == nil {
		c.forget(now)
		p = &pace{}
		c.seen[key] = p
	}
	if now.Before(p.until) {
		return false
	}
	recent := p.times[:0]
	for _, t := range p.times {
		if now.Sub(t) < crowdWithin {
			recent = append(recent, t)
		}
	}
	p.times = append(recent, now)
	if len(p.times) > crowdMost {
		p.times, p.until = nil, now.Add(crowdRest)
		return false
	}
	return true
}

// forget makes room by dropping bots that have been quiet.
func (c *Crowd) forget(now time.Time) {
	if len(c.seen) < crowdSize {
		return
	}
	for key, p := range c.seen {
		if !now.Before(p.until) && (len(p.times) == 0 || now.Sub(p.times[len(p.times)-1]) >= crowdWithin) {
			delete(c.seen, key)
		}
	}
}

// Echoes tells failure lines that a room has just read from new ones, so that a
// busy room is not filled with one sentence [IL-127]. It is a value of its
// caller's, who keeps it under a lock; the zero value is ready.
type Echoes struct {
	said map[line]time.Time
}

type line struct {
	room channels.Address
	text string
}

// echoWithin is how long a line stands for its repetitions.
const echoWithin = time.Minute

// Says tells whether the line is to be posted, and notes it if so. Direct chats
// always get theirs.
func (e *Echoes) Says(to channels.Address, chat channels.ChatType, text string, now time.Time) bool {
	if chat == channels.Direct {
		return true
	}
	if e.said == nil {
		e.said = map[line]time.Time{}
	}
	for key, at := range e.said {
		if now.Sub(at) >= echoWithin {
			delete(e.said, key)
		}
	}
	key := line{to, text}
	key.room.Thread = "" // of one room: its threads are read side by side
	if _, said := e.said[key]; said {
		return false
	}
	e.said[key] = now
	return true
}

// Unsaid takes a line back that was not posted after all: the next one is.
func (e *Echoes) Unsaid(to channels.Address, text string) {
	to.Thread = ""
	delete(e.said, line{to, text})
}
