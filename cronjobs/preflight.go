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

	"standin/bot/netguard"
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
	if err != nil || !netguard.InHouse(ip) {
		return ""
	}
	return e.BaseURL
}

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
