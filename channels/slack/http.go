package slack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack/socketmode"
)

const (
	maxBody   = 1 << 20 // bytes of a request [SL2]
	readTime  = 30 * time.Second
	clockSkew = 5 * time.Minute // between Slack's clock and ours [SL2]
)

// Handler takes what Slack sends in http mode: events, commands and
// interactions on one path [SL1]. Nothing is read before the signature over the
// raw body is right. A request is answered with 200 once its message is durable
// [I1]; one that is not within 2.5 s gets 503, and Slack sends it again, which
// the message's key makes harmless [SL14].
func (c *Channel) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "POST only", http.StatusMethodNotAllowed)
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTime))
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			var big *http.MaxBytesError
			if errors.As(err, &big) {
				http.Error(w, "too large", http.StatusRequestEntityTooLarge)
				return
			}
			http.Error(w, "not read", http.StatusBadRequest)
			return
		}
		if err := verify(r.Header, body, c.opt.Signing.Reveal(), c.now()); err != nil {
			c.log.Warn("request to the slack path refused", "why", err)
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		c.answer(w, r, body)
	})
}

// answer reads a request that is Slack's.
func (c *Channel) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	d, challenge, err := readRequest(r.Header.Get("Content-Type"), body)
	switch {
	case err != nil:
		http.Error(w, "not understood", http.StatusBadRequest)
		return
	case challenge != "":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, challenge)
		return
	case c.intake.Load() == nil || c.self.Load() == nil:
		http.Error(w, "not ready", http.StatusServiceUnavailable)
		return
	}
	c.vitals.event()
	result := make(chan int, 1)
	var once sync.Once
	settle := func(code int) { once.Do(func() { result <- code }) }
	d.ack = func() { settle(http.StatusOK) }
	d.failed = func() { settle(http.StatusServiceUnavailable) }
	c.take(d)
	wait := time.NewTimer(c.pace.durable)
	defer wait.Stop()
	code := http.StatusServiceUnavailable
	select {
	case code = <-result:
	case <-wait.C:
	case <-r.Context().Done():
	}
	w.WriteHeader(code)
}

// readRequest sorts a body: JSON is an event, a form is a command or carries an
// interaction in its payload.
func readRequest(contentType string, body []byte) (d delivery, challenge string, err error) {
	if strings.HasPrefix(contentType, "application/x-www-form-urlencoded") {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return d, "", err
		}
		if p := form.Get("payload"); p != "" {
			return delivery{kind: socketmode.RequestTypeInteractive, payload: json.RawMessage(p)}, "", nil
		}
		fields := map[string]string{}
		for k := range form {
			fields[k] = form.Get(k)
		}
		payload, err := json.Marshal(fields)
		return delivery{kind: socketmode.RequestTypeSlashCommands, payload: payload}, "", err
	}
	var head struct{ Type, Challenge string }
	if err := json.Unmarshal(body, &head); err != nil {
		return d, "", err
	}
	if head.Type == "url_verification" {
		return d, head.Challenge, nil
	}
	return delivery{kind: socketmode.RequestTypeEventsAPI, payload: body}, "", nil
}

// verify checks Slack's signature, version 0: HMAC-SHA256 of version, time and
// raw body under the signing secret, with a time near now [SL2].
func verify(h http.Header, body []byte, secret string, now time.Time) error {
	stamp := h.Get("X-Slack-Request-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return errors.New("no time")
	}
	if skew := now.Sub(time.Unix(seconds, 0)); skew > clockSkew || skew < -clockSkew {
		return fmt.Errorf("its time is off by %s", skew.Round(time.Second))
	}
	hexed, ok := strings.CutPrefix(h.Get("X-Slack-Signature"), "v0=")
	given, err := hex.DecodeString(hexed)
	if !ok || err != nil {
		return errors.New("no signature")
	}
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = fmt.Fprintf(mac, "v0:%s:", stamp)
	_, _ = mac.Write(body)
	if secret == "" || !hmac.Equal(given, mac.Sum(nil)) {
		return errors.New("wrong signature")
	}
	return nil
}
