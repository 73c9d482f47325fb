package operator

// outages are those that can be rehearsed.
func (s *Server) outages(*call) (any, error) {
	out := Outages{Outages: []Outage{}}
	if s.Oracle != nil {
		out.Outages = append(out.Outages, s.Oracle.Outages()...)
	}
	return out, nil
}

// rehearse plays one, and no two at a time: each keeps a processor busy. It
// changes nothing, so it is no act.
func (s *Server) rehearse(c *call) (any, error) {
	if s.Oracle == nil {
		return nil, unavailable("nothing can be rehearsed in this process")
	}
	in, err := read[Rehearse](c)
	if err != nil {
		return nil, err
	}
	a, err := s.agent(in.Agent)
	if err != nil {
		return nil, err
	}
	if !s.playing.TryLock() {
		return nil, unavailable("a rehearsal is being played; try again when it is over")
	}
	defer s.playing.Unlock()
	return s.Oracle.Rehearse(c.ctx, in.Outage, a)
}

// explain says what a message would do now.
func (s *Server) explain(c *call) (any, error) {
	if s.Oracle == nil {
		return nil, unavailable("nothing can be explained in this process")
	}
	raw, err := s.Oracle.Explain(c.ctx, Question{Session: c.r.FormValue("session"), Agent: c.r.FormValue("agent"), Model: c.r.FormValue("model"), Simulate: c.r.FormValue("simulate")})
	return Explained{raw}, err
}
