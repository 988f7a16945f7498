package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestPreview_restart checks that the next server finds an agent's web server that outlived the previous one, but not those of other sessions.
// If the secret of the marks is damaged, it is moved aside, and ports of later agents are found.
func TestPreview_restart(t *testing.T) {
	short.SkipQuick(t, "starts several servers")
	w := newPreviewWorld(t)
	one, two := w.connect(), w.connect()
	env := func(id string) []string {
		t.Helper()
		w.call("session.disconnect", api.SessionRef{SessionID: id}, nil)
		seen := w.watch(id)
		w.query(id, "say x")
		seen.results(1)
		seen.stop()
		return w.agents.last()
	}
	port, _ := develop(t, env(one), "one")
	found := func(id string) (all []int64) {
		t.Helper()
		var list api.PreviewListResult
		w.call("preview.list", api.SessionRef{SessionID: id}, &list)
		for _, p := range list.Ports {
			all = append(all, p.Port)
		}
		return all
	}
	check := func(when string) {
		t.Helper()
		if got := found(one); len(got) != 1 || got[0] != port {
			t.Errorf("%s: the session has the ports %d, want %d", when, got, port)
		}
		if got := found(two); len(got) != 0 {
			t.Errorf("%s: the other session has the ports %d", when, got)
		}
	}
	check("before a restart")
	w.restart()
	check("after a restart")
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.opts.Dir, marksName), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.start()
	if aside, err := DamagedFiles(w.opts.Dir); err != nil || len(aside) != 1 {
		t.Errorf("put aside: %q, %v, want the secret", aside, err)
	}
	if got := found(one); len(got) != 0 {
		t.Errorf("with another secret the session has the ports %d", got)
	}
	port, _ = develop(t, env(one), "one again")
	check("of an agent that was started after the damage")
}
