package channeltest

import (
	"context"
	"slices"

	"standin/channels"
)

// Remember makes messages the past of an address, for Past.
func (r *Room) Remember(at channels.Address, past ...channels.Said) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.past == nil {
		r.past = map[channels.Address][]channels.Said{}
	}
	r.past[at] = append(r.past[at], past...)
}

// Forgetful makes Past fail with err until it is called with nil.
func (r *Room) Forgetful(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pastErr = err
}

// Past implements channels.Historian.
func (r *Room) Past(_ context.Context, at channels.Address, before string, limit int) ([]channels.Said, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteLocked(Entry{Event: Recalled, To: at})
	if r.pastErr != nil {
		return nil, r.pastErr
	}
	past := slices.Clone(r.past[at])
	if i := slices.IndexFunc(past, func(s channels.Said) bool { return s.ID == before }); i >= 0 {
		past = past[:i]
	}
	return past[max(0, len(past)-limit):], nil
}
