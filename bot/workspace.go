package bot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"standin/bot/tools"
	"standin/fallback"
)

// The bounds of what a workspace adds to the instructions, in characters (G34:
// bootstrapMaxChars, bootstrapTotalMaxChars).
const (
	fileChars      = 20_000
	workspaceChars = 60_000
)

// The files of a workspace that become instructions, in this order [G34]. Private
// ones are shown to the owner alone, never in a shared room.
var (
	openFiles    = []string{"AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md"}
	privateFiles = []string{"USER.md", "MEMORY.md"}
)

// firstRunFile is read while the workspace is new; the agent is to delete it when
// it has done what it says.
const firstRunFile = "BOOTSTRAP.md"

// workspace is what the agent's folder adds to the instructions of a turn. It is
// the same text from turn to turn as long as the files are, so that vendors' caches
// stay warm [G35].
func (b *Bot) workspace(_ context.Context, at tools.Place, light bool) string {
	if at.Workspace == "" || light {
		return ""
	}
	root, err := os.OpenRoot(at.Workspace)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		b.Log.Error("workspace not read", "agent", at.Agent, "err", err)
		return ""
	}
	defer root.Close()
	names := append([]string(nil), openFiles...)
	if at.Owner && !at.Shared() {
		names = append(append(names, privateFiles...), notes(b.Now().In(b.zone(at.Agent)))...)
		names = append(names, firstRunFile)
	}
	var parts []string
	left := workspaceChars
	for _, name := range names {
		text, err := readNote(root, name, min(fileChars, left))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			b.Log.Warn("file of the workspace not read", "agent", at.Agent, "file", name, "err", err)
			text = "(this file cannot be read)"
		}
		left -= utf8.RuneCountInString(text)
		parts = append(parts, "## "+name+"\n"+text)
	}
	if len(parts) == 0 {
		return ""
	}
	return "# Your workspace\n" + strings.Join(parts, "\n\n")
}

// notes are the dated notes that a turn is shown: today's and yesterday's.
func notes(now time.Time) []string {
	return []string{
		"memory/" + now.AddDate(0, 0, -1).Format(time.DateOnly) + ".md",
		"memory/" + now.Format(time.DateOnly) + ".md",
	}
}

// readNote reads a file of the workspace, cut to most characters.
func readNote(root *os.Root, name string, most int) (string, error) {
	if most <= 0 {
		return "(left out: the workspace's files are longer than what fits here)", nil
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("not a file")
	}
	raw := make([]byte, min(info.Size(), int64(most)*utf8.UTFMax))
	n, err := f.ReadAt(raw, 0)
	if err != nil && n < len(raw) {
		return "", err
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(raw), ""))
	if text == "" {
		return "(empty)", nil
	}
	if all := []rune(text); len(all) > most {
		return string(all[:most]) + fmt.Sprintf("\n(cut here: %d characters are shown)", most), nil
	}
	return text, nil
}

// zone is where an agent's people live.
func (b *Bot) zone(a fallback.AgentID) *time.Location {
	if zone := b.Config().Agents[a].Zone; zone != nil {
		return zone
	}
	return time.Local
}

// today is the date for the instructions. The time of day is left to
// session_status: it would change the prompt with each turn [G35].
func (b *Bot) today(a fallback.AgentID) string {
	return "Today is " + b.Now().In(b.zone(a)).Format("Monday, 2 January 2006 (MST)") + "."
}
