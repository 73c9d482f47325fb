package store

import (
	"context"
	"crypto/rand"
	"strings"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// End writes all that the end of a turn leaves behind, in one transaction, so
// that a kill at any moment leaves the whole ending or none of it [I1, I3]. A
// message that has ended already makes it do nothing and give bot.ErrEnded.
//
// A session that is missing (a background run's first) is made in e.Epoch, or
// in a new epoch when that is empty.
func (d *DB) End(ctx context.Context, e bot.Ending) (posted []bot.Delivery, err error) {
	err = d.main.write(ctx, "end turn "+e.Turn, func(t *tx) error {
		posted, err = t.end(e)
		return err
	})
	if err != nil {
		return nil, err
	}
	return posted, nil
}

func (t *tx) end(e bot.Ending) (posted []bot.Delivery, err error) {
	var from channels.Address
	if e.Accepted != 0 {
		if from, err = t.endMessage(e); err != nil {
			return nil, err
		}
		if err := t.endOthers(e, from); err != nil {
			return nil, err
		}
	}
	if e.KeepRoute {
		from = channels.Address{}
	}
	current, err := t.endSession(e, from)
	if err != nil {
		return nil, err
	}
	if current != "" {
		if err := t.addEntries(e.Session, current, e.Entries); err != nil {
			return nil, err
		}
	}

	if err := t.takeEvents(e.Session, e.Events); err != nil {
		return nil, err
	}

	if err := t.dropMessages(e); err != nil {
		return nil, err
	}

	posts := e.Posts
	if e.Pair != nil {
		asked, err := t.addPairing(*e.Pair)
		if err != nil {
			return nil, err
		}
		if !asked {
			posts = nil // they have their code, or too many wait [P1]
		}
	}
	if e.Settle != nil {
		changed, err := t.settle(*e.Settle)
		if err != nil {
			return nil, err
		}
		if changed && !e.Settle.Quiet && e.Notice != nil {
			posts = append([]channels.Outbound{*e.Notice}, posts...)
		}
	}
	for _, out := range posts {
		v, added, err := t.addDelivery(out, e.Turn, e.At)
		if err != nil {
			return nil, err
		}
		if added {
			posted = append(posted, v)
		}
	}

	if e.Choose != nil {
		if err := t.putSelection(e.Choose.Session, e.Choose.Now); err != nil {
			return nil, err
		}
	}
	if e.Renew != nil {
		if err := t.renew(*e.Renew, e); err != nil {
			return nil, err
		}
	}
	if e.Seeded && current != "" {
		if _, err := t.exec(`UPDATE sessions SET seeded = 1 WHERE key = ?`, e.Session); err != nil {
			return nil, err
		}
	}
	if e.Send != nil {
		if _, err := t.exec(`UPDATE sessions SET send = ? WHERE key = ?`, *e.Send, e.Session); err != nil {
			return nil, err
		}
	}
	if len(e.Set) > 0 {
		if err := t.set(e.Session, e.Set); err != nil {
			return nil, err
		}
	}
	if e.Queue != nil {
		if _, err := t.exec(`UPDATE sessions SET queue = ? WHERE key = ?`, *e.Queue, e.Session); err != nil {
			return nil, err
		}
	}
	return posted, nil
}

// endSession keeps the session's books. It gives the epoch that the turn's
// entries belong to, "" when the session has moved on: a turn that /new overtook
// neither counts in the new epoch nor leaves entries there.
func (t *tx) endSession(e bot.Ending, from channels.Address) (current string, err error) {
	if e.Session == "" {
		return "", nil
	}
	args := []any{e.Session, e.Background, millis(e.At), countsAsRun(e), e.Epoch, e.Aborted, from.Channel, from.Account, from.Conversation, from.Thread, e.Parent}
	var epoch string
	found, err := t.row(keepBooks, args, &epoch)
	if err != nil {
		return "", err
	}
	if found {
		if epoch != e.Epoch {
			return "", nil
		}
		return epoch, nil
	}
	if e.Epoch == "" {
		e.Epoch = rand.Text()
	}
	if err := t.ensureSession(e.Session, agentOf(e.Session), e.Epoch, e.At, !e.Background, from); err != nil {
		return "", err
	}
	args[4] = e.Epoch
	_, err = t.row(keepBooks, args, &epoch)
	return e.Epoch, err
}

// keepBooks counts the run and its abort in its own epoch only; a run that no
// person started leaves the time of the last interaction alone [S8], and one
// that no message started the route.
const keepBooks = `UPDATE sessions SET
		last_interaction = CASE WHEN ?2 THEN last_interaction ELSE max(last_interaction, ?3) END,
		turns = turns + (?4 AND epoch = ?5),
		aborted = CASE WHEN (?4 OR ?6) AND epoch = ?5 THEN ?6 ELSE aborted END,
		channel = CASE WHEN ?7 = '' THEN channel ELSE ?7 END,
		account = CASE WHEN ?7 = '' THEN account ELSE ?8 END,
		conversation = CASE WHEN ?7 = '' THEN conversation ELSE ?9 END,
		thread = CASE WHEN ?7 = '' THEN thread ELSE ?10 END,
		parent = CASE WHEN ?11 = '' THEN parent ELSE ?11 END
	WHERE key = ?1 RETURNING epoch`

// countsAsRun tells a turn of the model from a command and from a message that
// was passed over without asking it.
func countsAsRun(e bot.Ending) bool {
	switch e.How {
	case bot.Answered, bot.Failed:
		return true
	case bot.Silent:
		return len(e.Entries) > 0
	}
	return false
}

// renew starts a new epoch [D4] and notes when the former one ended. System
// events that wait are the former one's and go with it [S8].
func (t *tx) renew(r bot.Renewal, e bot.Ending) error {
	if r.Epoch == "" {
		r.Epoch = rand.Text()
	}
	if err := t.ensureSession(r.Session, agentOf(r.Session), r.Epoch, e.At, !e.Background, channels.Address{}); err != nil {
		return err
	}
	_, err := t.exec(`INSERT INTO epochs (session, epoch, ended) SELECT key, epoch, ? FROM sessions WHERE key = ? ON CONFLICT (session, epoch) DO NOTHING`,
		millis(e.At), r.Session)
	if err != nil {
		return err
	}
	_, err = t.exec(`UPDATE sessions SET epoch = ?, started = ?, compactions = 0, turns = 0, aborted = 0, seeded = ? WHERE key = ?`,
		r.Epoch, millis(e.At), !r.ByTime, r.Session)
	if err != nil {
		return err
	}
	if _, err = t.exec(`DELETE FROM events WHERE session = ?`, r.Session); err != nil {
		return err
	}
	return t.renewSelection(r.Session, r.Drop)
}

// agentOf reads the agent out of a key such as "agent:main:main" [S1]; "" when
// the key has another shape.
func agentOf(s fallback.SessionID) fallback.AgentID {
	rest, isAgent := strings.CutPrefix(string(s), "agent:")
	if !isAgent {
		return ""
	}
	agent, _, _ := strings.Cut(rest, ":")
	return fallback.AgentID(agent)
}
