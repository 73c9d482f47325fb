package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// Commitments is commitments: whether what was promised in passing becomes a
// reminder. It costs a model's call for each answered turn of a direct chat.
type Commitments struct {
	On     bool
	PerDay int            // reminders for one chat in 24 hours
	Model  fallback.Model // who looks for them; zero: the session's
}

// Commitment is something that somebody is to be reminded of.
type Commitment struct {
	Session fallback.SessionID
	Agent   fallback.AgentID
	To      channels.Address
	Text    string // what of, in a few words
	At      time.Time
}

// Promises keeps commitments. Keep tells whether it has made a reminder of it: not
// when the chat has such a one, or as many as it may in a day.
type Promises interface {
	Keep(ctx context.Context, c Commitment, perDay int) (made bool, err error)
}

// The bounds of one look.
const (
	mostCommitments = 3 // of one exchange
	commitmentChars = 200
	furthest        = 366 * 24 * time.Hour
	promiseTime     = 2 * time.Minute
)

// promise looks, beside the turns, for things in an answered exchange that
// somebody is to be reminded of. It reads what the person and the model said and
// nothing else: notices are in no transcript [M14, N18]. Rooms are left alone, and
// so are turns that used tools: they had cron at hand, and what a page says must
// make no reminders.
func (b *Bot) promise(cfg *Config, turn string, row Accepted, e Ending) {
	question, answer, plain := spokenIn(e)
	if !cfg.Commitments.On || b.Promises == nil || row.In.Chat != channels.Direct || e.How != Answered || !plain || len(row.In.Files) > 0 {
		return
	}
	b.aside.Go(func() {
		for i, c := range b.commitments(cfg, turn, row, question, answer) {
			made, err := b.Promises.Keep(b.life, c, cfg.Commitments.PerDay)
			if err != nil {
				b.Log.Warn("a commitment was not kept", "session", row.Session, "turn", turn, "err", err)
				continue
			}
			if !made {
				continue
			}
			out := post(turn, channels.Notice, row.In, sayCommitment(c, b.zone(row.Agent)))
			out.ID = fmt.Sprintf("%s-p%d", turn, i)
			if err := b.Post(b.life, out); err != nil {
				b.Log.Warn("a commitment was not told", "session", row.Session, "err", err)
			}
		}
	})
}

// spokenIn is what was said in a turn; plain says that no tool was used in it.
func spokenIn(e Ending) (question, answer string, plain bool) {
	for _, entry := range e.Entries {
		if len(entry.Calls)+len(entry.Results) > 0 {
			return "", "", false
		}
		if entry.Role == provider.User {
			question = entry.Text
		} else {
			answer = entry.Text
		}
	}
	return question, answer, question != "" && answer != ""
}

// commitments asks a model for them. It never changes the session's model [I6].
func (b *Bot) commitments(cfg *Config, turn string, row Accepted, question, answer string) []Commitment {
	now := b.Now().In(b.zone(row.Agent))
	ask := fallback.Ask{Run: turn + "-p", Session: row.Session, Agent: row.Agent, Kind: fallback.Compaction,
		Config: (&Turn{Timeout: promiseTime}).limited(cfg.Fallback), System: promiseOrders(now),
		Messages: []provider.Message{{Role: provider.User, Text: "Person: " + policy.Short(question, 4000) + "\n\nAssistant: " + policy.Short(answer, 4000)}}}
	if m := cfg.Commitments.Model; !m.IsZero() {
		ask.Model, ask.OneOff = m, true
	}
	out, err := b.Engine.Run(b.life, ask)
	if err != nil {
		b.Log.Info("nobody looked for commitments", "session", row.Session, "turn", turn, "err", provider.Redact(err.Error()))
		return nil
	}
	return readCommitments(out.Reply.Text, row, now)
}

// readCommitments reads a model's list, and of it what makes sense.
func readCommitments(text string, row Accepted, now time.Time) (list []Commitment) {
	from, to := strings.Index(text, "["), strings.LastIndex(text, "]")
	if from < 0 || to < from {
		return nil
	}
	var said []struct{ Text, At string }
	if json.Unmarshal([]byte(text[from:to+1]), &said) != nil {
		return nil
	}
	for _, s := range said {
		at, err := time.Parse(time.RFC3339, strings.TrimSpace(s.At))
		what := policy.Short(strings.Join(strings.Fields(s.Text), " "), commitmentChars)
		if err != nil || what == "" || len(list) == mostCommitments || at.Sub(now) < time.Minute || at.Sub(now) > furthest {
			continue
		}
		list = append(list, Commitment{Session: row.Session, Agent: row.Agent, To: row.In.To, Text: what, At: at})
	}
	return list
}
