package auth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"
)

// loopback waits for one redirect on this machine.
type loopback struct {
	listeners []net.Listener
	server    *http.Server
	codes     chan result
}

type result struct {
	code string
	err  error
}

// Listen opens the redirect's port on this machine only. Close ends it when
// Wait is not called.
func (l *Login) Listen() error {
	first, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(l.Vendor.RedirectPort)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d of this machine is taken, probably by another login: end it, or log in with --paste, which needs no port", l.Vendor.RedirectPort)
	}
	if err != nil {
		return fmt.Errorf("wait for the browser: %w", err)
	}
	port := first.Addr().(*net.TCPAddr).Port
	box := &loopback{listeners: []net.Listener{first}, codes: make(chan result, 1)}
	// A browser may take localhost for ::1 first; a machine without it is fine.
	if second, err := net.Listen("tcp", net.JoinHostPort("::1", strconv.Itoa(port))); err == nil {
		box.listeners = append(box.listeners, second)
	}
	l.redirect = l.address(port)
	l.loopback = box
	where, err := url.Parse(l.redirect)
	if err != nil {
		return errors.Join(fmt.Errorf("redirectPath: %w", err), l.Close())
	}
	box.server = &http.Server{Handler: box.handler(l, where.Path), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 5 * time.Second}
	for _, one := range box.listeners {
		go func() { _ = box.server.Serve(one) }()
	}
	return nil
}

// handler takes the first redirect that has this login's state. What else
// arrives (another page's guess, a favicon) changes nothing.
func (b *loopback) handler(l *Login, path string) http.Handler {
	page := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path || r.Method != http.MethodGet {
			page(w, http.StatusNotFound, "Nothing is here. The login waits at another address.\n")
			return
		}
		code, err := l.codeOf(r.URL.Query())
		if errors.Is(err, ErrState) {
			page(w, http.StatusBadRequest, "This address belongs to another login. Go back to the terminal and open the newest address.\n")
			return
		}
		select {
		case b.codes <- result{code, err}:
		default:
			page(w, http.StatusGone, "This login has had its answer. You can close this page.\n")
			return
		}
		if err != nil {
			page(w, http.StatusOK, "The login did not succeed. The terminal says why. You can close this page.\n")
			return
		}
		page(w, http.StatusOK, "Logged in: go back to the terminal, which finishes the login. You can close this page.\n")
	})
}

// Wait takes the one redirect and trades its code for a login. Its wait ends
// with ctx: give it a deadline, and what it returned then is ErrExpired.
func (l *Login) Wait(ctx context.Context) (Credential, error) {
	if l.loopback == nil {
		return Credential{}, errors.New("wait for the browser: the login does not listen")
	}
	defer func() { _ = l.Close() }()
	select {
	case got := <-l.loopback.codes:
		if got.err != nil {
			return Credential{}, got.err
		}
		return l.exchange(ctx, got.code)
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			return Credential{}, ErrExpired
		}
		return Credential{}, context.Cause(ctx)
	}
}

// Close lets go of the port; the page that is being answered gets its answer.
func (l *Login) Close() error {
	if l.loopback == nil {
		return nil
	}
	if l.loopback.server == nil {
		var errs []error
		for _, one := range l.loopback.listeners {
			errs = append(errs, one.Close())
		}
		return errors.Join(errs...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := l.loopback.server.Shutdown(ctx); err != nil {
		return l.loopback.server.Close()
	}
	return nil
}
