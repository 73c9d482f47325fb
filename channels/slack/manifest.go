package slack

import (
	"encoding/json"
	"fmt"
	"strings"

	slackapi "github.com/slack-go/slack"
)

// scopes are what the bot token needs [SL5]; Check reports those that are
// missing, the manifest asks for them.
var scopes = []string{
	"app_mentions:read", "assistant:write", "channels:history", "channels:read", "chat:write", "commands", "emoji:read",
	"files:read", "files:write", "groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history",
	"mpim:read", "mpim:write", "pins:read", "pins:write", "reactions:read", "reactions:write", "usergroups:read", "users:read",
}

// botEvents are what Slack tells the app of [SL6].
var botEvents = []string{
	"app_home_opened", "app_mention", "assistant_thread_context_changed", "assistant_thread_started", "channel_rename",
	"member_joined_channel", "member_left_channel", "message.channels", "message.groups", "message.im", "message.mpim",
	"pin_added", "pin_removed", "reaction_added", "reaction_removed",
}

// AppInfo is what a manifest needs besides the settings.
type AppInfo struct {
	Name        string // of the app and its user; "" is Standin
	Description string
	// PublicURL is where Slack reaches the daemon in http mode, such as
	// https://bots.example.com; the webhook path is added to it.
	PublicURL string
	// Commands are those of the bot, for Config.NativeCommands.
	Commands []AppCommand
}

// AppCommand is a slash command of the manifest.
type AppCommand struct{ Name, Description, Usage string }

// maxAppCommands is the most of one app (Slack).
const maxAppCommands = 25

// slashName is the name under which a command is registered: Slack keeps
// /status for itself [SL28].
func slashName(name string) string {
	if name == "status" {
		return "agentstatus"
	}
	return name
}

// Manifest is the app's manifest as JSON, to be pasted when the app is made at
// Slack [SL7]. It asks for every scope and event that the adapter uses.
func Manifest(cfg Config, app AppInfo) []byte {
	if app.Name == "" {
		app.Name = "Standin"
	}
	if app.Description == "" {
		app.Description = "Answers in direct messages, channels and threads."
	}
	request := ""
	if cfg.Mode == modeHTTP {
		request = strings.TrimSuffix(app.PublicURL, "/") + cfg.WebhookPath
	}
	m := slackapi.Manifest{
		Metadata: slackapi.ManifestMetadata{MajorVersion: 1},
		Display:  slackapi.Display{Name: app.Name, Description: app.Description},
		Features: slackapi.Features{
			AppHome:       slackapi.AppHome{MessagesTabEnabled: true},
			AssistantView: &slackapi.AssistantView{AssistantDescription: app.Description},
			BotUser:       slackapi.BotUser{DisplayName: app.Name, AlwaysOnline: true},
		},
		OAuthConfig: slackapi.OAuthConfig{Scopes: slackapi.OAuthScopes{Bot: scopes}},
		Settings: slackapi.Settings{
			EventSubscriptions: &slackapi.EventSubscriptions{RequestUrl: request, BotEvents: botEvents},
			Interactivity:      &slackapi.Interactivity{IsEnabled: true, RequestUrl: request},
			SocketModeEnabled:  cfg.Mode == modeSocket,
		},
	}
	if cfg.SlashCommand.Enabled {
		m.Features.SlashCommands = []slackapi.ManifestSlashCommand{{
			Command: "/" + cfg.SlashCommand.Name, Description: "Ask, or give a command", UsageHint: "[/status | /model | a question]",
			ShouldEscape: true, Url: request,
		}}
	}
	for _, cmd := range app.Commands {
		if !cfg.NativeCommands || len(m.Features.SlashCommands) == maxAppCommands {
			break
		}
		m.Features.SlashCommands = append(m.Features.SlashCommands, slackapi.ManifestSlashCommand{
			Command: "/" + slashName(cmd.Name), Description: cmd.Description, UsageHint: cmd.Usage, ShouldEscape: true, Url: request,
		})
	}
	doc, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("slack: the manifest cannot be written: %v", err)) // it is made of text alone
	}
	return append(doc, '\n')
}
