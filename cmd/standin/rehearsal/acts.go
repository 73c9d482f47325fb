package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
	"standin/heartbeat"
)

// do performs an act of the script. What goes wrong with the stage itself, not
// with the daemon, ends the rehearsal.
func (s *stage) do(ctx context.Context, a deed) {
	session := a.session()
	if session != "" {
		s.seen[session] = true
	}
	var err error
	switch {
	case a.Say != nil:
		err = s.say(ctx, a, session)
	case a.Heartbeat != "":
		err = s.heartbeat(ctx, fallback.AgentID(a.Heartbeat), session)
	case a.Cron != nil:
		err = s.cron(ctx, a.Cron, session)
	case a.Reset != "":
		s.tale.note(session, "sessions.reset")
		err = s.now.Bot.Reset(ctx, session)
	case a.Patch != nil:
		s.tale.note(session, strings.TrimSpace("sessions.patch model "+a.Patch.model()))
		if refused := s.now.Bot.Patch(ctx, session, a.Patch.model()); refused != nil {
			s.tale.note(session, "refused: "+refused.Error())
		}
	case a.Compact != "":
		s.tale.note(session, "a compaction completes")
		err = s.compact(ctx, session)
	case a.Restart:
		s.tale.note("", "the daemon restarts")
		err = s.restart(ctx)
	case a.Reload.given():
		s.tale.note("", "the config is reloaded")
		s.config = a.config
		s.now.Use(s.house(a.config))
	case a.Room != nil:
		s.tale.note("", fmt.Sprintf("the room refuses the next %d posts (%s)", a.Room.Times, a.Room.Refuse))
		s.room.turnDown(a.Room.Refuse, a.Room.Times)
	case a.Abort != "":
		s.tale.note("", "the running turn is ended ("+a.Abort+")")
		s.abort(a.Abort)
	}
	if err != nil && s.err == nil {
		s.err = err
	}
}

// say hands a message to the daemon as its adapters do; a command is answered
// within.
func (s *stage) say(ctx context.Context, a deed, session fallback.SessionID) error {
	s.said++
	in := channels.Inbound{
		ID:   fmt.Sprintf("m%d", s.said),
		To:   channels.Address{Channel: roomName, Conversation: string(session), Thread: string(a.Thread)},
		Chat: channels.Direct, From: channels.User{ID: "user", Name: "user"},
		Text: *a.Say, Mentioned: true, Authorized: true, At: s.clock.Now(),
	}
	if a.From != "" {
		in.From = channels.User{ID: a.From, Name: a.From}
	}
	if a.actKeys.Room != nil && a.actKeys.Room.Kind == "channel" {
		in.Chat = channels.Room
	}
	s.room.said(in.ID, a.ReplyToMode)
	s.tale.heard(session, in.From.Name, *a.Say)
	return s.now.Bot.ReceiveFor(ctx, in, session, s.agentOf(session))
}

// agentOf reads the agent out of a key such as "agent:main:main".
func (s *stage) agentOf(session fallback.SessionID) fallback.AgentID {
	if rest, ok := strings.CutPrefix(string(session), "agent:"); ok {
		agent, _, _ := strings.Cut(rest, ":")
		return fallback.AgentID(agent)
	}
	return s.config.Fallback.DefaultAgent
}

// abort ends whatever turn runs, for one of the causes that are not the user's
// [I13].
func (s *stage) abort(how string) {
	cause := fallback.ErrRunDeadline
	if how == "shutdown" {
		cause = bot.ErrShutdown
	}
	for session := range s.seen {
		s.now.Bot.Interrupt(session, cause)
	}
}

// compact counts a completed compaction of the session.
func (s *stage) compact(ctx context.Context, session fallback.SessionID) error {
	row, err := s.now.DB.Session(ctx, session)
	if err != nil || row.Epoch == "" {
		return err // nothing was said there, so there is nothing to compact
	}
	return s.now.DB.Compacted(ctx, session, row.Epoch)
}

