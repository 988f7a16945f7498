package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/doctor"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
)

// TestDoctor_nats checks NATS servers: they are safe only if they are known to sync every write; otherwise the possible loss in a
// power cut is named.
func TestDoctor_nats(t *testing.T) {
	start := func(always bool) (url, monitor string) {
		srv := natstest.Server(t, &natsserver.Options{SyncAlways: always, HTTPHost: "127.0.0.1", HTTPPort: natsserver.RANDOM_PORT})
		return natstest.URL(srv), "http://" + srv.MonitorAddr().String()
	}
	safe, safeMonitor := start(true)
	unsafe, unsafeMonitor := start(false)
	report := func(text string) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	of := func(id string) string {
		return report(fmt.Sprintf(`{"server_id":%q,"config":{"sync_always":true},"meta_cluster":{"cluster_size":2}}`, id))
	}
	one, other := of("one"), of("other")
	for name, tt := range map[string]struct {
		url, monitors string
		status        doctor.Status
		detail        string
	}{
		"not asked":                   {safe, "", doctor.Warn, "not known: by default a power cut can lose messages acknowledged in the last 2m0s, that is prompts, answers"},
		"safe":                        {safe, safeMonitor, doctor.OK, "every server syncs every write"},
		"safe, with a slash":          {safe, safeMonitor + "/", doctor.OK, "every server syncs every write"},
		"not safe":                    {unsafe, unsafeMonitor, doctor.Fail, "a power cut can lose messages acknowledged in the last 2m0s, that is"},
		"one of two is not safe":      {safe, safeMonitor + "," + unsafeMonitor, doctor.Fail, unsafeMonitor + " does not sync every write"},
		"one of a cluster was asked":  {safe, one, doctor.Warn, "1 of 2 servers sync every write"},
		"one server was asked twice":  {safe, one + "," + one, doctor.Warn, "1 of 2 servers sync every write"},
		"all of a cluster were asked": {safe, one + "," + other, doctor.OK, "every server"},
		"without JetStream":           {safe, report(`{"server_id":"a","disabled":true}`), doctor.Fail, "no JetStream"},
		"another program":             {safe, report(`<html>`), doctor.Fail, "is not known"},
		"nothing answers":             {safe, "http://127.0.0.1:1", doctor.Fail, "http://127.0.0.1:1 syncs every write is not known"},
	} {
		args := []string{"--nats", tt.url, "--data", t.TempDir(), "--listen", "127.0.0.1:0"}
		if tt.monitors != "" {
			args = append(args, "--nats-monitor", tt.monitors)
		}
		got := examineServerWith(t, args...)["NATS"]
		if got.Status != tt.status || !strings.Contains(got.Detail, tt.detail) || (got.Status != doctor.OK) != (got.Fix != "") {
			t.Errorf("%s: %+v, want %s with %q", name, got, tt.status, tt.detail)
		}
	}
}
