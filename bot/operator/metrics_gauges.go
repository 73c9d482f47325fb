package operator

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"standin/bot"
	"standin/fallback"
)

// gauges are what is so at the moment of a scrape: read then, from where it is
// kept, so that nothing has to be kept twice.
type gauges struct {
	*Server
	m *metrics
}

var (
	gaugeRunning   = prometheus.NewDesc("standin_turns_running", "Turns that run.", nil, nil)
	gaugeWaiting   = prometheus.NewDesc("standin_turns_waiting", "Messages that wait for their turn.", nil, nil)
	gaugeUnsent    = prometheus.NewDesc("standin_outbox_unsent", "Posts that are owed to rooms.", nil, nil)
	gaugeOldest    = prometheus.NewDesc("standin_outbox_oldest_seconds", "Age of the oldest of them.", nil, nil)
	gaugeReady     = prometheus.NewDesc("standin_ready", "1 while messages are taken.", nil, nil)
	gaugeChannel   = prometheus.NewDesc("standin_channel_up", "1 while an account of a platform is connected.", []string{"channel", "account"}, nil)
	gaugeServer    = prometheus.NewDesc("standin_tool_server_up", "1 while an MCP server is ready.", []string{"server"}, nil)
	gaugeStandIns  = prometheus.NewDesc("standin_sessions_on_standin", "Sessions that another model answers than is selected.", []string{"agent"}, nil)
	gaugeResting   = prometheus.NewDesc("standin_credentials_resting", "Open windows of credentials.", []string{"agent", "provider", "kind", "reason"}, nil)
	gaugeUntil     = prometheus.NewDesc("standin_credential_window_seconds", "How long the longest of them still is.", []string{"agent", "provider", "kind", "reason"}, nil)
	gaugeUsable    = prometheus.NewDesc("standin_credentials_usable", "Credentials that can be used now.", []string{"agent", "provider"}, nil)
	gaugeAnswers   = prometheus.NewDesc("standin_chain_answers", "Place in the chain of the model that would be asked first now: 1 is the primary, 0 none.", []string{"agent"}, nil)
	gaugeListeners = prometheus.NewDesc("standin_event_listeners", "Open streams of events.", nil, nil)
)

// Describe implements prometheus.Collector.
func (g *gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{gaugeRunning, gaugeWaiting, gaugeUnsent, gaugeOldest, gaugeReady, gaugeChannel, gaugeServer, gaugeStandIns, gaugeResting, gaugeUntil, gaugeUsable, gaugeAnswers, gaugeListeners} {
		to <- d
	}
}

// Collect implements prometheus.Collector. What cannot be read is left out: the
// others are still told.
func (g *gauges) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	put := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	now, cfg := g.Now(), g.Config()
	running, waiting := g.Bot.Load()
	put(gaugeRunning, float64(running))
	put(gaugeWaiting, float64(waiting))
	put(gaugeReady, truth(g.Daemon.Readiness() == Ready))
	put(gaugeListeners, float64(g.stream.count()))
	if n, oldest, err := g.Rows.Unsent(ctx); err == nil {
		put(gaugeUnsent, float64(n))
		age := 0.0
		if !oldest.IsZero() {
			age = max(now.Sub(oldest).Seconds(), 0)
		}
		put(gaugeOldest, age)
	}
	for _, c := range g.Daemon.Channels() {
		put(gaugeChannel, truth(c.State == "ready"), c.Channel, c.Account)
		g.m.connected(c)
	}
	for _, one := range g.Daemon.Servers() {
		put(gaugeServer, truth(one.State == "ready"), one.Name)
	}
	if _, counts, err := g.Rows.StandIns(ctx, 0); err == nil {
		for _, a := range sortedAgents(cfg) {
			put(gaugeStandIns, float64(counts[a]), string(a))
		}
	}
	for _, a := range sortedAgents(cfg) {
		g.collectAgent(ctx, cfg, a, now, put)
	}
}

// collectAgent tells of an agent's credentials and chain.
func (g *gauges) collectAgent(ctx context.Context, cfg *bot.Config, a fallback.AgentID, now time.Time, put func(*prometheus.Desc, float64, ...string)) {
	view, err := g.viewAgent(ctx, cfg, a, now)
	if err != nil {
		return
	}
	place := 0
	type window struct{ provider, kind, reason string }
	open, longest, usable := map[window]int{}, map[window]float64{}, map[string]int{}
	seen := map[string]bool{}
	for _, c := range view.Chain {
		if c.Model == view.Answers && place == 0 {
			place = c.Position
		}
		for _, cred := range c.Credentials {
			if seen[cred.Profile] {
				continue
			}
			seen[cred.Profile] = true
			usable[cred.Provider] += int(truth(cred.State == bot.CredentialUsable || cred.State == bot.CredentialPartly))
			for _, w := range cred.Windows {
				key := window{cred.Provider, w.Kind, reasonLabel(w.Reason)}
				open[key]++
				longest[key] = max(longest[key], w.Until.Sub(now).Seconds())
			}
		}
	}
	put(gaugeAnswers, float64(place), string(a))
	for provider, n := range usable {
		put(gaugeUsable, float64(n), string(a), provider)
	}
	for key, n := range open {
		put(gaugeResting, float64(n), string(a), key.provider, key.kind, key.reason)
		put(gaugeUntil, longest[key], string(a), key.provider, key.kind, key.reason)
	}
}

// connected counts an account that is ready since another moment than it was at
// the last look.
func (m *metrics) connected(c Channel) {
	if c.State != "ready" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := c.Channel + "\x00" + c.Account
	if was, known := m.since[key]; known && !was.Equal(c.Since) {
		m.reconnects.WithLabelValues(c.Channel).Inc()
	}
	m.since[key] = c.Since
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (s *stream) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.listeners)
}
