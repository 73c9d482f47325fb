package cronjobs

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
)

// skipLocalDown is why a candidate on a server of the house was passed over.
const skipLocalDown fallback.SkipWhy = "local_server"

const (
	probeLimit = 2500 * time.Millisecond // for one look at a server [R39]
	probeKeeps = 5 * time.Minute         // what it found counts so long
)

// localURL is the address of a provider's server that stands in the house: on
// this machine or in a private network. Vendors are not looked at beforehand.
func localURL(e provider.Endpoint) string {
	u, err := url.Parse(e.BaseURL)
	if err != nil || u.Host == "" || e.API == provider.AnthropicMessages {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") {
		return e.BaseURL
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !inHouse(ip) {
		return ""
	}
	return e.BaseURL
}

// inHouse tells whether an address is not one of the public network.
func inHouse(ip netip.Addr) bool {
	ip = ip.Unmap()
	if ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() || ip.IsInterfaceLocalMulticast() || ip.IsLinkLocalMulticast() {
		return true
	}
	for _, net := range special {
		if net.Contains(ip) {
			return true
		}
	}
	return false
}

// special are networks that are no public hosts' either: shared address space,
// benchmarks, protocol assignments, reserved, and the ways to carry IPv4 in IPv6.
var special = func() (all []netip.Prefix) {
	for _, p := range []string{"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"} {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}()

// localServers remembers which servers of the house answer.
type localServers struct {
	mu    sync.Mutex
	found map[string]finding
}

type finding struct {
	at  time.Time
	err error
}

// look tells whether the server answers, from memory if that is fresh.
func (l *localServers) look(ctx context.Context, url string, probe func(context.Context, string) error, now time.Time) error {
	l.mu.Lock()
	f, known := l.found[url]
	l.mu.Unlock()
	if known && now.Sub(f.at) < probeKeeps {
		return f.err
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	f = finding{now, probe(ctx, url)}
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil // the run ended: this says nothing of the server
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found == nil {
		l.found = map[string]finding{}
	}
	l.found[url] = f
	return f.err
}

// probeServer asks for the list of models; any answer will do.
func probeServer(ctx context.Context, base string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+"/models", nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: new(net.Dialer).DialContext}}
	answer, err := client.Do(r)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("no answer within 2.5 seconds")
	case err != nil:
		var inner *url.Error
		if errors.As(err, &inner) {
			return inner.Err
		}
		return err
	}
	return answer.Body.Close()
}
