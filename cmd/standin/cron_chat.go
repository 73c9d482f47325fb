package main

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"standin/bot"
	"standin/channels"
	"standin/fallback/provider"
)

// cronCommand is /cron: the verbs of standin cron, in a chat. A job that is made
// there belongs to that chat: its answers come back to it [R70]. In rooms it is
// for owners, and elsewhere others see and change the jobs of their own chat
// alone [R71].
func (w world) cronCommand(dir, path string) bot.Command {
	return bot.Command{
		Name: "cron", Args: "[list | add | show | run | runs | explain | edit | enable | disable | rm] …",
		Help: `jobs that run at a time, such as /cron add --name Brief --cron "0 9 * * 1-5" --message "What is new?"`,
		At:   func(ctx context.Context, g bot.Given) (string, error) { return w.cronTold(ctx, dir, path, g), nil },
	}
}

// chatVerbs are those that a chat has.
var chatVerbs = []string{"add", "list", "show", "get", "edit", "enable", "disable", "rm", "run", "runs", "explain", "status"}

// needJob are the verbs that are about one job, which is named right behind them.
var needJob = []string{"show", "get", "edit", "enable", "disable", "rm", "run", "explain"}

// notInChat are flags about the machine, or that wait.
var notInChat = []string{"--state", "--config", "-c", "--wait", "--wait-timeout", "--poll-interval", "--session-key", "--clear-session-key", "--help", "-h"}

// forOperators are flags that lead out of a chat.
var forOperators = []string{"--channel", "--to", "--thread-id", "--account", "--webhook", "--agent", "--clear-agent", "--session", "--system-event",
	"--failure-channel", "--failure-to", "--failure-mode", "--failure-account", "--failure-alert-channel", "--failure-alert-to", "--failure-alert-mode",
	"--failure-alert-account-id", "--tools", "--of-session", "--of-guests", "--completion-webhook"}

// cronTold answers /cron.
func (w world) cronTold(ctx context.Context, dir, path string, g bot.Given) string {
	if g.Chat != channels.Direct && !g.Operates {
		return "In rooms /cron is for owners (commands.ownerAllowFrom). Write to me directly for jobs of your own."
	}
	words, unclosed := chatWords(g.Args)
	switch {
	case unclosed:
		return "A quotation mark is not closed. Write each text between two of them."
	case len(words) == 0:
		words = []string{"list"}
	case words[0] == "help" || !slices.Contains(chatVerbs, words[0]):
		return "There is /cron " + strings.Join(chatVerbs, ", ") + ", with the flags of standin cron. For example:\n" +
			"/cron add --name Brief --cron \"0 9 * * 1-5\" --tz Europe/Berlin --message \"What is new?\"\n" +
			"/cron add --name Tea --at 20m --message \"Remind me of my tea\"\n" +
			"/cron run Brief"
	}
	for _, word := range words {
		flag, _, _ := strings.Cut(word, "=")
		switch {
		case slices.Contains(notInChat, flag), strings.HasPrefix(word, "-c"): // -cFILE
			return flag + " is for the command line (standin cron)."
		case slices.Contains(forOperators, flag) && !g.Operates:
			return flag + " is for owners (commands.ownerAllowFrom): without it the job belongs to this chat."
		}
	}
	verb := words[0]
	if slices.Contains(needJob, verb) && (len(words) == 1 || strings.HasPrefix(words[1], "-")) {
		return "Which job? Name it right behind the verb: /cron " + verb + " <job>"
	}
	if verb == "add" {
		words = append(words, hereOf(g, words)...)
	}
	words = append(words, "--state", dir)
	getenv := w.getenv
	if path != "" {
		words = append(words, "--config", path)
	} else {
		getenv = func(string) string { return "" } // no config of another daemon
	}
	if !g.Operates {
		if refused := w.notTheirs(ctx, dir, g, words); refused != "" {
			return refused
		}
		if verb == "list" || verb == "runs" {
			// Their own, and not the owner's who may share the session (dmScope main).
			words = append(words, "--of-session", string(g.Session), "--of-guests")
		}
	}
	var said bytes.Buffer
	inner := world{ctx: ctx, getenv: getenv, stdin: strings.NewReader(""), stdout: &said, stderr: &said}
	run(inner, append([]string{"cron"}, words...))
	text := strings.TrimSpace(provider.Redact(said.String()))
	if verb != "get" {
		text = asInChat(text)
	}
	if !g.Operates && strings.Contains(text, notChecked) {
		return "The config has a fault, so the job cannot be checked. Please tell the owner; standin check shows it." // and nobody else
	}
	if verb == "run" && !g.Operates {
		text, _, _ = strings.Cut(text, " /cron runs --run-id") // which is not theirs to ask
	}
	switch verb {
	case "list", "runs", "get":
		return "```\n" + text + "\n```"
	}
	return text
}

