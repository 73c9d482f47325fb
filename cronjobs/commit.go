package cronjobs

import (
	"context"
	"strings"
	"time"

	"standin/bot"
)

// Keeper makes reminders of commitments. It is a bot.Promises.
type Keeper struct {
	Book  func() *Book
	Nudge func()
}

var _ bot.Promises = Keeper{}

// committed marks the jobs that it makes.
const committed = "A commitment that was heard in the chat (commitments)."

// sameMoment is how near two reminders of one thing are one reminder.
const sameMoment = time.Hour

// Keep makes a one-shot job that answers in the chat. It has no rights of the
// owner's and no tools: it only says a sentence.
func (k Keeper) Keep(ctx context.Context, c bot.Commitment, perDay int) (made bool, err error) {
	b := k.Book()
	all, err := b.Store.Jobs(ctx)
	if err != nil {
		return false, err
	}
	today, mine := 0, 0
	for _, j := range all {
		if j.SessionKey != string(c.Session) {
			continue
		}
		mine++
		at, _ := ParseMoment(j.Schedule.At, j.Schedule.Zone)
		if j.Schedule.Kind == KindAt && at.Sub(c.At).Abs() <= sameMoment && (j.Description == committed || alike(j.Name, c.Text)) {
			return false, nil // somebody thought of it already, in whatever words
		}
		if j.Description == committed && b.Now().Sub(j.CreatedAt.Time()) < 24*time.Hour {
			today++
		}
	}
	if today >= perDay || mine >= mostOfChat {
		return false, nil
	}
	_, err = b.Add(ctx, Job{Name: cut(c.Text, 40), Description: committed, Enabled: true, Agent: c.Agent, SessionKey: string(c.Session), Guest: true,
		Target: Isolated, Schedule: Schedule{Kind: KindAt, At: c.At.UTC().Format(time.RFC3339)}, Delivery: &Delivery{Place: here(c.To)},
		Payload: Payload{Kind: AgentTurn, LightContext: true, ToolsAllow: []string{"session_status"}, Message: "Remind the person in one friendly sentence of this: " + c.Text}}, c.Session)
	if err == nil {
		k.Nudge()
	}
	return err == nil, err
}

// alike tells whether two texts say the same, case and blanks aside.
func alike(a, b string) bool {
	a, b = strings.ToLower(strings.Join(strings.Fields(a), " ")), strings.ToLower(strings.Join(strings.Fields(b), " "))
	return strings.Contains(a, b) || strings.Contains(b, a)
}
