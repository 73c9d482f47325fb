package console

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"standin/channels"
)

// style turns a kind of text into rows. The zero style has no colours; shapes
// (labels, marks) differ anyhow, so that nothing is told by colour alone.
type style struct {
	agent, failed, notice, faint, prompt func(string) string
}

func newStyle(colour bool) style {
	if !colour {
		same := func(s string) string { return s }
		return style{same, same, same, same, same}
	}
	// The terminal's own sixteen colours, which its theme made readable.
	return style{
		agent:  ansi.NewStyle().Bold().ForegroundColor(ansi.Cyan).Styled,
		failed: ansi.NewStyle().ForegroundColor(ansi.Red).Styled,
		notice: ansi.NewStyle().ForegroundColor(ansi.Yellow).Styled,
		faint:  ansi.NewStyle().Faint().Styled,
		prompt: ansi.NewStyle().Bold().ForegroundColor(ansi.Green).Styled,
	}
}

// block gives the lines that a message stands in above the prompt. Notices keep
// their text untouched [N9]; answers and failures say who speaks.
func (s style) block(k channels.Kind, agent, text string, width int) []string {
	text = strings.TrimRight(text, "\n")
	switch k {
	case channels.Notice:
		return each(fold(text, width-1), s.notice)
	case channels.Failure:
		return each(fold(agent+" ✗ "+text, width-1), s.failed)
	case channels.Command:
		return fold(text, width-1)
	default:
		return s.labelled(fold(agentLabel(agent)+text, width-1), agentLabel(agent))
	}
}

func agentLabel(agent string) string { return agent + " › " }

// labelled colours the label that the first row begins with.
func (s style) labelled(rows []string, label string) []string {
	label = strings.TrimRight(label, " ")
	if len(rows) > 0 {
		if rest, ok := strings.CutPrefix(rows[0], label); ok {
			rows[0] = s.agent(label) + rest
		}
	}
	return rows
}

func each(rows []string, paint func(string) string) []string {
	for i, r := range rows {
		if r != "" {
			rows[i] = paint(r)
		}
	}
	return rows
}

var frames = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// working is the spinner's row after a time of work.
func (s style) working(agent string, d time.Duration) string {
	f := frames[int(d/(100*time.Millisecond))%len(frames)]
	return s.faint(fmt.Sprintf("%c %s is working · %s · Ctrl-C stops", f, agent, elapsed(d)))
}

func elapsed(d time.Duration) string {
	sec := int(d / time.Second)
	if sec < 60 {
		return fmt.Sprintf("%ds", sec)
	}
	return fmt.Sprintf("%dm %02ds", sec/60, sec%60)
}

// clean makes a text safe to print: what a model wrote must not move the
// cursor, set the title or answer a terminal's question. Control characters
// become the pictures Unicode has for them, so that nothing is hidden.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7f:
			return 0x2421
		case r < 0xa0 && r > 0x7f:
			return '\uFFFD'
		case r == 0x202d || r == 0x202e: // overrides: text that reads backwards
			return '\uFFFD'
		}
		return r
	}, s)
}
