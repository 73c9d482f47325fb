// Package netguard keeps requests whose address somebody else wrote, a model or a
// job's webhook, out of the house: the machine itself, its networks, the metadata
// services of clouds. It looks at the address that is dialled and not at the
// name, so that no name and no redirect leads inside.
package netguard

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

// ErrInHouse says that an address is not one of the public network.
var ErrInHouse = errors.New("not a public address")

// Transport gives a transport that dials public addresses only. Hosts, by name
// or name and port, are let through whatever they resolve to. No proxy is used:
// it would do the dialling.
func Transport(hosts []string) *http.Transport {
	free := &net.Dialer{Timeout: 10 * time.Second}
	guarded := &net.Dialer{Timeout: 10 * time.Second, Control: Control}
	t := &http.Transport{TLSHandshakeTimeout: 10 * time.Second, DisableKeepAlives: true}
	t.DialContext = guarded.DialContext
	if len(hosts) > 0 {
		t.DialContext = dialer{free, guarded, hosts}.dial
	}
	return t
}

// Control is a net.Dialer's hook that refuses what is not public.
func Control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%q is no address", address)
	}
	if InHouse(at.Addr()) {
		return fmt.Errorf("%s is %w", at.Addr(), ErrInHouse)
	}
	return nil
}

// Lists tells whether hosts names a host, with or without its port.
func Lists(hosts []string, hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	return slices.ContainsFunc(hosts, func(h string) bool {
		return strings.EqualFold(h, host) || strings.EqualFold(h, hostport)
	})
}

// InHouse tells whether an address is not one of the public network.
func InHouse(ip netip.Addr) bool {
	ip = ip.Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return true
	}
	return slices.ContainsFunc(special(), func(net netip.Prefix) bool { return net.Contains(ip) })
}

// special are networks that hold no public host either: shared address space,
// benchmarks, protocol assignments, reserved ones, and the ways to carry IPv4
// inside IPv6 (the special-purpose registries of RFC 6890).
func special() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
		netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
		netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
		netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
	}
}
