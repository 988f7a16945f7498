package main

import (
	"context"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestMachines_preview shows a web server that the real CLI has started on another machine. The
// preview fails while there is no link, and works again with a new link. Ports of other processes
// on the machine cannot be reached.
func TestMachines_preview(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	program := `require('http').createServer((q, s) => s.end(q.url === '/large' ? 'x'.repeat(3e6) : 'made over there, at ' + q.headers.host)).listen(0, '127.0.0.1')`
	w := newMachineWorld(t, claudetest.Use("Bash", map[string]any{"command": node + ` -e "` + program + `"`, "description": "Start the server", "run_in_background": true}), claudetest.Say("It runs."))
	request := w.asks("start it")
	w.call("permission.respond", api.PermissionRespondParams{SessionID: w.session, RequestID: request, Behavior: "allow"}, nil)
	w.until("the turn ends", func(c *event.Conversation) bool { return c.Totals.Turns == 1 && c.State == "idle" })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	get := openPreview(ctx, t, w.client, w.session)
	works := func(when string) {
		t.Helper()
		if status, body := get("/"); status != http.StatusOK || !strings.HasPrefix(body, "made over there, at localhost:") {
			t.Errorf("%s the preview shows %d %s", when, status, body)
		}
		if status, body := get("/large"); status != http.StatusOK || len(body) != 3e6 {
			t.Errorf("%s the large page has %d bytes, status %d", when, len(body), status)
		}
	}
	works("at first")
	own := w.way.Addr().String()
	port := int64(0)
	for _, c := range own[strings.LastIndexByte(own, ':')+1:] {
		port = 10*port + int64(c-'0')
	}
	if err := w.client.Call(ctx, "preview.open", api.PreviewOpenParams{SessionID: w.session, Port: port}, nil); client.Reason(err) != api.Conflict {
		t.Errorf("a port of another process: %v, want %s", err, api.Conflict)
	}
	w.cut()
	w.is(api.MachineUnreachable)
	if status, _ := get("/"); status != http.StatusBadGateway {
		t.Errorf("without a link the preview has the status %d, want %d", status, http.StatusBadGateway)
	}
	if err := w.client.Call(ctx, "preview.list", api.SessionRef{SessionID: w.session}, nil); client.Reason(err) != api.NotConnected {
		t.Errorf("the ports without a link: %v, want %s", err, api.NotConnected)
	}
	w.way.lead(w.address())
	w.is(api.MachineReachable)
	works("after the cut")
	w.end(syscall.SIGTERM)
}
