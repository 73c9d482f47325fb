package heartbeat

import (
	"fmt"
	"strings"
	"time"

	"standin/bot/policy"
)

// usual is what a beat asks when the config says nothing else [H6].
const usual = "This is a heartbeat: a regular look at what needs attention. " +
	"Follow HEARTBEAT.md if there is one, and do only what it asks for. Do not infer tasks from earlier messages. " +
	"If nothing needs attention, answer " + policy.OKToken + " and nothing else."

// told is what a beat asks that something has caused [H10].
const told = "Something has happened; it stands above. Do what it asks for, and say what the person needs to know of it. " +
	"If there is nothing to say, answer " + policy.OKToken + " and nothing else."

// Mark is what a transcript keeps of a beat's question [H16].
const Mark = "[heartbeat]"

// prompt is the text of a beat, and system what stands with the agent's
// instructions.
func prompt(c Config, reason Reason, tells bool, tasks []Task, f File, now time.Time) (text, system string) {
	var b strings.Builder
	switch {
	case reason.isEvent() && tells:
		b.WriteString(told)
	case c.Prompt != "":
		b.WriteString(c.Prompt)
	default:
		b.WriteString(usual)
	}
	if len(tasks) > 0 {
		b.WriteString("\n\nThese tasks are due:")
		for _, t := range tasks {
			fmt.Fprintf(&b, "\n- %s: %s", t.Name, t.Prompt)
		}
	}
	fmt.Fprintf(&b, "\n\nIt is %s.", now.UTC().Format("Monday, 2 January 2006, 15:04 UTC"))
	if f.Text != "" {
		system = "HEARTBEAT.md says:\n\n" + f.Text
	}
	return b.String(), system
}
