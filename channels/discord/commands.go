package discord

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"
)

// Command is one slash command.
type Command struct {
	Name        string // without the slash, in lower case
	Description string // one line for people
	Argument    string // what may be written behind it, in a few words; "" nothing
}

// maxCommands is the most of one bot (Discord).
const maxCommands = 100

// commandName tells whether Discord takes s as a name.
func commandName(s string) bool {
	foreign := func(r rune) bool { return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) }
	n := utf8.RuneCountInString(s)
	return n >= 1 && n <= 32 && !strings.ContainsFunc(s, foreign)
}

// argument is the name of a command's one option.
const argument = "text"

// registerCommands makes Discord's list of the bot's commands what it should be,
// everywhere or in Config.CommandGuilds. It writes only when something differs:
// the list can be written a few times a day only, and stays when the daemon is
// gone [D16].
func (c *Channel) registerCommands(ctx context.Context) {
	self := c.self.Load()
	if !c.cfg.NativeCommands || len(c.opt.Commands) == 0 || self == nil || self.application == "" || c.registered.Load() {
		return
	}
	want := c.wireCommands()
	paths := []string{"applications/" + self.application + "/commands"}
	if len(c.cfg.CommandGuilds) > 0 {
		paths = nil
		for _, guild := range c.cfg.CommandGuilds {
			paths = append(paths, "applications/"+self.application+"/guilds/"+guild+"/commands")
		}
	}
	for _, path := range paths {
		var have []*discordgo.ApplicationCommand
		err := c.api.do(ctx, call{method: http.MethodGet, path: path}, &have)
		if err == nil && !sameCommands(have, want) {
			err = c.api.do(ctx, call{method: http.MethodPut, path: path, body: want}, nil)
			if err == nil {
				c.log.Info("slash commands registered", "commands", len(want))
			}
		}
		if err != nil {
			c.log.Warn("slash commands not registered", "err", err)
			return
		}
	}
	c.registered.Store(true)
}

// wireCommands gives the commands as Discord takes them.
func (c *Channel) wireCommands() []*discordgo.ApplicationCommand {
	var all []*discordgo.ApplicationCommand
	for _, cmd := range c.opt.Commands {
		if !commandName(cmd.Name) || cmd.Name != strings.ToLower(cmd.Name) || len(all) == maxCommands {
			c.log.Warn("not a slash command", "name", cmd.Name)
			continue
		}
		w := &discordgo.ApplicationCommand{
			Type: discordgo.ChatApplicationCommand, Name: cmd.Name, Description: clip(cmd.Description, 100),
			Options: []*discordgo.ApplicationCommandOption{},
		}
		if cmd.Argument != "" {
			w.Options = append(w.Options, &discordgo.ApplicationCommandOption{
				Type: discordgo.ApplicationCommandOptionString, Name: argument, Description: clip(cmd.Argument, 100),
			})
		}
		all = append(all, w)
	}
	return all
}

// sameCommands compares what Discord has with what it should have; order does
// not matter.
func sameCommands(have, want []*discordgo.ApplicationCommand) bool {
	return slices.Equal(commandKeys(have), commandKeys(want))
}

func commandKeys(all []*discordgo.ApplicationCommand) []string {
	var keys []string
	for _, cmd := range all {
		key := cmd.Name + "\x00" + cmd.Description
		if cmd.Type > discordgo.ChatApplicationCommand {
			key += "\x00other"
		}
		for _, o := range cmd.Options {
			key += "\x00" + o.Name + "\x00" + o.Description
			if o.Required || o.Type != discordgo.ApplicationCommandOptionString {
				key += "\x00other"
			}
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
