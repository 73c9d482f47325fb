package incidents

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"time"

	"standin/channels"
	"standin/fallback/provider"
)

// Target is one of operators.notify: a conversation or a URL that is told.
type Target struct {
	To     channels.Address // zero for a webhook
	URL    string
	Token  provider.Key // sent to URL as a bearer token; empty: none
	Events []Kind       // that it hears of; nil: all
}

// Settings are the config's operators.
type Settings struct {
	Targets []Target
	// FallbackLongerThan is how long another model may answer before it is told; 0:
	// it never is.
	FallbackLongerThan time.Duration
	// Hosts need not be public: webhooks may be sent to them.
	Hosts []string
}

// Target gives the target of a name; false: there is none any more.
func (s Settings) Target(name string) (Target, bool) {
	i := slices.IndexFunc(s.Targets, func(t Target) bool { return t.Name() == name })
	if i < 0 {
		return Target{}, false
	}
	return s.Targets[i], true
}

// Name stands for the target in rows: it stays the same as long as the target
// does, and holds nothing of a URL, which may have a secret in its path.
func (t Target) Name() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s\x00%s", t.To.Channel, t.To.Account, t.To.Conversation, t.To.Thread, t.URL))
	return hex.EncodeToString(sum[:6])
}

// String is the target for people.
func (t Target) String() string {
	if t.URL == "" {
		name := t.To.Channel
		if t.To.Account != "" {
			name += "/" + t.To.Account
		}
		return name + " " + t.To.Conversation
	}
	if u, err := url.Parse(t.URL); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host
	}
	return "a webhook"
}

// hears tells whether the target is told of the change. Where what is down is the
// target's own connection it would only hear of it when that is back, and hears
// of the end instead.
func (t Target) hears(c Change) bool {
	if len(t.Events) > 0 && !slices.Contains(t.Events, c.Kind) {
		return false
	}
	return c.News == Over || t.URL != "" || c.Channel == "" || t.To.Channel != c.Channel || t.To.Account != c.Account
}

// Post is a line for one target. It is kept until it was handed over.
type Post struct {
	ID       string // the same for every try
	Incident int64
	Target   string // its name
	Event    Event
	Tries    int
	Next     time.Time // not before
}

// Event is what a webhook is sent, as JSON.
type Event struct {
	Event   string    `json:"event"` // "incident"
	News    News      `json:"news"`  // began, worse, again, over
	Kind    Kind      `json:"kind"`
	Subject string    `json:"subject"`
	Text    string    `json:"text"`
	Since   time.Time `json:"since"`
	Times   int       `json:"times"`
	Over    time.Time `json:"over,omitzero"`
	At      time.Time `json:"at"`
}

// Posts are the lines that a change comes to, one for each target that hears of
// it. Their IDs want the row's id: see Post.For.
func (s Settings) Posts(c Change, now time.Time) (posts []Post) {
	if c.News == Nothing {
		return nil
	}
	e := Event{Event: "incident", News: c.News, Kind: c.Kind, Subject: provider.Redact(c.Subject), Text: c.Text, Since: c.Since.UTC(), Times: c.Times, At: now.UTC()}
	if c.News == Over {
		e.Text, e.Over = SayOver(c.Incident, now), c.Closed.UTC()
	}
	for _, t := range s.Targets {
		if name := t.Name(); t.hears(c) && !slices.ContainsFunc(posts, func(p Post) bool { return p.Target == name }) {
			posts = append(posts, Post{Target: name, Event: e, Next: now})
		}
	}
	return posts
}

// For is the post as it belongs to a row: its ID tells one line from all others.
func (p Post) For(i Incident) Post {
	p.Incident = i.ID
	p.ID = fmt.Sprintf("incident-%d-%d-%s", i.ID, i.Lines, p.Target)
	return p
}

// Backoff is the wait after the n-th try; false: it is given up.
func Backoff(n int, age time.Duration) (wait time.Duration, more bool) {
	return min(5*time.Second<<min(max(n-1, 0), 10), 10*time.Minute), age < 24*time.Hour
}
