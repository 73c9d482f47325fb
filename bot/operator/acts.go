package operator

import (
	"context"
	"fmt"

	"standin/fallback"
	"standin/fallback/provider"
)

// act records a change that an operator is about to make, then has it made. It is
// written first: a change that nobody can be asked about does not happen.
func (s *Server) act(c *call, what, about, detail string, do func() error) error {
	a := KeptAct{At: c.now, Who: c.who.label(), Via: c.who.via, What: what, About: clip(about, 200), Detail: clip(provider.Redact(detail), 400)}
	if err := s.Rows.NoteAct(c.ctx, a); err != nil {
		return fmt.Errorf("record that %s is changed: %w", about, err)
	}
	if err := do(); err != nil {
		a.What, a.Detail = what+".refused", clip(provider.Redact(err.Error()), 400)
		a.At = s.Now()
		// The record says that it came to nothing; if that cannot be written, it
		// says what was wanted.
		if e := s.Rows.NoteAct(context.WithoutCancel(c.ctx), a); e != nil {
			s.Log.Warn("the end of an operator's change was not recorded", "what", what, "err", e)
		}
		return err
	}
	s.Log.Info("changed by an operator", "what", what, "about", a.About, "who", a.Who, "via", a.Via)
	view := viewAct(a)
	s.stream.publish("act", Event{At: c.now, Act: &view})
	return nil
}

// changed tells those who watch what should be read again.
func (s *Server) changed(what string, session fallback.SessionID) {
	s.stream.publish("changed", Event{At: s.Now(), What: what, Session: string(session)})
}

// label is a visitor for the record.
func (v visitor) label() string {
	if v.name == "" {
		return "operator"
	}
	return v.name
}

func (v visitor) deed(c *call, detail string) fallback.Deed {
	return fallback.Deed{At: c.now, Who: v.label(), Via: v.via, Detail: detail}
}

func viewAct(a KeptAct) Act {
	return Act{At: a.At, Who: a.Who, Via: a.Via, What: a.What, About: a.About, Detail: a.Detail}
}

// acts lists what operators changed.
func (s *Server) acts(c *call) (any, error) {
	at, err := c.page()
	if err != nil {
		return nil, err
	}
	list, err := s.Rows.Acts(c.ctx, at.before, at.limit)
	if err != nil {
		return nil, err
	}
	out := Acts{Acts: []Act{}}
	for _, a := range list {
		out.Acts = append(out.Acts, viewAct(a))
	}
	if len(list) == at.limit {
		out.Next = cursorOf(list[len(list)-1].ID)
	}
	return out, nil
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
