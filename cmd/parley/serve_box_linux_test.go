package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/bwraptest"
	"github.com/seed7221b0f9/parley/server/api"
)

// boxScript are the commands of the agent in its box: it works in its repository and tries to read
// other files.
const boxScript = `git init -q . && git -c user.name=Agent -c user.email=agent@example.org commit -q --allow-empty -m "from the box" && git log --format=%s > log
cat ../secret > stolen 2>&1; cat ../data/token >> stolen 2>&1; cat "$CLAUDE_CONFIG_DIR/.credentials.json" >> stolen 2>&1
env > variables; ls /proc | grep -c '^[0-9]' > processes; cat /proc/net/dev > interfaces`

// TestServe_box runs the real CLI in a box without a network: it reaches the scripted API only
// through the key proxy, works in a repository without asking, and sees neither the server's files
// nor its key.
func TestServe_box(t *testing.T) {
	const key = "sk-ant-test-key-of-the-server-1234"
	bin := bwraptest.Dir(t)
	w := newClaudeWorld(t, claudetest.Replies(
		claudetest.Use("Bash", map[string]any{"command": boxScript, "description": "Work"}), claudetest.Say("Done.")))
	t.Setenv("PATH", os.Getenv("PATH")+":"+bin)
	dir := filepath.Dir(w.project)
	for name, text := range map[string]string{"key": key, "secret": "hidden", "home/.claude/.credentials.json": "hidden"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, _ := w.serve(t, "--sandbox", "bwrap", "--api-key-file", filepath.Join(dir, "key"), "--api-upstream", w.api.URL())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	id := boxTurn(t, ctx, c, api.ConnectParams{DangerouslySkipPermissions: true})

	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(w.project, name))
		if err != nil {
			t.Error(err)
		}
		return string(data)
	}
	if log, err := exec.Command("git", "-C", w.project, "log", "--format=%s").Output(); err != nil || string(log) != "from the box\n" || read("log") != "from the box\n" {
		t.Errorf("the repository has %q, %v", log, err)
	}
	if got := read("stolen"); strings.Contains(got, "hidden") || strings.Count(got, "No such file") != 3 {
		t.Errorf("the box shows %q", got)
	}
	if got := read("variables"); strings.Contains(got, key) || strings.Contains(got, "sk-ant-fake-key") || !strings.Contains(got, "ANTHROPIC_API_KEY=sk-parley-") || !strings.Contains(got, "TMPDIR=/tmp\n") {
		t.Errorf("the variables in the box are\n%s", got)
	}
	if got := read("interfaces"); strings.Count(got, ":") != 1 || !strings.Contains(got, "lo:") {
		t.Errorf("the interfaces in the box are\n%s", got)
	}
	for _, r := range w.api.Requests() {
		if !r.Side && r.Header.Get("X-Api-Key") == "" {
			t.Error("a request had no key")
		}
	}
	var list api.ListResult
	if err := c.Call(ctx, "session.list", api.ListParams{}, &list); err != nil || len(list.Sessions) != 1 {
		t.Fatalf("the sessions are %+v, %v", list, err)
	}
	if diff := cmp.Diff(&api.Box{Kind: "bwrap", Network: "off"}, list.Sessions[0].Box); diff != "" {
		t.Errorf("the box (-want +got):\n%s", diff)
	}
	if caps := list.Sessions[0].Capabilities; caps == nil || !caps.CanSkipPermissions {
		t.Errorf("the session cannot skip permissions: %+v", caps)
	}
	checkBoxReport(t, ctx, c, id, w.project)
	resumeBox(t, ctx, c, id)
}

// checkBoxReport checks the isolation report, which is made inside of the box.
func checkBoxReport(t *testing.T, ctx context.Context, c *client.Client, id, project string) {
	t.Helper()
	var r api.IsolationResult
	if err := c.Call(ctx, "session.isolation", api.SessionRef{SessionID: id}, &r); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(r.Write, project) || slices.ContainsFunc(r.Write, func(p string) bool { return strings.Contains(p, "data") }) || len(r.Network) > 0 || r.HoldsLogin || r.Sandbox != "bwrap" {
		t.Errorf("the report is %+v", r)
	}
	for _, check := range r.Checks {
		if check.OK != (check.Name != "permissions") {
			t.Errorf("the check %s is %t: %s", check.Name, check.OK, check.Detail)
		}
	}
}

// boxTurn creates a session and sends a prompt, which must cause no permission request.
func boxTurn(t *testing.T, ctx context.Context, c *client.Client, p api.ConnectParams) string {
	t.Helper()
	var made api.ConnectResult
	if err := c.Call(ctx, "session.connect", p, &made); err != nil {
		t.Fatal(err)
	}
	if err := c.Call(ctx, "session.query", api.QueryParams{SessionID: made.SessionID, Text: "work"}, nil); err != nil {
		t.Fatal(err)
	}
	awaitBoxTurn(t, ctx, c, made.SessionID, 1)
	return made.SessionID
}

