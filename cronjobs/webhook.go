package cronjobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"standin/bot/netguard"
	"standin/fallback/provider"
)

// WebhookCall is one event for a URL.
type WebhookCall struct {
	URL   string
	ID    string       // the same for every try: receivers know a repeat by it
	Token provider.Key // sent as a bearer token; empty: none
	Hosts []string     // that need not be public
	Event any          // as JSON
}

// webhookEvent is what a URL gets of a finished run [R55].
type webhookEvent struct {
	Event  string `json:"event"` // "cron.finished"
	Action string `json:"action"`
	Run
	// Text is the whole answer, or what a person would be told of a failure.
	Text string `json:"text,omitempty"`
}

func eventOf(_ Job, r Run, text string) webhookEvent {
	r.Owed = nil // the record's own
	return webhookEvent{Event: "cron.finished", Action: "finished", Run: r, Text: text}
}

// Tries of a webhook, and the waits between them.
const (
	webhookTries = 3
	webhookLimit = 30 * time.Second // of one try
)

// errForGood is a webhook's failure that another try would not mend.
var errForGood = errors.New("refused")

// callWebhook sends a good run's result and writes down what came of it.
func (s *Scheduler) callWebhook(ctx context.Context, j Job, r Run) {
	cfg := s.Config()
	err := s.postPatiently(ctx, WebhookCall{URL: j.way().To, ID: string(r.ID), Token: cfg.WebhookToken, Hosts: cfg.WebhookHosts, Event: eventOf(j, r, s.wholeAnswer(ctx, r))})
	if errors.Is(err, errLeft) {
		return
	}
	r.Delivery.Status, r.Delivery.Error = Delivered, ""
	if err != nil {
		r.Delivery.Status, r.Delivery.Error = NotDelivered, provider.Redact(err.Error())
	}
	if err := s.delivered(ctx, j, r); err != nil {
		s.Log.Error("what became of a webhook was not written", "job", j.ID, "run", r.ID, "err", err)
	}
}

// postWebhook makes one try. Addresses that are not public are refused after
// the name was looked up, so that no name leads into the house; redirects are
// not followed, for they would lead past that.
func (s *Scheduler) postWebhook(ctx context.Context, c WebhookCall) error {
	if _, err := url.Parse(c.URL); err != nil {
		return fmt.Errorf("%w: %q is no URL", errForGood, c.URL)
	}
	body, err := json.Marshal(c.Event)
	if err != nil {
		return fmt.Errorf("%w: %w", errForGood, err)
	}
	ctx, cancel := context.WithTimeout(ctx, webhookLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %w", errForGood, err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "standin")
	r.Header.Set("Idempotency-Key", c.ID)
	if !c.Token.Empty() {
		r.Header.Set("Authorization", "Bearer "+c.Token.Reveal())
	}
	client := &http.Client{
		Transport:     netguard.Transport(c.Hosts),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(r)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err // without the URL, which may hold a secret
		}
		if errors.Is(err, netguard.ErrInHouse) {
			err = fmt.Errorf("%w: %w; if that is meant, put its host into cron.webhookAllowHosts", errForGood, err)
		}
		return err
	}
	defer answer.Body.Close()
	said := c.heard(answer.Body)
	switch code := answer.StatusCode; {
	case code/100 == 2:
		return nil
	case code/100 == 3:
		return fmt.Errorf("%w: it answers %s and redirects are not followed; name the final URL", errForGood, answer.Status)
	case code/100 == 4 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests:
		return fmt.Errorf("%w: it answers %s %s", errForGood, answer.Status, said)
	}
	return fmt.Errorf("it answers %s %s", answer.Status, said)
}

// heard is the beginning of what an answer says, without the token, which some
// receivers repeat [I12]. It is cut last: half a token is a secret too.
func (c WebhookCall) heard(body io.Reader) string {
	text, _ := io.ReadAll(io.LimitReader(body, 4<<10))
	said := oneLine(provider.RedactThese(string(text), []provider.Key{c.Token}))
	return cut(said, 200)
}

// hostOf is a URL for people: without the path, which may hold a secret.
func hostOf(text string) string {
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host
	}
	return "a webhook"
}
