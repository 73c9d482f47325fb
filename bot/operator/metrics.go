package operator

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// metrics counts what happens. No label holds an id, a text or a name that
// somebody outside could make up: models are those of the config, and all others
// are "other" [G31].
type metrics struct {
	registry *prometheus.Registry

	failovers, attempts, skips, probes *prometheus.CounterVec
	tokens, cost                       *prometheus.CounterVec
	sends, notices, endings            *prometheus.CounterVec
	turns, vendor                      *prometheus.HistogramVec
	own                                prometheus.Histogram
	reconnects                         *prometheus.CounterVec

	config func() *bot.Config
	names  atomic.Pointer[modelNames]

	mu    sync.Mutex
	spent map[string]time.Duration // by run that goes on: what its vendors took
	since map[string]time.Time     // by account: since when it is ready
}

// modelNames are the models of one config.
type modelNames struct {
	of    *bot.Config
	known map[fallback.Model]bool
}

// ownBuckets are seconds of our own; the goal is a median below 3 ms.
var ownBuckets = []float64{.0005, .001, .002, .003, .005, .008, .015, .03, .06, .125, .25, .5, 1}

// waitBuckets are seconds that a person or we wait.
var waitBuckets = []float64{.05, .1, .25, .5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 600}

func newMetrics(s *Server) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), config: s.Config, spent: map[string]time.Duration{}, since: map[string]time.Time{}}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	m.failovers = counter("standin_model_failovers_total", "Moves from a model that failed, or was passed over, to the next of its chain.", "from_provider", "from_model", "to_provider", "to_model", "reason")
	m.attempts = counter("standin_model_attempts_total", "Requests to models.", "provider", "model", "kind", "outcome", "reason")
	m.skips = counter("standin_model_skips_total", "Models that were passed over without a request.", "provider", "model", "why")
	m.probes = counter("standin_model_probes_total", "Requests that looked whether a model is back.", "kind", "result")
	m.tokens = counter("standin_tokens_total", "Tokens as vendors count them.", "provider", "model", "purpose", "direction")
	m.cost = counter("standin_cost_usd_total", "Cost of requests whose price is known, in US dollars.", "provider", "model", "purpose")
	m.sends = counter("standin_sends_total", "Posts handed to platforms.", "channel", "kind", "outcome")
	m.notices = counter("standin_fallback_notices_total", "Notices of a change of model.", "kind", "result")
	m.endings = counter("standin_messages_total", "Messages that have had their ending.", "outcome")
	m.reconnects = counter("standin_channel_reconnects_total", "Times at which a channel was found connected anew.", "channel")
	m.turns = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "standin_turn_duration_seconds", Help: "From a message's arrival to its ending, waiting included.", Buckets: waitBuckets}, []string{"outcome"})
	m.vendor = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "standin_vendor_call_seconds", Help: "What one request to a model took.", Buckets: waitBuckets}, []string{"provider", "outcome"})
	m.own = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "standin_run_own_seconds", Help: "What a run took beside its requests.", Buckets: ownBuckets})
	m.registry.MustRegister(m.turns, m.vendor, m.own, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), &gauges{s, m})
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "standin_build_info", Help: "1, with the version as a label."}, []string{"version"})
	info.WithLabelValues(s.Config().Version).Set(1)
	m.registry.MustRegister(info)
	return m
}

// model gives the labels of a model: those of the config by their names.
func (m *metrics) model(one fallback.Model) (provider, name string) {
	cfg := m.config()
	names := m.names.Load()
	if names == nil || names.of != cfg {
		names = &modelNames{cfg, map[fallback.Model]bool{}}
		for _, known := range cfg.Fallback.Models() {
			names.known[known] = true
		}
		m.names.Store(names)
	}
	if !names.known[one] {
		return "other", "other"
	}
	return one.Provider, one.Name
}

// mostSpent bounds the runs that are remembered while they go on.
const mostSpent = 4096

// step counts one step of a run.
func (m *metrics) step(s fallback.Step) {
	switch {
	case s.Attempt != nil:
		m.attempt(s, *s.Attempt)
	case s.Record != nil && s.Record.NextModel != "" && s.Record.StepOutcome == "next_fallback":
		r := s.Record
		fromProvider, fromModel := m.model(fallback.Model{Provider: r.CandidateProvider, Name: r.CandidateModel})
		toProvider, toModel := m.model(fallback.Model{Provider: r.NextProvider, Name: r.NextModel})
		m.failovers.WithLabelValues(fromProvider, fromModel, toProvider, toModel, reasonLabel(r.Reason)).Inc()
	}
}

