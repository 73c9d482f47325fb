package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Skew compares the clock with another's. Beyond some minutes Slack's requests
// and logins are refused, and windows end at the wrong time.
func Skew(whose string, theirs, ours time.Time) []Finding {
	off := ours.Sub(theirs)
	way := "ahead of"
	if off < 0 {
		off, way = -off, "behind"
	}
	f := Finding{Area: Machine, Where: "clock", Mend: "let the machine set its clock: timedatectl set-ntp true",
		What: fmt.Sprintf("is %s %s that of %s", off.Round(time.Second), way, whose)}
	switch {
	case off >= 5*time.Minute:
		f.Level, f.What = Error, f.What+": Slack refuses requests that are more than 5 minutes off"
	case off >= 30*time.Second:
		f.Level = Warning
	default:
		return nil
	}
	return []Finding{f}
}

// timeOf asks a server for its time: the Date of its answer, whatever the answer
// is. Nothing is sent but the request itself, no credential either.
func timeOf(ctx context.Context, client *http.Client, url string) (theirs, ours time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
	if err != nil {
		return theirs, ours, err
	}
	before := time.Now()
	answer, err := client.Do(r)
	if err != nil {
		return theirs, ours, err
	}
	_ = answer.Body.Close()
	theirs, err = http.ParseTime(answer.Header.Get("Date"))
	// The header has whole seconds, and was written on the way.
	return theirs.Add(500 * time.Millisecond), before.Add(time.Since(before) / 2), err
}

// Unreachable tells that a provider's server does not answer.
func Unreachable(provider string, err error) Finding {
	return Finding{Area: Machine, Level: Warning, Where: provider, What: "its server does not answer: " + cause(err),
		Mend: "look at the network of this machine, and at models.providers." + provider + ".baseUrl"}
}

// cause is an error of the network without the address, which may hold a secret.
func cause(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "it took too long"
	case errors.As(err, &dns):
		return "its name cannot be looked up"
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return "the request failed"
}

// Port finds an address that another program listens on. bound is the error of
// listening on it for a moment.
func Port(address string, bound error) []Finding {
	if bound == nil {
		return nil
	}
	f := Finding{Area: Machine, Level: Error, Where: address, What: "cannot be listened on: " + cause(bound), Mend: "choose another gateway.port"}
	switch {
	case errors.Is(bound, syscall.EADDRINUSE):
		f.What, f.Mend = "another program listens there", "choose another gateway.port, or stop that program (ss -ltnp names it)"
	case errors.Is(bound, syscall.EACCES):
		f.What, f.Mend = "this user may not listen there", "choose a gateway.port above 1023"
	}
	return []Finding{f}
}

// tryPort listens for a moment.
func tryPort(ctx context.Context, address string) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return l.Close()
}
