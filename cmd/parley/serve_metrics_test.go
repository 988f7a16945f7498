package main

import (
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestServe_metricsListen reads the metrics without a token at a separate address, which
// serves no other paths.
func TestServe_metricsListen(t *testing.T) {
	dir := t.TempDir()
	f := serveFlagsFor(t, "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--dir", dir, "--log-level", "error", "--agent", "sim", "--metrics-listen", "127.0.0.1:0")
	c, out, _ := serveUntil(t, f)
	m := regexp.MustCompile(`Metrics are at http://(\S+)/metrics\.`).FindStringSubmatch(out.String())
	if m == nil {
		t.Fatalf("the greeting does not say where the metrics are: %s", out)
	}
	address := m[1]
	get := func(url string) (int, string) {
		t.Helper()
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(data)
	}
	if status, text := get("http://" + address + "/metrics"); status != http.StatusOK || !strings.Contains(text, "\nparley_agents_max 8\n") || !strings.Contains(text, "\nparley_memory_bytes ") {
		t.Errorf("status %d: %s", status, text)
	}
	for _, path := range []string{"/", "/v1/openapi.json", "/v1/session.list", "/livez"} {
		if status, _ := get("http://" + address + path); status != http.StatusNotFound {
			t.Errorf("%s is there too, with status %d", path, status)
		}
	}
	if status, _ := get(c.URL() + "/metrics"); status != http.StatusUnauthorized {
		t.Errorf("without a token the server's own metrics have status %d", status)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestServe_metricsListenRefused(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "nonsense"} {
		dir := t.TempDir()
		f := serveFlagsFor(t, "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--dir", dir, "--log-level", "error", "--agent", "sim", "--metrics-listen", address)
		if err := f.Serve(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "--metrics-listen") {
			t.Errorf("%s: %v; want err != nil and strings.Contains(err.Error(), \"--metrics-listen\")", address, err)
		}
	}
}