func (m *metrics) attempt(s fallback.Step, a fallback.Attempt) {
	provider, name := m.model(a.Model)
	if a.Skipped != "" {
		m.skips.WithLabelValues(provider, name, string(a.Skipped)).Inc()
		return
	}
	outcome, reason := "failed", string(a.Reason)
	if reason == "" {
		reason = string(a.Label)
	}
	if a.OK {
		outcome, reason = "ok", ""
	}
	m.attempts.WithLabelValues(provider, name, string(s.Kind), outcome, reasonLabel(reason)).Inc()
	m.vendor.WithLabelValues(provider, outcome).Observe(a.Took.Seconds())
	if a.Probe != fallback.NoProbe {
		m.probes.WithLabelValues(string(a.Probe), outcome).Inc()
	}
	purpose := string(s.Kind)
	for direction, n := range map[string]int64{"input": a.Tokens.Input, "output": a.Tokens.Output, "cache_read": a.Tokens.CacheRead, "cache_write": a.Tokens.CacheWrite} {
		if n > 0 {
			m.tokens.WithLabelValues(provider, name, purpose, direction).Add(float64(n))
		}
	}
	if a.Priced && a.Cost > 0 {
		m.cost.WithLabelValues(provider, name, purpose).Add(a.Cost)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, goesOn := m.spent[s.Run]; goesOn {
		m.spent[s.Run] += a.Took
	}
}

// reasonLabel is a class of failures: the rule book has some twenty of them.
func reasonLabel(reason string) string {
	if reason == "" || len(reason) > 40 {
		return "none"
	}
	return reason
}

// Record counts a step and shows it to those who watch. It implements
// fallback.Journal beside the store's own.
func (s *Server) Record(_ context.Context, one fallback.Step) {
	s.metrics.step(one)
	s.traces.step(one)
	if a := one.Attempt; a != nil { // the engine goes on with its own
		copied := *a
		one.Attempt = &copied
	}
	if r := one.Record; r != nil { // it notes in its own what the log suppressed
		copied := *r
		one.Record = &copied
	}
	s.stream.step(one)
}

// began and ended frame a run, so that what it took beside its vendors is known.
func (m *metrics) began(run string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.spent) < mostSpent {
		m.spent[run] = 0
	}
}

func (m *metrics) ended(run string, took time.Duration) {
	m.mu.Lock()
	vendors, known := m.spent[run]
	delete(m.spent, run)
	m.mu.Unlock()
	if known {
		m.own.Observe(max(took-vendors, 0).Seconds())
	}
}

// Sent counts what became of a post.
func (s *Server) Sent(out channels.Outbound, err error) {
	outcome := "sent"
	if err != nil {
		outcome = string(channels.OutcomeOf(err))
	}
	s.metrics.sends.WithLabelValues(out.To.Channel, string(out.Kind), outcome).Inc()
}

// Ended counts a message's ending and the notice that came with it. accepted is
// when the message came; zero: no message, or one of a former process.
func (s *Server) Ended(e bot.Ending, accepted time.Time, posted []bot.Delivery) {
	if e.Accepted != 0 {
		s.metrics.endings.WithLabelValues(string(e.How)).Inc()
		if !accepted.IsZero() && (e.How == bot.Answered || e.How == bot.Failed) {
			s.metrics.turns.WithLabelValues(string(e.How)).Observe(max(e.At.Sub(accepted), 0).Seconds())
		}
	}
	if e.Notice == nil {
		return
	}
	kind, result := "fallback", "repeated" // the room had been told: none was written [I3]
	if e.Settle != nil && e.Settle.Told == (fallback.Told{}) {
		kind = "cleared"
	}
	for _, d := range posted {
		if d.ID == e.Notice.ID {
			result = "written"
		}
	}
	s.metrics.notices.WithLabelValues(kind, result).Inc()
}

// serveMetrics serves what was counted.
func (s *Server) serveMetrics(c *call) {
	if !s.Settings.Metrics {
		fail(c.w, http.StatusNotFound, "not_found", "metrics are off: gateway.metrics in the config")
		return
	}
	promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second, EnableOpenMetrics: true}).ServeHTTP(c.w, c.r)
}
