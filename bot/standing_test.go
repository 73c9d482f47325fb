package bot_test

import (
	"context"
	"testing"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// windows are credentials of which some are not usable now.
type windows map[string]fallback.Reason // by provider; "" is usable

func (w windows) Profiles(_ context.Context, _ fallback.AgentID, provider string) ([]fallback.Profile, error) {
	if _, known := w[provider]; !known {
		return nil, nil
	}
	return []fallback.Profile{{ID: fallback.ProfileID(provider + ":default"), Provider: provider}}, nil
}

func (w windows) Usage(_ context.Context, _ fallback.AgentID, provider string) (map[fallback.ProfileID]fallback.Usage, error) {
	u := fallback.Usage{}
	if w[provider] != "" {
		u.Disabled = fallback.Window{Until: time.Now().Add(time.Hour), Reason: w[provider]}
	}
	return map[fallback.ProfileID]fallback.Usage{fallback.ProfileID(provider + ":default"): u}, nil
}

func (windows) Update(context.Context, fallback.AgentID, fallback.ProfileID, func(fallback.Usage) fallback.Usage) (was, now fallback.Usage, err error) {
	return was, now, nil
}

func TestStanding(t *testing.T) { // D18
	for _, c := range []struct {
		name string
		w    windows
		want channels.Standing
		why  string
	}{
		{"the first model can be asked", windows{"anthropic": "", "openai": fallback.Billing}, channels.Healthy, ""},
		{"another stands in", windows{"anthropic": fallback.Billing, "openai": "", "google": ""}, channels.Degraded, "billing"},
		{"none can be asked", windows{"anthropic": fallback.RateLimit, "openai": fallback.Billing, "google": fallback.AuthFailed}, channels.Exhausted, "rate limit"},
		{"what is not known may be asked", windows{"anthropic": fallback.RateLimit}, channels.Degraded, "rate limit"},
	} {
		b := bot.New(bot.Options{Config: config, Credentials: c.w, Now: time.Now})
		if got, why := b.Standing(t.Context()); got != c.want || why != c.why {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, got, why, c.want, c.why)
		}
	}
}