func awaitBoxTurn(t *testing.T, ctx context.Context, c *client.Client, id string, turns int64) {
	t.Helper()
	var view client.View
	for ev, err := range c.Follow(ctx, id, nil) {
		if err == nil {
			err = view.Apply(ev)
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(view.Conversation.Prompts) > 0 {
			t.Fatal("the agent asks")
		}
		if view.Conversation.Totals.Turns == turns {
			return
		}
	}
	t.Fatal("the events ended before the turn")
}

// resumeBox checks that a session in a box continues after its agent has ended, because its
// transcript is outside of the box.
func resumeBox(t *testing.T, ctx context.Context, c *client.Client, id string) {
	t.Helper()
	if err := c.Call(ctx, "session.disconnect", api.SessionRef{SessionID: id}, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Call(ctx, "session.query", api.QueryParams{SessionID: id, Text: "again"}, nil); err != nil {
		t.Fatal(err)
	}
	awaitBoxTurn(t, ctx, c, id, 2)
}

// TestServe_boxAllow runs the real CLI in a box with a list of hosts: through the key proxy git
// reaches the host on the list and no other host, and the session may work without asking.
func TestServe_boxAllow(t *testing.T) {
	bin := bwraptest.Dir(t)
	refs := func(address string) *httptest.Server {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, strings.Repeat("1", 40)+"\trefs/heads/of-"+address+"\n")
		}))
		s.Listener.Close()
		l, err := net.Listen("tcp", address+":0")
		if err != nil {
			t.Fatal(err)
		}
		s.Listener = l
		s.StartTLS()
		t.Cleanup(s.Close)
		return s
	}
	listed, other := refs("127.0.0.2"), refs("127.0.0.3")
	const list = "git -c http.sslVerify=false ls-remote "
	script := list + listed.URL + "/r > listed 2>&1; " + list + other.URL + "/r > other 2>&1; env -u https_proxy -u HTTPS_PROXY " + list + listed.URL + "/r > direct 2>&1; true"
	w := newClaudeWorld(t, claudetest.Replies(claudetest.Use("Bash", map[string]any{"command": script, "description": "List"}), claudetest.Say("Done.")))
	t.Setenv("PATH", os.Getenv("PATH")+":"+bin)
	key := filepath.Join(filepath.Dir(w.project), "key")
	if err := os.WriteFile(key, []byte("sk-ant-test-key-of-the-server-1234"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := w.serve(t, "--sandbox", "bwrap", "--api-key-file", key, "--api-upstream", w.api.URL(), "--sandbox-network", "allow", "--sandbox-allow", listed.Listener.Addr().String())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	id := boxTurn(t, ctx, c, api.ConnectParams{DangerouslySkipPermissions: true})
	for name, want := range map[string]string{"listed": "refs/heads/of-127.0.0.2", "other": "403", "direct": "127.0.0.2"} {
		text, err := os.ReadFile(filepath.Join(w.project, name))
		if err != nil || !strings.Contains(string(text), want) || strings.Contains(string(text), "refs/") != (name == "listed") {
			t.Errorf("git reports %q, %v in %s, want %q", text, err, name, want)
		}
	}
	var report api.IsolationResult
	if err := c.Call(ctx, "session.isolation", api.SessionRef{SessionID: id}, &report); err != nil || !slices.Equal(report.Network, []string{listed.Listener.Addr().String()}) {
		t.Errorf("the report has the network %q, %v, want the host of the list", report.Network, err)
	}
	var sessions api.ListResult
	if err := c.Call(ctx, "session.list", api.ListParams{}, &sessions); err != nil || len(sessions.Sessions) != 1 || sessions.Sessions[0].SessionID != id {
		t.Fatalf("the sessions are %+v, %v", sessions, err)
	}
	if diff := cmp.Diff(&api.Box{Kind: "bwrap", Network: "allow"}, sessions.Sessions[0].Box); diff != "" {
		t.Errorf("the box (-want +got):\n%s", diff)
	}
}

// TestServe_boxRefused checks that without box support a server with boxes does not start and a
// session that asks for a box fails.
func TestServe_boxRefused(t *testing.T) {
	bwraptest.Dir(t)
	w := newClaudeWorld(t, claudetest.Replies(claudetest.Say("Hello.")))
	fake := filepath.Join(t.TempDir(), "bwrap")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(fake)+":"+os.Getenv("PATH"))
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--sandbox", "bwrap", "--sandbox-network", "on"}, "refuses user namespaces"},
		{[]string{"--sandbox", "bwrap"}, "needs --api-key-file"},
		{[]string{"--sandbox", "bwrap", "--sandbox-network", "allow", "--sandbox-allow", "example.org"}, "needs --api-key-file"},
		{[]string{"--sandbox-network", "allow"}, "needs --sandbox-allow"},
		{[]string{"--sandbox-allow", "example.org"}, "needs --sandbox-network allow"},
		{[]string{"--sandbox-network", "some"}, "off, allow or on"},
		{[]string{"--sandbox", "chroot"}, "bwrap, docker, podman or none"},
		{[]string{"--sandbox", "docker"}, "--sandbox-image"},
		{[]string{"--sandbox-image", "x"}, "need each other"},
	} {
		f := serveFlagsFor(t, slices.Concat(w.args, tt.args)...)
		err := f.Check()
		if err == nil {
			err = f.Serve(t.Context(), &bytes.Buffer{})
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("parley serve %v returned %v, want %q", tt.args, err, tt.want)
		}
	}
	c, _ := w.serve(t, "--sandbox-network", "on")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, tt := range []struct {
		params api.ConnectParams
		want   string
	}{
		{api.ConnectParams{Sandbox: "bwrap"}, "refuses user namespaces"},
		{api.ConnectParams{Sandbox: "docker"}, "not bwrap or none"},
		{api.ConnectParams{Sandbox: "bwrap", PermissionMode: "bypassPermissions"}, "bypassPermissions allowed"},
	} {
		var made api.ConnectResult
		if err := c.Call(ctx, "session.connect", tt.params, &made); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("session.connect %+v returned %v, want %q", tt.params, err, tt.want)
		}
	}
	if n := mainRequests(w.api); n != 0 {
		t.Errorf("an agent ran: %d requests", n)
	}
}