// heartbeat runs a heartbeat at once, by the agent's own settings; the schedule,
// the hours and HEARTBEAT.md are left out of it (R7).
func (s *stage) heartbeat(ctx context.Context, agent fallback.AgentID, session fallback.SessionID) error {
	s.tale.note(session, "heartbeat of "+string(agent))
	row, err := s.now.DB.Session(ctx, session)
	if err != nil {
		return err
	}
	turn, verdict, clear := s.now.Config().Heartbeats.TurnOf(agent, session, row.Route, s.clock.Now())
	if clear != nil {
		if _, err := s.now.ClearStale(ctx, *clear); err != nil {
			return err
		}
	}
	s.seen[turn.Session] = true
	s.now.Bot.Begin(ctx, turn, s.reporting(func(res bot.Result, err error) {
		if err != nil {
			s.tale.tell(session, "heartbeat", fact{"agent", string(agent)}, fact{"status", "error"})
			return
		}
		if res.Posted == "" {
			s.tale.tell(session, "silent", fact{"why", silence(verdict.Why)})
		}
		s.tale.tell(session, "heartbeat", fact{"agent", string(agent)}, fact{"status", "ok"}, fact{"model", res.Outcome.Used.String()})
	}))
	return nil
}

// silence is the reason of a heartbeat that posts nothing, in the words of R13.
func silence(why heartbeat.Why) string {
	switch why {
	case heartbeat.WhyOK:
		return "heartbeat_ok"
	case heartbeat.WhyEmpty:
		return "no_reply"
	}
	return strings.ReplaceAll(string(why), "-", "_")
}

// reporting leaves out what a process says that has died meanwhile.
func (s *stage) reporting(done func(bot.Result, error)) func(bot.Result, error) {
	of := s.now
	return func(res bot.Result, err error) {
		if s.now == of && !errors.Is(err, errDied) && of.alive.Err() == nil {
			done(res, err)
		}
	}
}

// cron runs an isolated job at once, in a fresh session of its own (R27).
func (s *stage) cron(ctx context.Context, k *cronKeys, session fallback.SessionID) error {
	agent, job := fallback.AgentID(k.Agent), k.job()
	s.tale.note(session, "job "+job)
	turn := bot.Turn{Session: session, Agent: agent, Kind: fallback.Cron, Text: k.Message}
	cfg := s.now.Config().Fallback
	if refused := aim(cfg, k, &turn); refused != nil {
		s.tale.note(session, refused.Error())
		s.tale.tell(session, "run", fact{"job", job}, fact{"status", "error"}, fact{"requested", k.Model}, fact{"fallbackUsed", false})
		return nil
	}
	_, err := s.now.DB.End(ctx, bot.Ending{Session: session, How: bot.Commanded, Why: "cron", At: s.clock.Now(), Background: true,
		Renew: &bot.Renewal{Session: session, Epoch: s.id()}})
	if err != nil {
		return err
	}
	s.now.Bot.Begin(ctx, turn, s.reporting(func(res bot.Result, err error) {
		requested, used, status := turn.Model, fallback.Model{}, "ok"
		var failed *fallback.SummaryError
		switch {
		case err == nil:
			requested, used = res.Outcome.Plan.Requested, res.Outcome.Used
		case errors.As(err, &failed):
			requested, status = failed.Plan.Requested, "error"
		default:
			status = "error"
		}
		shown := func(m fallback.Model) string {
			if m.IsZero() {
				return ""
			}
			return m.String()
		}
		s.tale.tell(session, "run", fact{"job", job}, fact{"status", status}, fact{"requested", shown(requested)}, fact{"used", shown(used)},
			fact{"fallbackUsed", !used.IsZero() && used != requested})
	}))
	return nil
}

// aim reads the models of a job. One that does not exist or is not permitted
// ends the run; there is no quiet way to another (R34).
func aim(cfg *fallback.Config, k *cronKeys, turn *bot.Turn) error {
	if k.Model != "" {
		m, _, err := cfg.ResolveRef(k.Model)
		if err != nil {
			return err
		}
		if !cfg.Permits(m) {
			return fmt.Errorf("%s is not among the models that may be used (agents.defaults.models)", m)
		}
		turn.Model = m
	}
	if k.Fallbacks == nil {
		return nil
	}
	turn.Listed, turn.Fallbacks = true, []fallback.Model{}
	for _, text := range *k.Fallbacks {
		m, _, err := cfg.ResolveRef(text)
		if err != nil {
			return err
		}
		turn.Fallbacks = append(turn.Fallbacks, m)
	}
	return nil
}
