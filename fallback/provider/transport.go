package provider

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// NewTransport gives the http.Transport for all vendors: connections are kept
// and shared, a dead HTTP/2 connection is noticed by pings, and nothing in it
// waits on its own for longer than an attempt may take. The limits of an
// attempt are not here but in Limits, since each call has its own.
func NewTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: time.Minute, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:   time.Minute,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          64,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true, // a compressed stream arrives late, and evidence is read off the wire
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// transportOf says what broke below HTTP.
func transportOf(err error) Transport {
	var dns *net.DNSError
	var op *net.OpError
	var timeout net.Error
	switch {
	case err == nil:
		return NoTransport
	case errors.As(err, &dns):
		return DNSFailed
	case isTLS(err):
		return TLSFailed
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNABORTED):
		return Reset
	case errors.As(err, &op) && op.Op == "dial" && op.Timeout():
		return ConnectTimeout
	case isHTTP2Reset(err):
		return Reset
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "server closed idle connection"):
		return EOF
	case errors.As(err, &timeout) && timeout.Timeout() && strings.Contains(err.Error(), "TLS handshake"):
		return ConnectTimeout
	}
	return OtherTransport
}

func isTLS(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		hostname     x509.HostnameError
		invalid      x509.CertificateInvalidError
		record       tls.RecordHeaderError
		alert        tls.AlertError
	)
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &hostname) ||
		errors.As(err, &invalid) || errors.As(err, &record) || errors.As(err, &alert) ||
		strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

// isHTTP2Reset knows the texts of the HTTP/2 errors that net/http keeps
// unexported: a reset stream, a broken connection, GOAWAY.
func isHTTP2Reset(err error) bool {
	s := err.Error()
	return strings.Contains(s, "stream error: stream ID") || strings.Contains(s, "connection error: ") ||
		strings.Contains(s, "GOAWAY") || strings.Contains(s, "http2: client connection lost")
}

// inner takes off the *url.Error of http.Client: its text repeats the URL.
func inner(err error) error {
	var u *url.Error
	for errors.As(err, &u) {
		err = u.Err
	}
	return err
}
