package store

import (
	"context"
	"fmt"

	"standin/fallback"
)

// Pins gives the sessions that keep to a credential, by credential and by key:
// how many of them are to be told of a change. person says that somebody chose
// it [D3].
func (d *DB) Pins(ctx context.Context) (map[fallback.ProfileID][]fallback.Pinned, error) {
	pins := map[fallback.ProfileID][]fallback.Pinned{}
	err := d.main.each(ctx, `SELECT session, pin, pin_source, pin_compactions FROM selection WHERE pin <> '' ORDER BY session`, nil,
		func(scan func(...any) error) error {
			var one fallback.Pinned
			var pin fallback.Pin
			if err := scan(&one.Session, &pin.Profile, &pin.Source, &pin.Compactions); err != nil {
				return err
			}
			one.ByPerson = pin.ByPerson()
			pins[pin.Profile] = append(pins[pin.Profile], one)
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("read which sessions keep to which credential: %w", err)
	}
	return pins, nil
}
