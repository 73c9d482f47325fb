package bot

import (
	"context"
	"slices"
	"strings"
	"time"

	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
)

// surroundings is what a turn's model is told beside the message itself, and
// what of it counts as told once the turn has an answer: a turn that never
// reached a model leaves it for the next one [S18, session-14].
type surroundings struct {
	text     string  // the message, all of it in front
	before   []Entry // the room's story that a thread's session begins with
	heard    int64   // Ending.Heard
	heardAll bool    // Ending.HeardAll
	events   int64   // Ending.Events
	seeded   bool    // Ending.Seeded
	others   bool    // what is in front of the message is other people's words
}

// told notes in an Ending what its turn has told the model.
func (s surroundings) told(e *Ending) {
	e.Heard, e.HeardAll, e.Events, e.Seeded = s.heard, s.heardAll, s.events, s.seeded
	e.Entries[0].Text = s.text
	e.Entries = append(slices.Clip(s.before), e.Entries...)
}

// surround gathers them. A session that is over by time is renewed first, so
// that the new one does not hear of the old one's affairs [S8]. What cannot be
// read is left out, and waits for the next turn.
func (b *Bot) surround(ctx context.Context, cfg *Config, r *request, prompt string) surroundings {
	s := surroundings{text: prompt}
	sess, err := b.Store.Session(ctx, r.row.Session)
	if err == nil {
		sess, err = b.freshen(ctx, cfg, r.row.In, sess)
	}
	if err != nil {
		b.Log.Error("a turn goes without its surroundings", "session", r.row.Session, "err", err)
		return s // the turn itself reads the session again, and says what is wrong
	}
	past, asked := b.seed(ctx, cfg, r, sess, &s)
	if text, upTo := b.withOverheard(ctx, cfg, r, prompt); upTo > 0 {
		surface, _ := cfg.Rules.Surface(r.row.In.To)
		s.heard, s.heardAll = upTo, surface.RoomWide
		if len(past) == 0 || surface.RoomWide {
			s.text = text
		} // else it is among the thread's past
	}
	if asked {
		s.text = policy.WithPast(past, s.text)
	}
	strange := false
	s.others = s.text != prompt
	s.text, s.events, strange = b.withEvents(ctx, r.row.Session, s.text)
	s.others = s.others || strange
	return s
}

// pastTime bounds how long a turn waits to read a thread's past.
const pastTime = 5 * time.Second

// seed gives what the first turn in a thread's session begins with: the
// thread's last messages, and into s.before the room's own story where that is
// wished for [SL19]. It is told once: after /new it stays forgotten.
func (b *Bot) seed(ctx context.Context, cfg *Config, r *request, sess Session, s *surroundings) (past []policy.Line, asked bool) {
	in := r.row.In
	surface, known := cfg.Rules.Surface(in.To)
	parent := policy.Parent(r.row.Agent, in, r.row.Session)
	if !known || sess.Seeded || parent == "" || in.Command {
		return nil, false
	}
	s.seeded = true
	if surface.ThreadInherits {
		s.before = b.inherited(ctx, cfg, parent)
	}
	// A thread that this very message opens has no past.
	if surface.ThreadPast <= 0 || in.To.Thread == "" && (in.Parent == "" || in.To.Conversation == in.ID) {
		return nil, false
	}
	historian, can := b.Channels[in.To.Channel].(channels.Historian)
	if !can {
		return nil, false
	}
	read, cancel := context.WithTimeout(ctx, pastTime)
	defer cancel()
	all, err := historian.Past(read, in.To, in.ID, surface.ThreadPast)
	if err != nil {
		b.Log.Warn("the past of a thread was not read", "session", r.row.Session, "err", err)
		s.seeded = false
		return nil, false
	}
	return b.visiblePast(ctx, cfg, r, all), true
}

// visiblePast keeps what the model may see of a thread's past: what people and
// bots said who would be let in, and the agent's own answers. Its operational
// messages are none of the model's business [M14, N18].
func (b *Bot) visiblePast(ctx context.Context, cfg *Config, r *request, all []channels.Said) (lines []policy.Line) {
	in := r.row.In
	for _, m := range all {
		line := policy.Line{Who: m.From.Name, Text: m.Text, At: m.At}
		if line.Who == "" {
			line.Who = m.From.ID
		}
		if m.Own {
			ours, found, err := b.Store.Message(ctx, in.To, m.ID)
			if err != nil || found && ours.Kind != channels.Reply || strings.HasPrefix(m.Text, noticeMark) {
				continue
			}
			line.Who = "You"
		} else {
			as := channels.Inbound{To: in.To, Chat: in.Chat, Guild: in.Guild, Parent: in.Parent, From: m.From, Bot: m.Bot, Mentioned: true}
			same := func(row Accepted) bool { return row.In.ID == m.ID }
			if slices.ContainsFunc(r.rows(), same) || cfg.Rules.Admit(as, policy.Known{}).What != policy.Admit {
				continue
			}
		}
		if strings.TrimSpace(line.Text) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// inherited is the room's own story, for a thread's session to begin with.
func (b *Bot) inherited(ctx context.Context, cfg *Config, parent fallback.SessionID) []Entry {
	room, err := b.Store.Session(ctx, parent)
	if err == nil && room.Epoch != "" {
		var story []Entry
		if story, err = b.Store.History(ctx, parent, room.Epoch, cfg.HistoryTurns); err == nil {
			return story
		}
	}
	if err != nil {
		b.Log.Warn("the story of a room was not read for its thread", "room", parent, "err", err)
	}
	return nil
}

// noticeMark begins the two notice lines [N9]; they are known by it in a past
// that is older than our own rows.
const noticeMark = "↪️ Model Fallback"
