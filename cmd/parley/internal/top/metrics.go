package top

import (
	"math"
	"strconv"
	"strings"
)

// Metrics holds the metrics of a server that the view shows. Unknown numbers are absent.
type Metrics struct {
	Version     string   `json:"version,omitempty"`
	Agents      *float64 `json:"agents_running,omitempty"`
	AgentsMax   *float64 `json:"agents_max,omitempty"`
	Waiting     *float64 `json:"agents_waiting,omitempty"`
	Queued      *float64 `json:"queued_inputs,omitempty"`
	Requests    *float64 `json:"open_requests,omitempty"`
	Connections *float64 `json:"connections,omitempty"`
	Memory      *float64 `json:"memory_bytes,omitempty"`
	// P99 is the 99th percentile of the duration of method calls in seconds, estimated from
	// the buckets of the histogram.
	P99 *float64 `json:"p99_seconds,omitempty"`
}

// latency is the histogram for P99.
const latency = "parley_request_duration_seconds"

// ParseMetrics reads the Prometheus text format. It ignores unknown lines.
func ParseMetrics(text string) Metrics {
	var m Metrics
	known := map[string]**float64{
		"parley_agents_running": &m.Agents, "parley_agents_max": &m.AgentsMax, "parley_agents_waiting": &m.Waiting, "parley_queued_inputs": &m.Queued,
		"parley_open_requests": &m.Requests, "parley_connections": &m.Connections, "parley_memory_bytes": &m.Memory,
	}
	var buckets []bucket
	for line := range strings.Lines(text) {
		name, label, value, ok := parseSample(strings.TrimSpace(line))
		if !ok {
			continue
		}
		switch p := known[name]; {
		case p != nil:
			*p = &value
		case name == "parley_build_info":
			m.Version = label("version")
		case name == latency+"_bucket":
			if bound, err := strconv.ParseFloat(label("le"), 64); err == nil {
				buckets = append(buckets, bucket{bound, value})
			}
		}
	}
	if q, ok := quantile(0.99, buckets); ok {
		m.P99 = &q
	}
	return m
}

// parseSample splits a line into its name, its labels and its value.
func parseSample(line string) (name string, label func(string) string, value float64, ok bool) {
	i := strings.LastIndexByte(line, ' ')
	if i < 0 || strings.HasPrefix(line, "#") {
		return "", nil, 0, false
	}
	value, err := strconv.ParseFloat(line[i+1:], 64)
	name, rest, _ := strings.Cut(line[:i], "{")
	label = func(want string) string {
		for pair := range strings.SplitSeq(strings.TrimSuffix(rest, "}"), ",") {
			if key, quoted, _ := strings.Cut(pair, "="); key == want {
				return strings.Trim(quoted, `"`)
			}
		}
		return ""
	}
	return name, label, value, err == nil
}

// bucket holds the number of values of a histogram up to a bound.
type bucket struct{ bound, count float64 }

// quantile returns the q-quantile of a histogram. It assumes evenly distributed values
// within a bucket, and returns the last bound for values above it.
func quantile(q float64, buckets []bucket) (float64, bool) {
	if len(buckets) == 0 || buckets[len(buckets)-1].count <= 0 {
		return 0, false
	}
	rank := q * buckets[len(buckets)-1].count
	before := bucket{}
	for _, b := range buckets {
		if b.count < rank {
			before = b
			continue
		}
		if math.IsInf(b.bound, 1) || b.count <= before.count {
			return before.bound, true
		}
		return before.bound + (b.bound-before.bound)*(rank-before.count)/(b.count-before.count), true
	}
	return before.bound, true
}
