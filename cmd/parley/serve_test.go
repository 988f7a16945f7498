package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

func serveFlagsFor(t *testing.T, args ...string) (*serveFlags, *cobra.Command) {
	t.Helper()
	f, cmd := &serveFlags{}, &cobra.Command{}
	f.register(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return f, cmd
}

// TestServeConfig checks where a setting comes from: the flag, then the variable, then the
// file, then the default.
func TestServeConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, []byte(`{"listen":"127.0.0.1:1","model":"file","max-agents":3,"dir":["/a","/b"],"allow-bypass":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"PARLEY_MODEL": "env", "PARLEY_LISTEN": "127.0.0.1:2"}
	f, cmd := serveFlagsFor(t, "--config", file, "--listen", "127.0.0.1:3")
	if err := f.load(cmd.Flags(), func(k string) (string, bool) { v, ok := env[k]; return v, ok }); err != nil {
		t.Fatal(err)
	}
	if f.listen != "127.0.0.1:3" || f.model != "env" || f.maxAgents != 3 || strings.Join(f.dirs, " ") != "/a /b" || !f.allowBypass {
		t.Errorf("the settings are %+v", f)
	}
	var out bytes.Buffer
	if err := f.print(cmd.Flags(), &out); err != nil {
		t.Fatal(err)
	}
	var printed map[string]any
	if err := json.Unmarshal(out.Bytes(), &printed); err != nil || printed["model"] != "env" || printed["max-agents"] != 3.0 {
		t.Errorf("the settings are printed as %s (%v)", out.String(), err)
	}
	// What is printed is a configuration file.
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	again, cmd := serveFlagsFor(t, "--config", file)
	if err := again.load(cmd.Flags(), func(string) (string, bool) { return "", false }); err != nil {
		t.Fatal(err)
	}
	if again.listen != f.listen || again.idleTimeout != f.idleTimeout || len(again.dirs) != 2 {
		t.Errorf("read again the settings are %+v", again)
	}
	for _, bad := range []string{`{"no-such":1}`, `[]`, `{"max-agents":"many"}`, `{"dir":{}}`} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		f, cmd := serveFlagsFor(t, "--config", file)
		if f.load(cmd.Flags(), func(string) (string, bool) { return "", false }) == nil {
			t.Errorf("the file %s was taken", bad)
		}
	}
}

// TestSpaceGC checks that a server collects memory less often by default, and that GOGC still decides.
func TestSpaceGC(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	spaceGC(func(string) (string, bool) { return "50", true })
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("with GOGC set it was changed to %d", got)
	}
	spaceGC(func(string) (string, bool) { return "", false })
	if got := debug.SetGCPercent(100); got != serveGC {
		t.Errorf("GOGC of a server is %d, want %d", got, serveGC)
	}
}

func TestServe_refusesOpenAddress(t *testing.T) {
	for args, ok := range map[string]bool{
		"--listen=127.0.0.1:0": true, "--listen=localhost:0": true, "--listen=[::1]:0": true, "--listen=0.0.0.0:0": false, "--listen=:0": false,
		"--listen=192.168.0.1:80": false, "--listen=example.com:80": false, "--listen=0.0.0.0:0 --insecure": true, "--listen=0.0.0.0:0 --tls-cert=c --tls-key=k": true,
		"--listen=127.0.0.1:0 --tls-cert=c": false, "--listen=nonsense": false,
	} {
		f, _ := serveFlagsFor(t, strings.Fields(args)...)
		if err := f.check(); (err == nil) != ok {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestServe runs the command as a person does: the address is printed within five seconds,
// a session works, and the end is clean.
func TestServe(t *testing.T) {
	t.Setenv("PARLEY_SIM_PACE", "0")
	dir := t.TempDir()
	f, _ := serveFlagsFor(t, "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--dir", dir, "--log-level", "error", "--agent", "sim")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, w := io.Pipe()
	served := make(chan error, 1)
	began := time.Now()
	go func() {
		served <- f.serve(ctx, w)
		w.Close()
	}()
	var mu sync.Mutex
	var out strings.Builder
	address := make(chan string, 1)
	link := regexp.MustCompile(`http://127\.0\.0\.1:\d+/#token=\S+`)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := r.Read(buf)
			mu.Lock()
			out.Write(buf[:n])
			found := link.FindString(out.String())
			mu.Unlock()
			if found != "" {
				select {
				case address <- found:
				default:
				}
			}
			if err != nil {
				return
			}
		}
	}()
	var url string
	select {
	case url = <-address:
	case err := <-served:
		t.Fatalf("the server ended: %v", err)
	case <-time.After(30 * time.Second):
		t.Fatal("no address was printed")
	}
	t.Logf("the address came after %v", time.Since(began))
	c, err := client.New(client.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	bound, done := context.WithTimeout(context.Background(), 30*time.Second)
	defer done()
	var session api.ConnectResult
	if err := c.Call(bound, "session.connect", api.ConnectParams{}, &session); err != nil {
		t.Fatal(err)
	}
	if err := c.Call(bound, "session.query", api.QueryParams{SessionID: session.SessionID, Text: "say hello"}, nil); err != nil {
		t.Fatal(err)
	}
	var view client.View
	for ev, err := range c.Follow(bound, session.SessionID, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if err := view.Apply(ev); err != nil {
			t.Fatal(err)
		}
		if view.Conversation.Totals.Turns == 1 {
			break
		}
	}
	local := &remoteFlags{data: f.data}
	if _, err := local.connect(); err != nil {
		t.Errorf("other commands do not find the server: %v", err)
	}
	if err := local.backup(bound, filepath.Join(dir, "backup")); err != nil {
		t.Errorf("a backup of the running server: %v", err)
	}
	cancel()
	if err := <-served; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if _, err := local.connect(); err == nil {
		t.Error("the address of the server is still there")
	}
	if err := restore(bound, filepath.Join(dir, "backup"), filepath.Join(dir, "second")); err != nil {
		t.Errorf("restore: %v", err)
	}
}
