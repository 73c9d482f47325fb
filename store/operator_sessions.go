package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"standin/bot"
	"standin/bot/operator/rows"
	"standin/fallback"
	"standin/fallback/provider"
)

// standsIn is the row of a session on a stand-in, as Selection.IsAuto reads it.
const standsIn = `(s.model <> '' AND s.source IN ('auto', '') AND s.origin_provider <> '' AND s.origin_model <> '')`

// SessionsBack gives a page of sessions with their selections, the last spoken to
// first. It walks the table of sessions: for people, not for turns.
func (d *DB) SessionsBack(ctx context.Context, of rows.SessionsOf) (list []SessionState, err error) {
	w := where{}
	w.is("k.agent", string(of.Agent))
	w.is("k.channel", of.Channel)
	if of.Part != "" {
		w.add("instr(k.key, ?) > 0", of.Part)
	}
	if of.StandIn {
		w.add(standsIn)
	}
	if of.Chosen {
		w.add("s.model <> '' AND NOT " + standsIn)
	}
	if of.Keys != nil {
		keys, err := json.Marshal(of.Keys)
		if err != nil {
			return nil, err
		}
		w.add("k.key IN (SELECT value FROM json_each(?))", string(keys))
	}
	if of.AfterID != "" {
		w.add("(k.last_interaction < ? OR k.last_interaction = ? AND k.key > ?)", millis(of.After), millis(of.After), of.AfterID)
	}
	join := "LEFT JOIN"
	order := "k.last_interaction DESC, k.key"
	if of.StandIn || of.Chosen {
		join = "JOIN"
	}
	err = d.main.each(ctx, `SELECT k.key FROM sessions k `+join+` selection s ON s.session = k.key`+w.sql()+` ORDER BY `+order+` LIMIT ?`, append(w.args, of.Limit),
		func(scan func(...any) error) error {
			var one SessionState
			err := scan(&one.Key)
			list = append(list, one)
			return err
		})
	for i := range list {
		if err == nil {
			list[i].Session, err = d.Session(ctx, list[i].Key)
		}
		if err == nil {
			list[i].Selection, err = d.Selection(ctx, list[i].Key)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return list, nil
}

// StandIns gives the sessions on a stand-in that began last, and how many there
// are of each agent.
func (d *DB) StandIns(ctx context.Context, limit int) (list []SessionState, counts map[fallback.AgentID]int, err error) {
	counts = map[fallback.AgentID]int{}
	err = d.main.each(ctx, `SELECT k.agent, count(*) FROM selection s JOIN sessions k ON k.key = s.session WHERE `+standsIn+` GROUP BY k.agent`, nil, func(scan func(...any) error) error {
		var a fallback.AgentID
		var n int
		err := scan(&a, &n)
		counts[a] = n
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("count stand-ins: %w", err)
	}
	err = d.main.each(ctx, `SELECT s.session FROM selection s JOIN sessions k ON k.key = s.session WHERE `+standsIn+` ORDER BY s.since DESC, s.session LIMIT ?`, []any{limit}, func(scan func(...any) error) error {
		var one SessionState
		err := scan(&one.Key)
		list = append(list, one)
		return err
	})
	for i := range list {
		if err == nil {
			list[i].Session, err = d.Session(ctx, list[i].Key)
		}
		if err == nil {
			list[i].Selection, err = d.Selection(ctx, list[i].Key)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list stand-ins: %w", err)
	}
	return list, counts, nil
}

// Forget drops a session with its transcript, its choice and the files that were
// sent in it. One that a message waits for stays, and gone is false.
func (d *DB) Forget(ctx context.Context, s fallback.SessionID, now time.Time) (gone bool, err error) {
	sess, err := d.Session(ctx, s)
	if err != nil || sess.Epoch == "" {
		return false, err
	}
	gone, err = d.forget(ctx, idleSession{key: s, last: millis(sess.LastInteraction)}, now)
	if err != nil || !gone {
		return gone, err
	}
	return true, errors.Join(d.ForgetMedia(ctx, s), d.sweepEpochs(ctx, 0))
}

// TranscriptBack gives a page of what was said in the session's conversation, the
// latest first; before is the Seq of the last one of the page in front, or 0.
func (d *DB) TranscriptBack(ctx context.Context, s fallback.SessionID, before int64, limit int) (list []bot.Entry, err error) {
	sess, err := d.Session(ctx, s)
	if err != nil || sess.Epoch == "" {
		return nil, err
	}
	w := where{}
	w.add("session = ?", string(s))
	w.add("epoch = ?", sess.Epoch)
	w.before("seq", before)
	err = d.main.each(ctx, `SELECT seq, turn, role, text, provider, model, at, exchange FROM transcript`+w.sql()+` ORDER BY seq DESC LIMIT ?`, append(w.args, limit), func(scan func(...any) error) error {
		var e bot.Entry
		var at int64
		var said string
		if err := scan(&e.Seq, &e.Turn, &e.Role, &e.Text, &e.Model.Provider, &e.Model.Name, &at, &said); err != nil {
			return err
		}
		if said != "" {
			var x exchange
			if err := json.Unmarshal([]byte(said), &x); err != nil {
				return fmt.Errorf("tools of turn %s: %w", e.Turn, err)
			}
			e.Calls, e.Results = x.Calls, x.Results
		}
		e.At, e.Summary = moment(at), e.Role == "summary"
		if e.Summary {
			e.Role = provider.User
		}
		list = append(list, e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("transcript of %s: %w", s, err)
	}
	return list, nil
}

// PageChat gives the latest of a conversation of the channel, in order; those
// before the line at before, if that is not the zero place.
func (d *DB) PageChat(ctx context.Context, conversation string, before rows.ChatPlace, limit int) (list []rows.ChatLine, err error) {
	until := millis(before.At)
	if until == 0 {
		until = 1 << 62
	}
	err = d.main.each(ctx, `SELECT * FROM (
			SELECT accepted AS at, 0 AS out, id AS n, message_id, '', text, user_name, turn, how FROM inbox
				WHERE channel = 'page' AND account = '' AND conversation = ?1 AND accepted <= ?2
			UNION ALL
			SELECT created, 1, seq, id, kind, text, '', turn, '' FROM outbox WHERE channel = 'page' AND conversation = ?1 AND created <= ?2
		) WHERE (at, out, n) < (?2, ?3, ?4) ORDER BY at DESC, out DESC, n DESC LIMIT ?5`, []any{conversation, until, before.Out, before.N, limit}, func(scan func(...any) error) error {
		var l rows.ChatLine
		var at int64
		if err := scan(&at, &l.Out, &l.N, &l.ID, &l.Kind, &l.Text, &l.Who, &l.Turn, &l.How); err != nil {
			return err
		}
		l.At = moment(at)
		list = append([]rows.ChatLine{l}, list...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the chat %s: %w", conversation, err)
	}
	return list, nil
}

// Unsent gives how many posts are owed to rooms, and since when the oldest is.
func (d *DB) Unsent(ctx context.Context) (n int, oldest time.Time, err error) {
	var at int64
	_, err = d.main.row(ctx, `SELECT count(*), coalesce(min(created), 0) FROM outbox INDEXED BY outbox_owed WHERE `+owed, nil, &n, &at)
	if err != nil {
		return 0, oldest, fmt.Errorf("count what is owed to rooms: %w", err)
	}
	return n, moment(at), nil
}
