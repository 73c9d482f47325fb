package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"standin/bot"
	"standin/channels"
	"standin/cronjobs"
	"standin/fallback"
	"standin/store"
)

// R70, R71: who may do what with /cron, where. It reads as a chat: what is
// written, and what the answer must and must not say.
func TestCronInChats(t *testing.T) {
	dir := t.TempDir()
	conf := filepath.Join(dir, "config.yaml")
	err := os.WriteFile(conf, []byte("agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [openai/gpt-5.5-mini]}}}\nmodels: {providers: {openai: {apiKey: k1}}}\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	at := func(who string, chat channels.ChatType, session fallback.SessionID) bot.Given {
		return bot.Given{Session: session, Agent: "main", Chat: chat, From: channels.User{ID: who}, To: channels.Address{Channel: "slack", Conversation: "C-" + string(session)}}
	}
	owner := at("owner", channels.Direct, "agent:main:main")
	owner.Operates, owner.Owner = true, true
	ownerInRoom := at("owner", channels.Room, "agent:main:slack:channel:c1")
	ownerInRoom.Operates, ownerInRoom.Owner = true, true
	bob := at("bob", channels.Direct, "agent:main:slack:direct:bob")
	eve := at("eve", channels.Direct, "agent:main:slack:direct:eve")
	bobInRoom, bobInGroup := at("bob", channels.Room, "agent:main:slack:channel:c1"), at("bob", channels.Group, "agent:main:slack:group:g1")
	for _, line := range []struct {
		who   bot.Given
		says  string
		want  string
		never string
	}{
		{bobInRoom, "list", "In rooms /cron is for owners", "ID"},
		{bobInRoom, `add --name X --every 1h --message x`, "In rooms /cron is for owners", "Added"},
		{bobInRoom, "", "In rooms /cron is for owners", "no jobs"},
		{bobInGroup, "run X", "In rooms /cron is for owners", "runs now"},
		{ownerInRoom, `add --name Room --every 1h --message x`, `Added "Room"`, "standin cron"},
		{owner, `add --name Mine --every 1h --message "secret plan" --no-deliver`, `Added "Mine"`, ""},
		{bob, `add --name Tea --at 20m --message “make tea”`, `Added "Tea"`, ""},
		{bob, "list", "Tea", "Mine"},
		{bob, "list --all", "Tea", "Room"},
		{bob, "show Mine", "This chat has no job Mine. /cron list", "secret"},
		{bob, "edit Mine --disable", "This chat has no job Mine", "Changed"},
		{bob, "rm Room", "This chat has no job Room", "Removed"},
		{bob, "show nosuch", "This chat has no job nosuch", ""},
		{bob, "edit Tea --tools exec", "--tools is for owners", "Changed"},
		{bob, "edit Tea --channel slack --to channel:C9", "--channel is for owners", "Changed"},
		{bob, "edit Tea --completion-webhook=https://example.org/x", "--completion-webhook is for owners", "Changed"},
		{bob, "edit Tea --webhook https://example.org/x", "--webhook is for owners", "Changed"},
		{bob, "list --of-session agent:main:main", "--of-session is for owners", "Mine"},
		{bob, "add --name A --at 5m --message x --agent main", "--agent is for owners", "Added"},
		{bob, "runs --run-id x", "--run-id is for owners", ""},
		{bob, "list --state /etc", "--state is for the command line", ""},
		{bob, "run", "Which job? Name it right behind the verb: /cron run <job>", ""},
		{owner, "run", "Which job? Name it right behind the verb: /cron run <job>", "standin"},
		{eve, "list", "There are no jobs. /cron help tells how", "Tea"},
		{eve, "disable Tea", "This chat has no job Tea", "Switched"},
		{owner, "list", "Tea", "standin"},
		{owner, "rm nosuch", `there is no job "nosuch"; /cron list --all shows all`, "standin"},
		{owner, "add --name X --every 5 --message x", `"5" is no duration; write it like 30s, 20m, 2h or 1d`, "standin"},
		{owner, "add --name X --every 5m --message x --thinking hard", `--thinking is "hard"; use off, minimal`, "Added"},
		{owner, "add --name X --every 0s --message x", "--every is not above zero; give the time between two runs", "Added"},
		{owner, "add --name X --every 5m --message x --webhook http://localhost:1/x", "--webhook leads into the house (localhost:1), which webhooks may not; if that is meant, put the host into cron.webhookAllowHosts", "Added"},
		{owner, "edit Tea --completion-webhook https://example.org/hook", "each end is told to https://example.org", "hook\n"},
		{owner, "edit Tea --clear-completion-webhook", "Changed", "each end"},
		{owner, "explode", "There is /cron add, list", ""},
		{owner, `add --name "half`, "A quotation mark is not closed", ""},
		{bob, "rm Tea", `Removed "Tea"`, ""},
	} {
		w := world{ctx: t.Context(), getenv: env("HOME", dir, "KEY", "k"), stdin: strings.NewReader("")}
		line.who.Args = line.says
		got := w.cronTold(t.Context(), filepath.Join(dir, "state"), conf, line.who)
		if !strings.Contains(got, line.want) || line.never != "" && strings.Contains(got, line.never) {
			t.Errorf("%s in a %s writes /cron %s\nand reads:\n%s\n(must say %q, never %q)", line.who.From.ID, line.who.Chat, line.says, got, line.want, line.never)
		}
	}
	// Where direct chats share one session, the owner's jobs are still not others'.
	shared := bob
	shared.Session = owner.Session
	db, err := store.OpenBeside(t.Context(), store.Options{Dir: filepath.Join(dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := db.Jobs(t.Context())
	for _, j := range jobs {
		if j.Name == "Mine" {
			err = errors.Join(err, db.PutRun(t.Context(), cronjobs.Run{ID: "r1", Job: j.ID, Name: j.Name, Started: 1, Ended: 2, Status: cronjobs.OK, Summary: "secret answer"}))
		}
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, line := range []struct {
		who               bot.Given
		says, want, never string
	}{
		{shared, `add --name Cake --every 1h --message "bake"`, `Added "Cake"`, ""},
		{shared, "list --all --json", "Cake", "secret plan"},
		{shared, "list --of-guests=false", "--of-guests is for owners", "Mine"},
		{shared, "runs --json", "", "secret answer"},
		{shared, "runs --id Mine --json", "This chat has no job Mine", "secret answer"},
		{shared, "list -c/etc/hosts", "is for the command line", "Cake"},
		{owner, "list", "Mine", ""},
		{owner, "runs --json", "secret answer", ""},
	} {
		w := world{ctx: t.Context(), getenv: env("HOME", dir, "KEY", "k"), stdin: strings.NewReader("")}
		line.who.Args = line.says
		got := w.cronTold(t.Context(), filepath.Join(dir, "state"), conf, line.who)
		if !strings.Contains(got, line.want) || line.never != "" && strings.Contains(got, line.never) {
			t.Errorf("%s writes /cron %s\nand reads:\n%s\n(must say %q, never %q)", line.who.From.ID, line.says, got, line.want, line.never)
		}
	}
	// Of a config with a fault only the owner reads what is in it.
	if err := os.WriteFile(conf, []byte("agents: {defualts: {model: openai/secret-model}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, who := range []bot.Given{owner, bob} {
		w := world{ctx: t.Context(), getenv: env("HOME", dir), stdin: strings.NewReader("")}
		who.Args = "add --name Y --every 1h --message y"
		got := w.cronTold(t.Context(), filepath.Join(dir, "state"), conf, who)
		if strings.Contains(got, "defualts") != who.Owner || strings.Contains(got, "Added") {
			t.Errorf("%s reads:\n%s", who.From.ID, got)
		}
	}
}
