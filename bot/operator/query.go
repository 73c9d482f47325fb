package operator

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"standin/bot"
	"standin/fallback"
)

// Pages are usualPage long, unless the request wants less or up to mostPage.
const (
	usualPage = 50
	mostPage  = 200
)

// place is where a page begins: before a row's id, 0 for the first page.
type place struct {
	before int64
	limit  int
}

func (c *call) page() (p place, err error) {
	if p.limit, err = c.limit(); err != nil {
		return p, err
	}
	if text := c.r.FormValue("cursor"); text != "" {
		if p.before, err = strconv.ParseInt(text, 36, 64); err != nil || p.before <= 0 {
			return p, &Wrong{"cursor is not one that a page gave; leave it out for the first page"}
		}
	}
	return p, nil
}

func cursorOf(id int64) string { return strconv.FormatInt(id, 36) }

func (c *call) limit() (int, error) {
	text := c.r.FormValue("limit")
	if text == "" {
		return usualPage, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostPage {
		return 0, &Wrong{fmt.Sprintf("limit is a number from 1 to %d, not %q", mostPage, text)}
	}
	return n, nil
}

// moment reads a time of the query, otherwise when it is not there.
func (c *call) moment(name string, otherwise time.Time) (time.Time, error) {
	text := c.r.FormValue(name)
	if text == "" {
		return otherwise, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, &Wrong{fmt.Sprintf("%s is a time such as 2026-01-05T12:00:00Z, not %q", name, text)}
	}
	return at, nil
}

// span reads from and to; both are left out: zero.
func (c *call) span() (from, to time.Time, err error) {
	if from, err = c.moment("from", time.Time{}); err != nil {
		return from, to, err
	}
	if to, err = c.moment("to", time.Time{}); err != nil {
		return from, to, err
	}
	return from, to, ordered(from, to)
}

func ordered(from, to time.Time) error {
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return &Wrong{"from is not before to"}
	}
	return nil
}

// word reads a word of the query that must be one of a few, or absent.
func (c *call) word(name string, known ...string) (string, error) {
	text := c.r.FormValue(name)
	if text == "" || slices.Contains(known, text) {
		return text, nil
	}
	return "", &Wrong{fmt.Sprintf("%s is one of %s, not %q", name, strings.Join(known, ", "), text)}
}

func notFound(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrNotFound}, args...)...)
}

func agentIDs(cfg *bot.Config) string {
	var ids []string
	for _, id := range sortedAgents(cfg) {
		ids = append(ids, string(id))
	}
	return strings.Join(ids, ", ")
}

// sortedAgents are the agents, the default one first.
func sortedAgents(cfg *bot.Config) []fallback.AgentID {
	ids := slices.Sorted(maps.Keys(cfg.Agents))
	slices.SortStableFunc(ids, func(a, b fallback.AgentID) int {
		switch {
		case a == b:
			return 0
		case a == cfg.DefaultAgent:
			return -1
		case b == cfg.DefaultAgent:
			return 1
		}
		return 0
	})
	return ids
}
