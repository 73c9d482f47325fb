package daemon

import (
	"errors"

	"standin/channels"
	"standin/channels/discord"
	"standin/channels/slack"
)

// healthOf tells how a channel is; known is false for one that does not say.
func healthOf(ch channels.Channel) (h channels.Health, known bool) {
	if c, can := ch.(channels.Reporter); can {
		return c.Health(), true
	}
	return channels.Health{}, false
}

// mendOf gives what a person can do about an error that ended a channel, when
// the platform has refused the credential for good and the adapter said so.
func mendOf(err error) (mend string, told bool) {
	var s *slack.Fatal
	var d *discord.Fatal
	switch {
	case errors.As(err, &s):
		return s.Mend, true
	case errors.As(err, &d):
		return d.Mend, true
	}
	return "", false
}
