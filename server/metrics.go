package server

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/session"
)

// metric is a family of the Prometheus text format.
type metric struct {
	name, help, kind string
	buckets          []float64 // for a histogram
}

// The counters and histograms. The families of the current state are in gauges.
var (
	turnsTotal      = metric{"parley_turns_total", "Turns that have ended, by provider and outcome.", "counter", nil}
	turnSeconds     = metric{"parley_turn_duration_seconds", "How long turns took, by provider.", "histogram", []float64{1, 5, 15, 60, 300, 900, 3600}}
	tokensTotal     = metric{"parley_tokens_total", "Tokens that agents used, by provider, model and kind.", "counter", nil}
	costTotal       = metric{"parley_cost_usd_total", "Dollars that agents used, by provider: estimated, then corrected by the agents' reports.", "gauge", nil}
	requestsTotal   = metric{"parley_requests_total", "Calls of methods, by method and outcome.", "counter", nil}
	requestSeconds  = metric{"parley_request_duration_seconds", "How long calls of methods took.", "histogram", []float64{0.001, 0.01, 0.1, 1, 10, 60}}
	appendSeconds   = metric{"parley_log_append_duration_seconds", "How long writing to the log of a session took.", "histogram", []float64{0.001, 0.005, 0.02, 0.1, 0.5, 2, 10}}
	appendErrors    = metric{"parley_log_append_errors_total", "Writes to the log of a session that failed.", "counter", nil}
	deliveriesTotal = metric{"parley_webhook_deliveries_total", "Calls of webhooks and of the command, by outcome.", "counter", nil}
)

// maxSeries limits the label values from agents; others are "other".
const maxSeries = 500

// metrics counts events. Its methods may be called from any goroutine.
type metrics struct {
	mu         sync.Mutex
	families   map[string]metric
	values     map[string]map[string]float64 // by family and labels
	histograms map[string]map[string]*histogram
}

type histogram struct {
	counts []uint64
	sum    float64
	count  uint64
}

func newMetrics() *metrics {
	return &metrics{families: map[string]metric{}, values: map[string]map[string]float64{}, histograms: map[string]map[string]*histogram{}}
}

// labels formats pairs of names and values.
func labels(pairs ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(pairs[i] + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(pairs[i+1]) + `"`)
	}
	return b.String()
}

// add adds to a value.
func (m *metrics) add(f metric, n float64, pairs ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.families[f.name] = f
	series := m.values[f.name]
	if series == nil {
		series = map[string]float64{}
		m.values[f.name] = series
	}
	key := labels(pairs...)
	if _, ok := series[key]; !ok && len(series) >= maxSeries {
		for i := 1; i < len(pairs); i += 2 {
			pairs[i] = "other"
		}
		key = labels(pairs...)
	}
	series[key] += n
}

// observe adds to a histogram.
func (m *metrics) observe(f metric, v float64, pairs ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.families[f.name] = f
	series := m.histograms[f.name]
	if series == nil {
		series = map[string]*histogram{}
		m.histograms[f.name] = series
	}
	key := labels(pairs...)
	h := series[key]
	if h == nil {
		h = &histogram{counts: make([]uint64, len(f.buckets))}
		series[key] = h
	}
	if i := sort.SearchFloat64s(f.buckets, v); i < len(h.counts) {
		h.counts[i]++
	}
	h.count++
	h.sum += v
}

func (m *metrics) Used(provider string, u agent.Used, usd float64) {
	for kind, n := range map[string]int64{"input": u.Input, "output": u.Output, "cache_read": u.CacheRead, "cache_write": u.CacheWrite5m + u.CacheWrite1h} {
		if n > 0 {
			m.add(tokensTotal, float64(n), "provider", provider, "model", u.Model, "kind", kind)
		}
	}
	m.Reconciled(provider, usd)
}

func (m *metrics) Reconciled(provider string, usd float64) {
	m.add(costTotal, usd, "provider", provider)
}

func (m *metrics) delivered(err error) {
	outcome := "ok"
	if err != nil {
		outcome = "error"
	}
	m.add(deliveriesTotal, 1, "outcome", outcome)
}

func (m *metrics) Turn(provider string, isError bool, took time.Duration) {
	outcome := "ok"
	if isError {
		outcome = "error"
	}
	m.add(turnsTotal, 1, "provider", provider, "outcome", outcome)
	m.observe(turnSeconds, took.Seconds(), "provider", provider)
}

func (m *metrics) request(method string, err error, took time.Duration) {
	outcome := "ok"
	if err != nil {
		outcome = string(session.FailureOf(err).Reason)
	}
	m.add(requestsTotal, 1, "method", method, "outcome", outcome)
	m.observe(requestSeconds, took.Seconds())
}

func (m *metrics) Appended(err error, took time.Duration) {
	if err != nil {
		m.add(appendErrors, 1)
		return
	}
	m.observe(appendSeconds, took.Seconds())
}

// write writes all families in the text format.
func (m *metrics) write(b *strings.Builder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.families)) {
		f := m.families[name]
		heading(b, f)
		for _, key := range slices.Sorted(maps.Keys(m.values[name])) {
			sample(b, name, key, m.values[name][key])
		}
		for _, key := range slices.Sorted(maps.Keys(m.histograms[name])) {
			h, sum := m.histograms[name][key], uint64(0)
			for i, bound := range f.buckets {
				sum += h.counts[i]
				sample(b, name+"_bucket", withLabel(key, labels("le", strconv.FormatFloat(bound, 'g', -1, 64))), float64(sum))
			}
			sample(b, name+"_bucket", withLabel(key, labels("le", "+Inf")), float64(h.count))
			sample(b, name+"_sum", key, h.sum)
			sample(b, name+"_count", key, float64(h.count))
		}
	}
}

func withLabel(a, b string) string {
	if a == "" {
		return b
	}
	return a + "," + b
}

func heading(b *strings.Builder, f metric) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
}

func sample(b *strings.Builder, name, key string, v float64) {
	if key != "" {
		name += "{" + key + "}"
	}
	b.WriteString(name + " " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
}

// MetricsHandler serves the metrics in the Prometheus text format without authentication: it is for
// a listener that only the monitoring can reach. The server's handler requires a token.
func (s *Server) MetricsHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { s.writeMetrics(w) })
}

// metricsPage serves the metrics. They contain the names of tenants.
func (s *Server) metricsPage(w http.ResponseWriter, _ *http.Request, _ *caller, _ *method) error {
	s.writeMetrics(w)
	return nil
}

func (s *Server) writeMetrics(w http.ResponseWriter) {
	var b strings.Builder
	s.metrics.write(&b)
	s.writeGauges(&b)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(b.String())) // a disconnected client is not a fault
}
