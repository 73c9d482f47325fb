package netguard_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"standin/bot/netguard"
)

func TestWhatIsInTheHouse(t *testing.T) {
	for ip, want := range map[string]bool{
		"127.0.0.1": true, "127.8.8.8": true, "::1": true, "0.0.0.0": true, "::": true,
		"10.0.0.1": true, "172.16.9.9": true, "192.168.1.1": true, "fd00::1": true, "fe80::1": true,
		"169.254.169.254": true, "100.64.0.1": true, "224.0.0.1": true, "255.255.255.255": true, "198.18.0.1": true,
		"::ffff:127.0.0.1": true, "::ffff:169.254.169.254": true, "64:ff9b::7f00:1": true, "2002:7f00:1::": true,
		"1.1.1.1": false, "8.8.8.8": false, "172.32.0.1": false, "2606:4700::1111": false,
	} {
		if got := netguard.InHouse(netip.MustParseAddr(ip)); got != want {
			t.Errorf("%s: %v", ip, got)
		}
	}
}

// It is the address that counts: neither a name nor a redirect leads inside,
// unless the operator has listed the host.
func TestNoNameLeadsInside(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("secret")) }))
	defer inside.Close()
	named := strings.Replace(inside.URL, "127.0.0.1", "localhost", 1)
	for _, url := range []string{inside.URL, named} {
		_, err := (&http.Client{Transport: netguard.Transport(nil)}).Get(url)
		if !errors.Is(err, netguard.ErrInHouse) {
			t.Errorf("%s: %v", url, err)
		}
	}
	listed := &http.Client{Transport: netguard.Transport([]string{"LOCALHOST", "127.0.0.1:1"})}
	if r, err := listed.Get(named); err != nil {
		t.Errorf("a listed host: %v", err)
	} else {
		_ = r.Body.Close()
	}
	if _, err := listed.Get(inside.URL); !errors.Is(err, netguard.ErrInHouse) {
		t.Errorf("another port of a listed address: %v", err)
	}
}
