package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"standin/channels/discord"
	"standin/channels/slack"
	"standin/cmd/standin/config"
)

// accountFlags choose an account of the config.
type accountFlags struct {
	stateFlag
	Config  string
	Account string
}

func (f *accountFlags) bind(v *verb) {
	f.Account = "default"
	v.Flags().VarP(text{&f.Config, "FILE"}, "config", "c", configHelp)
	f.stateFlag.bind(v)
	v.Flags().Var(text{&f.Account, "NAME"}, "account", "Which account of the config.")
}

// account finds the account in the config, as config.Reader.AccountsOf has it.
func (f accountFlags) account(w world, channel string) (config.Account, error) {
	path, _ := config.Find(f.Config, f.dir(w), w.getenv)
	all, faults, err := config.Reader{Getenv: w.getenv}.AccountsOf(channel, path)
	if err != nil {
		config.PrintFaults(w.stderr, faults)
		return config.Account{}, exit{exitUsage, err.Error()}
	}
	id := f.Account
	if id == "default" {
		id = ""
	}
	var names []string
	for _, a := range all {
		if a.Account == id {
			config.PrintFaults(w.stderr, faults)
			return a, nil
		}
		names = append(names, strings.TrimPrefix(strings.TrimPrefix(a.Place.String(), channel), "/"))
	}
	return config.Account{}, exit{exitUsage, fmt.Sprintf("channels.%s has no account %q; it has: %s", channel, f.Account, strings.Join(names, ", "))}
}

// slackVerb is `standin slack`.
func (w world) slackVerb() *verb {
	return w.group("slack", "Set Slack up.", w.slackManifestVerb(), w.slackCheckVerb())
}

type slackManifestCmd struct {
	accountFlags
	Name string
	URL  string
}

func (w world) slackManifestVerb() *verb {
	var c slackManifestCmd
	v := w.verb(&c, "manifest", "Print the app manifest: paste it at api.slack.com/apps, Create New App, From a manifest.")
	c.bind(v)
	v.Flags().Var(text{&c.Name, "STRING"}, "name", "Name of the app (default: Standin).")
	v.Flags().Var(text{&c.URL, "URL"}, "url", "For mode http: where Slack reaches standin, such as https://bots.example.com.")
	return v
}

// Run prints the manifest.
func (c slackManifestCmd) Run(w world) error {
	a, err := c.account(w, slack.Name)
	if err != nil {
		return err
	}
	if a.Slack.Mode == "http" && c.URL == "" {
		return exit{exitUsage, "the account is in mode http: say with --url where Slack reaches standin"}
	}
	_, err = w.stdout.Write(slack.Manifest(a.Slack, slack.AppInfo{Name: c.Name, PublicURL: c.URL, Commands: config.SlackCommands()}))
	return err
}

type slackCheckCmd struct {
	accountFlags
	Post string
}

func (w world) slackCheckVerb() *verb {
	var c slackCheckCmd
	v := w.verb(&c, "check", "Look at the tokens, the scopes and whether posting would work. Posts nothing.")
	c.bind(v)
	v.Flags().Var(text{&c.Post, "ID"}, "post", "Look whether the bot could post in this conversation.")
	return v
}

// Run looks the account over: 0 when nothing is wrong, 1 otherwise.
func (c slackCheckCmd) Run(w world) error {
	a, err := c.account(w, slack.Name)
	if err != nil {
		return err
	}
	if sayFaults(w.stdout, a) {
		return exit{code: exitFault}
	}
	found, err := slack.Check(w.ctx, a.SlackOptions(config.Opening{}), c.Post)
	if err != nil {
		return err
	}
	ok := true
	for _, f := range found {
		ok = ok && f.OK
		sayFinding(w.stdout, f.OK, f.What+": "+f.Say, f.Mend)
	}
	if !ok {
		return exit{code: exitFault}
	}
	return nil
}

// discordVerb is `standin discord`.
func (w world) discordVerb() *verb {
	return w.group("discord", "Set Discord up.", w.discordInviteVerb(), w.discordCheckVerb())
}

// applicationID is how Discord numbers what there is.
var applicationID = regexp.MustCompile(`^[0-9]{5,20}$`)

type discordInviteCmd struct {
	accountFlags
	App string
}

func (w world) discordInviteVerb() *verb {
	var c discordInviteCmd
	v := w.verb(&c, "invite", "Print the address that lets the bot into a server, with the permissions it needs.")
	c.bind(v)
	v.Flags().Var(text{&c.App, "ID"}, "app", "Id of the application, from Discord's developer portal (default: ask Discord with the token).")
	return v
}

// Run prints the address.
func (c discordInviteCmd) Run(w world) error {
	id := c.App
	if id == "" {
		a, err := c.account(w, discord.Name)
		if err != nil {
			return err
		}
		if sayFaults(w.stderr, a) {
			return exit{exitUsage, "without a token, give the application's id with --app"}
		}
		if id, err = discord.Application(w.ctx, a.DiscordOptions(config.Opening{})); err != nil {
			return exit{exitFault, err.Error()}
		}
	}
	if !applicationID.MatchString(id) {
		return exit{exitUsage, fmt.Sprintf("%q is no id of an application; it is a number of about 18 digits", id)}
	}
	_, err := fmt.Fprintln(w.stdout, discord.Invite(id))
	return err
}

type discordCheckCmd struct{ accountFlags }

func (w world) discordCheckVerb() *verb {
	var c discordCheckCmd
	v := w.verb(&c, "check", "Look at the token, the intents and the servers. Posts nothing.")
	c.bind(v)
	return v
}

// Run looks the account over: 0 when nothing is to be mended, 1 otherwise.
func (c discordCheckCmd) Run(w world) error {
	a, err := c.account(w, discord.Name)
	if err != nil {
		return err
	}
	if sayFaults(w.stdout, a) {
		return exit{code: exitFault}
	}
	ok := true
	for _, f := range discord.Check(w.ctx, a.DiscordOptions(config.Opening{})) {
		ok = ok && f.Mend == ""
		sayFinding(w.stdout, f.Mend == "", f.What, f.Mend)
	}
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if !ok {
		return exit{code: exitFault}
	}
	return nil
}

// sayFaults tells what keeps an account from being looked at.
func sayFaults(out io.Writer, a config.Account) bool {
	for _, fault := range a.Faults {
		sayFinding(out, false, a.Place.String()+": "+fault, "")
	}
	return len(a.Faults) > 0
}

func sayFinding(out io.Writer, ok bool, what, mend string) {
	mark := "ok   "
	if !ok {
		mark = "WRONG"
	}
	fmt.Fprintf(out, "%s  %s\n", mark, what)
	if mend != "" {
		fmt.Fprintf(out, "       %s\n", mend)
	}
}
