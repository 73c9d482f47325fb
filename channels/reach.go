package channels

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// CheckURL tells why a platform must not be reached at an address: it is more
// than scheme, host and path, or it goes in the clear to another machine
// [D24]. schemes are the allowed ones, such as "https"; the same without its
// last letter is for loopback.
func CheckURL(raw string, schemes ...string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("it is not a plain URL of scheme, host and path")
	}
	switch secure := u.Scheme + "s"; {
	case slices.Contains(schemes, u.Scheme):
		return nil
	case !slices.Contains(schemes, secure):
		return fmt.Errorf("scheme %q is not %s", u.Scheme, strings.Join(schemes, " or "))
	case !IsLoopback(u.Hostname()):
		return fmt.Errorf("plain %s is for this machine only; use %s", u.Scheme, secure)
	}
	return nil
}

// IsLoopback tells whether a host is this machine.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