// atTerminal is how answers name what to write next at a terminal.
var atTerminal = regexp.MustCompile(`(?m)standin cron (add|list|show|get|runs|run|edit|enable|disable|rm|explain|status)\b`)

// asInChat says the same to somebody who is in a chat: there the verbs begin with
// a stroke, and nobody needs to be told which program speaks.
func asInChat(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimPrefix(line, "standin: ")
		lines[i] = strings.ReplaceAll(line, "Try: standin --help", "Try: /cron help")
	}
	text = atTerminal.ReplaceAllString(strings.Join(lines, "\n"), "/cron $1")
	return strings.NewReplacer("/cron add --help", "/cron help", " (--config names one)", "").Replace(text)
}

// hereOf has a new job belong to the chat that it is made in.
func hereOf(g bot.Given, words []string) (flags []string) {
	given := func(names ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool {
			name, _, _ := strings.Cut(w, "=")
			return slices.Contains(names, name)
		})
	}
	flags = append(flags, "--session-key", string(g.Session))
	if !g.Owner {
		flags = append(flags, "--guest") // its runs have no more rights than they
	}
	if !given("--agent") && g.Agent != "" {
		flags = append(flags, "--agent", string(g.Agent))
	}
	if given("--system-event", "--announce", "--channel", "--to", "--webhook", "--no-deliver", "--thread-id", "--account") {
		return flags
	}
	flags = append(flags, "--channel", g.To.Channel, "--to", g.To.Conversation)
	if g.To.Thread != "" {
		flags = append(flags, "--thread-id", g.To.Thread)
	}
	if g.To.Account != "" {
		flags = append(flags, "--account", g.To.Account)
	}
	return flags
}

// notTheirs refuses a verb on a job of another chat.
func (w world) notTheirs(ctx context.Context, dir string, g bot.Given, words []string) string {
	ref := ""
	switch words[0] {
	case "show", "get", "edit", "enable", "disable", "rm", "run", "explain":
		if len(words) > 1 && !strings.HasPrefix(words[1], "-") {
			ref = words[1]
		}
	case "runs":
		for i, word := range words {
			if id, ok := strings.CutPrefix(word, "--id="); ok {
				ref = id
			} else if word == "--id" && i+1 < len(words) {
				ref = words[i+1]
			}
			if strings.HasPrefix(word, "--run-id") {
				return "--run-id is for owners (commands.ownerAllowFrom)."
			}
		}
		if ref == "" {
			return ""
		}
	default:
		if !slices.Contains(needJob, words[0]) {
			return ""
		}
		ref = words[1]
	}
	w.ctx = ctx
	d, err := cronFlags{stateFlag: stateFlag{State: dir}}.open(w, false)
	if err != nil {
		return err.Error()
	}
	defer d.db.Close()
	j, err := d.Find(ctx, ref)
	if err != nil || j.SessionKey != string(g.Session) || !j.Guest { // the owner's may share the session (dmScope main)
		return "This chat has no job " + ref + ". /cron list shows those that it has."
	}
	return ""
}

// chatWords splits what was written into words, with quotation marks of every
// kind around texts. unclosed says that one of them has no end.
func chatWords(s string) (words []string, unclosed bool) {
	closes := map[rune]string{'"': "\"", '\'': "'", '“': "”“\"", '„': "”“\"", '‘': "’'", '«': "»", '`': "`"}
	var word strings.Builder
	in, end := false, ""
	for _, r := range s {
		switch {
		case end != "" && strings.ContainsRune(end, r):
			end = ""
		case end != "":
			word.WriteRune(r)
		case closes[r] != "" && (word.Len() == 0 || strings.HasSuffix(word.String(), "=")):
			in, end = true, closes[r]
		case unicode.IsSpace(r):
			if in || word.Len() > 0 {
				words = append(words, dashed(word.String()))
			}
			word.Reset()
			in = false
		default:
			word.WriteRune(r)
		}
	}
	if in || word.Len() > 0 {
		words = append(words, dashed(word.String()))
	}
	return words, end != ""
}

// dashed gives a flag its two dashes back, which keyboards make one long one of.
func dashed(word string) string {
	for _, long := range []string{"—", "–"} {
		if rest, ok := strings.CutPrefix(word, long); ok {
			return "--" + strings.TrimPrefix(rest, "-")
		}
	}
	return word
}
