package server

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
)

// scrape reads the metrics like Prometheus.
func (h *harness) scrape(token string) (int, string) {
	h.Helper()
	req, err := http.NewRequestWithContext(h.ctx(), http.MethodGet, h.url+"/metrics", nil)
	if err != nil {
		h.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	status, header, body := h.do(req)
	if kind := header.Get("Content-Type"); status == http.StatusOK && (!strings.HasPrefix(kind, "text/plain; version=0.0.4") || header.Get("Cache-Control") != "no-store") {
		h.Errorf("the metrics have the headers %v, want the text format of Prometheus, which nobody stores", header)
	}
	return status, string(body)
}

var sampleLine = regexp.MustCompile(`^([a-z_]+)(\{[a-z_]+="(?:[^"\\\n]|\\.)*"(?:,[a-z_]+="(?:[^"\\\n]|\\.)*")*\})? (\S+)$`)

// TestMetrics checks the text format, the access, and that every metric of the dashboard exists
// after some work.
func TestMetrics(t *testing.T) {
	h := newHarness(t)
	h.setBudget(api.Budget{Scope: "server", LimitTokens: new(int64(1000))})
	id := h.connect()
	h.query(id, "say one")
	w := h.watch(id)
	w.results(1)
	w.stop()
	h.server.metrics.delivered(errors.New("down"))
	h.server.metrics.Appended(errors.New("full"), time.Second)
	if status, _ := h.scrape(""); status != http.StatusUnauthorized {
		t.Errorf("without a token the status is %d", status)
	}
	var share api.ShareCreateResult
	h.call("share.create", api.ShareCreateParams{SessionID: id}, &share)
	if status, _ := h.scrape(share.Token); status != http.StatusForbidden {
		t.Errorf("with a link to a session the status is %d", status)
	}
	status, text := h.scrape(h.token)
	if status != http.StatusOK {
		t.Fatalf("the status is %d", status)
	}
	names, typed := map[string]bool{}, map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			if typed[name] != "" {
				t.Errorf("%s has two types", name)
			}
			typed[name] = kind
			continue
		}
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("%q is not a sample", line)
			continue
		}
		names[m[1]] = true
	}
	for _, want := range []string{`parley_sessions{state="idle"} 1`, `parley_turns_total{provider="sim",outcome="ok"} 1`, `parley_budget_used_ratio{`,
		`parley_turn_duration_seconds_bucket{provider="sim",le="+Inf"} 1`, `kind="input"} 10`, `kind="output"} 5`} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
	dashboard, err := os.ReadFile(filepath.Join("..", "docs", "grafana-dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`parley_[a-z_]+`).FindAllString(string(dashboard), -1)
	if len(found) < 15 {
		t.Errorf("the dashboard names %d metrics", len(found))
	}
	for _, name := range found {
		if !names[name] {
			t.Errorf("the dashboard names %s, which does not exist", name)
		}
	}
}

// TestMetrics_labels checks that label values are escaped, and that a provider cannot create series
// without limit.
func TestMetrics_labels(t *testing.T) {
	if got, want := labels("a", "x\"y\\z\n", "b", ""), `a="x\"y\\z\n",b=""`; got != want {
		t.Errorf("the labels are %s, want %s", got, want)
	}
	m := newMetrics()
	for i := range 2 * maxSeries {
		m.add(tokensTotal, 1, "model", strings.Repeat("m", i+1))
	}
	if n := len(m.values[tokensTotal.name]); n > maxSeries+1 {
		t.Errorf("there are %d series", n)
	}
}
