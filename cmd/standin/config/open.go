package config

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

// Opening is what an account is opened with besides its settings.
type Opening struct {
	Log *slog.Logger
	Now func() time.Time
	// Known gives the last message that was taken from each conversation of an
	// account; nil: unknown.
	Known func(ctx context.Context, at Place) (map[string]string, error)
	// Standing tells how the agent's models are; nil: unknown.
	Standing func(ctx context.Context) (s channels.Standing, why string)
}

// Open makes the account's channel; nothing is connected yet. The error says
// what is missing and holds no token.
func (a Account) Open(o Opening) (channels.Channel, error) {
	if len(a.Faults) > 0 {
		return nil, errors.New(strings.Join(a.Faults, "; "))
	}
	if a.Channel == slack.Name {
		return slack.New(a.SlackOptions(o))
	}
	return discord.New(a.DiscordOptions(o))
}

// SlackOptions are those of a Slack account.
func (a Account) SlackOptions(o Opening) slack.Options {
	return slack.Options{
		Config: a.Slack, Account: a.Account,
		Bot: a.Tokens["botToken"], App: a.Tokens["appToken"], Signing: a.Tokens["signingSecret"],
		Log: o.Log, Now: o.Now,
	}
}

// SlackCommands are the bot's commands as Slack's manifest lists them.
func SlackCommands() (all []slack.AppCommand) {
	for _, cmd := range bot.Commands() {
		all = append(all, slack.AppCommand{Name: cmd.Name, Description: cmd.Help, Usage: cmd.Args})
	}
	return all
}

// DiscordOptions are those of a Discord account.
func (a Account) DiscordOptions(o Opening) discord.Options {
	options := discord.Options{Config: a.Discord, Account: a.Account, Token: a.Tokens["token"], Log: o.Log, Now: o.Now, Standing: o.Standing}
	for _, cmd := range bot.Commands() {
		options.Commands = append(options.Commands, discord.Command{Name: cmd.Name, Description: cmd.Help, Argument: cmd.Args})
	}
	if o.Known != nil {
		options.Known = func(ctx context.Context) (map[string]string, error) { return o.Known(ctx, a.Place) }
	}
	return options
}
