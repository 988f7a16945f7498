package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/doctor"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestServe_cluster runs two servers on one NATS server: the second lists the session of the first and forwards a call to it.
func TestServe_cluster(t *testing.T) {
	short.SkipQuick(t, "starts several servers")
	nats := natstest.Server(t, &natsserver.Options{SyncAlways: true}).ClientURL()
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("k", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := func(data string, args ...string) []string {
		return append([]string{"--listen", "127.0.0.1:0", "--agent", "sim", "--data", filepath.Join(dir, data), "--dir", dir, "--log-level", "error", "--nats", nats}, args...)
	}
	if err := serveFlagsFor(t, flags("none")...).Serve(t.Context(), &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "--nats needs --secret-key-file") {
		t.Errorf("without a secret: %v", err)
	}
	one, _ := serveForTest(t, serveFlagsFor(t, flags("one", "--secret-key-file", secret)...))
	two, _ := serveForTest(t, serveFlagsFor(t, flags("two", "--secret-key-file", secret)...))
	var made api.ConnectResult
	if err := one.Call(t.Context(), "session.connect", api.ConnectParams{}, &made); err != nil {
		t.Fatal(err)
	}
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var list api.ListResult
		if err := two.Call(t.Context(), "session.list", api.ListParams{}, &list); err != nil {
			t.Fatal(err)
		}
		if len(list.Sessions) == 1 && list.Sessions[0].SessionID == made.SessionID {
			break
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("the second server lists %+v", list.Sessions)
		}
	}
	if err := two.Call(t.Context(), "session.rename", api.SessionRenameParams{SessionID: made.SessionID, Title: "by the second"}, nil); err != nil {
		t.Errorf("a forwarded call: %v", err)
	}
	var list api.ListResult
	if err := one.Call(t.Context(), "session.list", api.ListParams{}, &list); err != nil || len(list.Sessions) != 1 || list.Sessions[0].Title != "by the second" {
		t.Errorf("the first server lists %+v, %v", list.Sessions, err)
	}
	if c := examineServerWith(t, "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "one"), "--nats", nats)["NATS"]; c.Status != doctor.Warn || !strings.Contains(c.Detail, "power cut") || c.Fix == "" {
		t.Errorf("doctor calls NATS %+v", c)
	}
}
