package rehearsal

import (
	"fmt"
	"io"
	"strings"
)

// printTale prints the timeline: when, in which session, who, what. What a
// person in the room reads stands at the margin, how it came about beneath it.
func printTale(out io.Writer, r *rehearsal, t *tale) {
	title := r.title
	if title == "" {
		title = r.file
	}
	fmt.Fprintf(out, "%s\n", title)
	t.mu.Lock()
	defer t.mu.Unlock()
	session, last := "", ""
	for _, l := range t.lines {
		text := l.sentence()
		if text == "" {
			continue
		}
		at := short(l.at)
		if l.session != "" && l.session != session {
			session = l.session
			fmt.Fprintf(out, "%10s  — %s\n", at, session)
			last = at
		}
		shown := at
		if at == last {
			shown = ""
		}
		last = at
		fmt.Fprintf(out, "%10s  %s\n", shown, strings.ReplaceAll(text, "\n", "\n            "))
	}
}

// sentence words a line for people, "" for what only machines read.
func (l told) sentence() string {
	text := func(name string) string {
		v, ok := l.get(name)
		if !ok {
			return ""
		}
		return shownValue(v)
	}
	with := func(before, name, after string) string {
		if s := text(name); s != "" {
			return before + s + after
		}
		return ""
	}
	switch l.event {
	case "":
		if l.who != "" {
			return l.who + ": " + l.remark
		}
		return "* " + l.remark
	case "attempt":
		s := fmt.Sprintf("    %s/%s %s%s", text("position"), text("total"), text("model"), with(" (", "profile", ")"))
		if text("outcome") == "ok" {
			s += " answers"
		} else {
			s += " fails" + with(": ", "reason", "") + with(" HTTP ", "status", "") + with(" ", "code", "")
		}
		return s + with(", a ", "probe", " probe")
	case "tool":
		how := ""
		switch {
		case text("failed") != "":
			how = ", which fails"
		case text("acted") != "":
			how = ", which acts"
		}
		return "    " + text("model") + " uses " + text("name") + how
	case "skip":
		return fmt.Sprintf("    %s is passed over: %s%s", text("model"), strings.ReplaceAll(text("why"), "_", " "), with(" (", "reason", ")"))
	case "override":
		if text("model") == "" {
			return "    the session is free again" + with(", with ", "profile", "")
		}
		s := "    the session is set to " + text("model")
		if text("act") == "rollback" {
			s = "    the session goes back to " + text("model")
		}
		return s + with(" (", "source", with(", for ", "origin", "")+")")
	case "cooldown", "disabled", "blocked":
		return fmt.Sprintf("    %s is %s until %s%s%s", text("profile"), map[string]string{"cooldown": "cooling", "disabled": "disabled", "blocked": "blocked"}[l.event],
			text("until"), with(" (", "reason", ")"), with(" for ", "model", ""))
	case "notice":
		return "bot: " + text("text")
	case "reply":
		return "bot: " + text("text") + with("   [", "model", "]")
	case "failure", "command":
		return "bot: " + text("text")
	case "silent":
		return "    nothing is shown: " + strings.ReplaceAll(text("why"), "_", " ")
	case "run":
		return "    job " + text("job") + " ends: " + text("status") + with(", answered by ", "used", "")
	case "heartbeat":
		return "    heartbeat of " + text("agent") + " ends: " + text("status") + with(", answered by ", "model", "")
	}
	return ""
}

// printVerdict is the last word of a timeline.
func printVerdict(out io.Writer, r *rehearsal, misses []miss) {
	n := len(r.expect) + len(r.never)
	switch {
	case len(misses) > 0:
		fmt.Fprintln(out)
		printMisses(out, r, misses)
	case n == 0:
		fmt.Fprintf(out, "%s: played; it expects nothing\n", r.file)
	default:
		fmt.Fprintf(out, "%s: %s held\n", r.file, all(n))
	}
}

func all(n int) string {
	if n == 1 {
		return "the one expectation"
	}
	return fmt.Sprintf("all %d expectations", n)
}

func expectations(n int) string {
	if n == 1 {
		return "1 expectation"
	}
	return fmt.Sprintf("%d expectations", n)
}

// printMisses tells what did not hold, with the nearest events.
func printMisses(out io.Writer, r *rehearsal, misses []miss) {
	for _, m := range misses {
		fmt.Fprintf(out, "%s:%d: %s\n    %s\n", r.file, m.wish.line, m.wish.text, m.what)
		for _, h := range m.nearest {
			fmt.Fprintf(out, "    near: %s\n", h.line())
		}
	}
	if n := len(r.expect) + len(r.never); len(misses) > 0 {
		fmt.Fprintf(out, "%s: %d of %s did not hold\n", r.file, len(misses), expectations(n))
	}
}
