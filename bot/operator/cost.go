package operator

import "time"

// cost adds up what calls have cost.
func (s *Server) cost(c *call) (any, error) {
	if s.Costs == nil {
		return nil, unavailable("costs are not kept in this process")
	}
	by, err := c.word("by", "model", "purpose", "agent", "day", "job")
	if err != nil {
		return nil, err
	}
	if by == "" {
		by = "model"
	}
	to, err := c.moment("to", c.now.Add(time.Second))
	if err != nil {
		return nil, err
	}
	from, err := c.moment("from", to.Add(-30*24*time.Hour))
	if err != nil {
		return nil, err
	}
	if err := ordered(from, to); err != nil {
		return nil, err
	}
	rows, err := s.Costs.Cost(c.ctx, by, from, to)
	if err != nil {
		return nil, err
	}
	return Cost{From: from, To: to, By: by, Rows: append([]CostRow{}, rows...), Total: addUp(rows)}, nil
}

func addUp(rows []CostRow) (t CostRow) {
	t.Key = "total"
	for _, r := range rows {
		t.Calls, t.Failed, t.Unpriced = t.Calls+r.Calls, t.Failed+r.Failed, t.Unpriced+r.Unpriced
		t.Input, t.Output, t.Cached, t.USD = t.Input+r.Input, t.Output+r.Output, t.Cached+r.Cached, t.USD+r.USD
	}
	return t
}

// budgets are the limits and how far they are used.
func (s *Server) budgets(c *call) (any, error) {
	if s.Costs == nil {
		return nil, unavailable("costs are not kept in this process")
	}
	list, err := s.Costs.Budgets(c.ctx, c.now)
	return Budgets{append([]Budget{}, list...)}, err
}
