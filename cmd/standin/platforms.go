package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/channels/discord"
	"standin/channels/slack"
)

// opening is what an account is opened with besides its settings.
type opening struct {
	log *slog.Logger
	now func() time.Time
	// known gives the last message that was taken from each conversation of an
	// account; nil: unknown.
	known func(ctx context.Context, at place) (map[string]string, error)
}

// open makes the account's channel; nothing is connected yet. The error says
// what is missing and holds no token.
func (a account) open(o opening) (channels.Channel, error) {
	if len(a.Faults) > 0 {
		return nil, errors.New(strings.Join(a.Faults, "; "))
	}
	if a.Channel == slack.Name {
		return slack.New(a.slackOptions(o))
	}
	return discord.New(a.discordOptions(o))
}

func (a account) slackOptions(o opening) slack.Options {
	return slack.Options{
		Config: a.Slack, Account: a.Account,
		Bot: a.Tokens["botToken"], App: a.Tokens["appToken"], Signing: a.Tokens["signingSecret"],
		Log: o.log, Now: o.now,
	}
}

func (a account) discordOptions(o opening) discord.Options {
	options := discord.Options{Config: a.Discord, Account: a.Account, Token: a.Tokens["token"], Log: o.log, Now: o.now}
	for _, cmd := range bot.Commands() {
		options.Commands = append(options.Commands, discord.Command{Name: cmd.Name, Description: cmd.Help, Argument: cmd.Args})
	}
	if o.known != nil {
		options.Known = func(ctx context.Context) (map[string]string, error) { return o.known(ctx, a.place) }
	}
	return options
}

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
