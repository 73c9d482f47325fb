package netguard

import (
	"context"
	"net"
)

// dialer lets the listed hosts through and guards the others.
type dialer struct {
	free, guarded *net.Dialer
	hosts         []string
}

func (d dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if Lists(d.hosts, address) {
		return d.free.DialContext(ctx, network, address)
	}
	return d.guarded.DialContext(ctx, network, address)
}
