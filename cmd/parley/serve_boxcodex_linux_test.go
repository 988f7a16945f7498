package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/internal/test/bwraptest"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestServe_boxCodex runs the real codex in a box that uses the machine's network: its commands
// work in its directory, and see neither the server's files nor the home directory. Its thread
// continues in another box.
func TestServe_boxCodex(t *testing.T) {
	program := codexcli.Require(t, codexcli.Newer)
	bin := bwraptest.Dir(t)
	model := codextest.NewAPI(t)
	model.Reply(codextest.Calls(codextest.Command("call_1", "echo made > made; cat ../home/secret ../data/token > stolen 2>&1; ls ~ > home 2>&1")),
		codextest.Say("It is made."), codextest.Say("And again."))
	home := codextest.NewHome(t, model, "")
	if err := os.WriteFile(filepath.Join(home.Root, "home", "secret"), []byte("hidden"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &hostWorld{t: t}
	w.start(home.Project, append(home.Env(), "PARLEY_CODEX="+program, "PATH="+os.Getenv("PATH")+":"+bin), "--agent", "codex", "--sandbox", "bwrap", "--sandbox-network", "on", "--allow-bypass")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	id := boxTurn(t, ctx, w.client, api.ConnectParams{PermissionMode: "bypassPermissions"})
	for name, want := range map[string]string{"made": "made\n", "home": ""} {
		if text, err := os.ReadFile(filepath.Join(home.Project, name)); err != nil || string(text) != want {
			t.Errorf("the command has written %q to %s, %v, want %q", text, name, err, want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(home.Project, "stolen")); err != nil || strings.Contains(string(text), "hidden") || strings.Count(string(text), "No such file") != 2 {
		t.Errorf("the box shows %q, %v", text, err)
	}
	var list api.ListResult
	w.call("session.list", api.ListParams{}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].Box == nil || *list.Sessions[0].Box != (api.Box{Kind: "bwrap", Network: "on", Credentials: true}) {
		t.Errorf("the sessions are %+v", list.Sessions)
	}
	resumeBox(t, ctx, w.client, id)
}
