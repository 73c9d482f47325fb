package incidents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"standin/bot/netguard"
)

// webhookLimit bounds one try.
const webhookLimit = 20 * time.Second

// ErrForGood is a failure that another try would not mend.
var ErrForGood = errors.New("refused")

// Call makes one try to hand a post to the target's URL. Addresses that are not
// public are refused after the name was looked up, unless hosts lists them, and
// redirects are not followed, for they would lead past that. An error holds
// nothing of the URL but its host.
func (t Target) Call(ctx context.Context, p Post, hosts []string) error {
	body, err := json.Marshal(p.Event)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrForGood, err)
	}
	ctx, cancel := context.WithTimeout(ctx, webhookLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: its address is no URL", ErrForGood)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "standin")
	r.Header.Set("Idempotency-Key", p.ID)
	if !t.Token.Empty() {
		r.Header.Set("Authorization", "Bearer "+t.Token.Reveal())
	}
	client := &http.Client{
		Transport:     netguard.Transport(hosts),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(r)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err // without the URL
		}
		if errors.Is(err, netguard.ErrInHouse) {
			err = fmt.Errorf("%w: %w; if that is meant, put its host into operators.webhookAllowHosts", ErrForGood, err)
		}
		return err
	}
	_ = answer.Body.Close()
	switch code := answer.StatusCode; {
	case code/100 == 2:
		return nil
	case code/100 == 3:
		return fmt.Errorf("%w: it answers %s and redirects are not followed; name the final URL", ErrForGood, answer.Status)
	case code/100 == 4 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests:
		return fmt.Errorf("%w: it answers %s", ErrForGood, answer.Status)
	}
	return fmt.Errorf("it answers %s", answer.Status)
}
