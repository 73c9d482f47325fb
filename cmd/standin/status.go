package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"standin/bot"
	"standin/bot/incidents"
	"standin/bot/operator"
	"standin/channels"
	"standin/cmd/standin/daemon"
)

// statusCmd is `standin status`: one screen for a person who was woken up.
type statusCmd struct {
	stateFlag
	JSON bool
}

func (w world) statusVerb() *verb {
	var c statusCmd
	v := w.verb(&c, "status", "Ask the running daemon what answers now and why, what waits, and what failed last. Exits with 0 when all is well, 1 when something is not, 2 when nothing is answered.")
	c.bind(v)
	v.Flags().BoolVar(&c.JSON, "json", false, "As JSON, as GET /api/v1/now answers it.")
	return v
}

// Run tells what the daemon says just now, over the socket in its state folder.
func (c statusCmd) Run(w world) error {
	dir := c.dir(w)
	n, err := daemon.AskNow(w.ctx, dir)
	if err != nil {
		return exit{exitUsage, fmt.Sprintf("no daemon answers for %s: %v\nNobody is answered until it runs: standin serve starts it, and its log says why it ended.", dir, err)}
	}
	if c.JSON {
		err = printJSON(w, n)
	} else {
		printNow(w.stdout, n, dir)
	}
	if err != nil {
		return err
	}
	if code := verdictOf(n); code != 0 {
		return exit{code: code}
	}
	return nil
}

// verdictOf is the exit code of a monitor: 2 when nobody can be answered, 1 when
// somebody should look.
func verdictOf(n operator.Now) int {
	code := 0
	if n.Degraded != "" || n.StandInsTotal > 0 || n.Readiness != operator.Ready {
		code = exitFault
	}
	for _, i := range n.Incidents {
		if i.Kind != string(incidents.Budget) { // half of it is spent on most days; one that is used up shows in who answers
			code = exitFault
		}
	}
	exhausted := len(n.Agents) > 0
	for _, a := range n.Agents {
		exhausted = exhausted && a.Standing == channels.Exhausted
		if a.Standing != channels.Healthy {
			code = exitFault
		}
	}
	down := len(n.Channels) > 0
	for _, c := range n.Channels {
		down = down && c.State != string(channels.Ready)
		if c.State != string(channels.Ready) {
			code = exitFault
		}
	}
	if exhausted || down {
		return exitUsage
	}
	return code
}

func printNow(out io.Writer, n operator.Now, dir string) {
	p := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	p("standin %s on %s: %s, up since %s", n.Version, dir, n.Readiness, bot.Moment(n.StartedAt, n.At))
	if n.Degraded != "" {
		p("  note: %s", line(n.Degraded))
	}
	printOpen(out, n)
	for _, a := range n.Agents {
		p("")
		printAgent(out, a, n.At)
	}
	printStandIns(out, n)
	if len(n.Channels) > 0 {
		p("\nChannels")
		t := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		for _, c := range n.Channels {
			fmt.Fprintf(t, "  %s\t%s\t%s\tsince %s\t%s\n", c.Channel, c.Account, c.State, bot.Clock(c.Since, n.At), line(c.Reason))
			if c.Mend != "" {
				fmt.Fprintf(t, "  \t\t%s\n", line(c.Mend))
			}
		}
		_ = t.Flush()
	}
	for _, s := range n.Servers {
		if s.State != "ready" {
			p("  tool server %s: %s %s", s.Name, s.State, line(s.Error))
		}
	}
	p("\nWaiting")
	p("  %s", waiting(n))
	if len(n.Failures) > 0 {
		p("\nLast failures")
		for _, f := range n.Failures {
			p("  %s  %s", bot.Clock(f.At, n.At), line(f.Text))
		}
	}
	if c := n.Cost; c != nil {
		unpriced := ""
		if c.Unpriced > 0 {
			unpriced = fmt.Sprintf(", and %s of unknown price", counted(int(c.Unpriced), "call"))
		}
		p("\nToday: $%.2f for %s%s", c.USD, counted(int(c.Calls), "call"), unpriced)
	}
}

// shownIncidents is how many of them fit on a screen.
const shownIncidents = 8

// printOpen lists what is wrong and not over, as the operators were told of it.
func printOpen(out io.Writer, n operator.Now) {
	shown := n.Incidents[:min(len(n.Incidents), shownIncidents)]
	for _, i := range shown {
		fmt.Fprintf(out, "  OPEN  %s\n", line(i.Text))
	}
	if more := len(n.Incidents) - len(shown); more > 0 {
		fmt.Fprintf(out, "  … and %d more: standin incidents --open lists them\n", more)
	}
}

// printAgent says who answers, why, and what of the chain comes back when.
func printAgent(out io.Writer, a operator.Agent, now time.Time) {
	p := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	switch {
	case len(a.Chain) == 0:
		p("%s has no models", a.ID)
		return
	case a.Standing == channels.Healthy:
		p("%s: %s answers", a.ID, a.Answers)
	case a.Answers != "":
		p("%s: %s answers in place of %s, which %s", a.ID, a.Answers, a.Chain[0].Model, line(a.Why))
	default:
		p("%s: NO MODEL CAN ANSWER; %s %s", a.ID, a.Chain[0].Model, line(a.Why))
	}
	t := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, c := range a.Chain {
		fmt.Fprintf(t, "  %d. %s\t%s\n", c.Position, c.Model, line(c.Says))
		for _, one := range c.Credentials {
			if one.State != bot.CredentialUsable {
				fmt.Fprintf(t, "     %s\t%s\n", one.Profile, bot.SayState(one, now))
			}
		}
	}
	_ = t.Flush()
}

// shownStandIns is how many of them fit on a screen.
const shownStandIns = 8

func printStandIns(out io.Writer, n operator.Now) {
	if n.StandInsTotal == 0 {
		return
	}
	fmt.Fprintf(out, "\nOn a stand-in: %s\n", counted(n.StandInsTotal, "session"))
	shown := n.StandIns[:min(len(n.StandIns), shownStandIns)]
	for _, s := range shown {
		next := "with its next message"
		if s.NextProbe.After(n.At) {
			next = bot.Moment(s.NextProbe, n.At)
		}
		why := ""
		if s.Reason != "" {
			why = ", " + line(s.Reason)
		}
		fmt.Fprintf(out, "  %s: %s in place of %s since %s%s; that is asked again %s\n", line(s.Session), s.Active, s.Selected, bot.Moment(s.Since, n.At), why, next)
	}
	if more := n.StandInsTotal - len(shown); more > 0 {
		fmt.Fprintf(out, "  … and %d more\n", more)
	}
}

func waiting(n operator.Now) string {
	w := n.Work
	text := fmt.Sprintf("%s, %s, %s unsent", counted(w.Running, "turn")+verbs(w.Running, " runs", " run"),
		counted(w.Waiting, "message")+verbs(w.Waiting, " waits", " wait"), counted(w.Unsent, "post"))
	if w.Unsent > 0 && !w.OldestSend.IsZero() {
		text += ", the oldest since " + bot.Moment(w.OldestSend, n.At)
	}
	return text
}

func verbs(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// line makes a text that others had a hand in fit for a terminal's line: nothing
// in it moves the cursor or begins a line of its own.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
