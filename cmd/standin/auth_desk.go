package main

import (
	"context"
	"encoding/json"
	"slices"

	"standin/fallback"
	"standin/store"
)

// Providers gives the providers of stored and configured credentials.
func (d *desk) Providers(ctx context.Context, a fallback.AgentID) ([]string, error) {
	names, err := d.Credentials.Providers(ctx, a)
	for _, p := range d.named {
		names = append(names, p.Provider)
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// Deeds gives the record about a profile and its provider, or all of it.
func (d *desk) Deeds(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, limit int) ([]fallback.Deed, error) {
	want := store.DeedFilter{Profile: p, Limit: limit}
	if p != "" {
		want.Provider = p.Provider()
	}
	return d.Credentials.Deeds(ctx, a, want)
}

// Pins gives the sessions that keep to each credential, none where no daemon ran.
func (d *desk) Pins(ctx context.Context) (map[fallback.ProfileID][]fallback.Pinned, error) {
	if d.db == nil {
		return nil, nil
	}
	return d.db.Pins(ctx)
}

// printLine prints JSON in one line.
func printLine(w world, v any) error {
	enc := json.NewEncoder(w.stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
