package codexagent

import (
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex"
)

// TestNameMode checks that events name a mode with which the session can be resumed.
func TestNameMode(t *testing.T) {
	for _, c := range []struct {
		own             string
		bypass          bool
		policy, sandbox string
		want            string
	}{
		{"", false, "on-request", "workspaceWrite", "default"},
		{"acceptEdits", false, "on-request", "workspaceWrite", "acceptEdits"},
		{"plan", false, "on-request", "readOnly", "plan"},
		{"default", false, "on-request", "readOnly", "plan"}, // the configuration overrides the mode
		{"", false, "never", "dangerFullAccess", "never"},
		{"", true, "never", "dangerFullAccess", "bypassPermissions"},
		{"", false, "untrusted", "workspaceWrite", "untrusted"},
		{"", false, "granular", "brandNew", "granular"},
	} {
		s := newSession(&Provider{}, agent.Options{Mode: c.own, AllowBypass: c.bypass})
		init := &event.SystemInit{PermissionMode: c.policy, Sandbox: c.sandbox}
		info := &event.SessionInfo{PermissionMode: new(c.policy), Sandbox: new(c.sandbox)}
		s.kit.Update(func() []event.Event { return []event.Event{init, info, &event.SessionInfo{}} })
		if init.PermissionMode != c.want || *info.PermissionMode != c.want {
			t.Errorf("%+v: %q, %q; want init.PermissionMode == c.want and *info.PermissionMode == c.want", c, init.PermissionMode, *info.PermissionMode)
		}
	}
	if policy, box := permissions("untrusted"); policy != "untrusted" || box != "" {
		t.Errorf("a policy of Codex's own: %q, %q", policy, box)
	}
}

// TestHome checks that the sessions on disk are those of the servers' environment.
func TestHome(t *testing.T) {
	t.Setenv("CODEX_HOME", "/mine")
	for _, c := range []struct {
		o    codex.Options
		want string
	}{
		{codex.Options{}, "/mine"},
		{codex.Options{Home: "/given", Env: []string{"CODEX_HOME=/x"}}, "/given"},
		{codex.Options{Env: []string{"HOME=/home/dev", "CODEX_HOME=/x", "CODEX_HOME=/y"}}, "/y"},
		{codex.Options{Env: []string{"HOME=/home/dev"}}, "/home/dev/.codex"},
		{codex.Options{Env: []string{}}, ""},
	} {
		if got, err := (&Provider{Options: c.o}).home(); filepath.ToSlash(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: %q, %v; want filepath.ToSlash(got) == c.want and (err != nil) == (c.want == \"\")", c.o.Env, got, err)
		}
	}
}
