package provider

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

// echo answers with a request that carries what was sent, as net/http does.
type echo struct{ sent *http.Request }

func (e *echo) RoundTrip(r *http.Request) (*http.Response, error) {
	e.sent = r
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

func TestTheSDKNeverSeesTheCredential(t *testing.T) {
	base := &echo{}
	s := &seam{call: Call{Key: NewKey("the-key")}, base: base, watch: newWatch(t.Context(), Limits{})}
	defer s.watch.stop()
	req, _ := http.NewRequestWithContext(t.Context(), "POST", "https://x.test/v1/chat/completions", strings.NewReader("{}"))
	resp, err := s.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if base.sent.Header.Get("Authorization") != "Bearer the-key" {
		t.Errorf("sent %v", base.sent.Header)
	}
	if req.Header.Get("Authorization") != "" || resp.Request.Header.Get("Authorization") != "" {
		t.Errorf("the SDK sees %v, %v", req.Header, resp.Request.Header)
	}
}

func TestTheSeamItselfKeepsPlainHTTPOnLoopback(t *testing.T) { // [D24]
	base := &echo{}
	s := &seam{base: base, watch: newWatch(t.Context(), Limits{})}
	defer s.watch.stop()
	req, _ := http.NewRequestWithContext(t.Context(), "POST", "http://10.0.0.7/v1/messages", strings.NewReader("{}"))
	if _, err := s.RoundTrip(req); !errors.Is(err, errInsecure) || base.sent != nil {
		t.Errorf("error %v, sent %v", err, base.sent)
	}
}
