package main

import (
	"context"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/serve"
	"github.com/seed7221b0f9/parley/server/api"
)

func serveFlagsFor(t *testing.T, args ...string) *serve.Settings {
	t.Helper()
	f, flags := &serve.Settings{}, pflag.NewFlagSet("serve", pflag.ContinueOnError)
	f.Register(flags)
	if err := flags.Parse(append([]string{"--no-host"}, args...)); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestServe starts the command as a user would: it prints the address within five seconds, a
// session works, and it exits cleanly.
func TestServe(t *testing.T) {
	t.Setenv("PARLEY_SIM_PACE", "0")
	dir := t.TempDir()
	f := serveFlagsFor(t, "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--dir", dir, "--log-level", "error", "--agent", "sim")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, w := io.Pipe()
	served := make(chan error, 1)
	began := time.Now()
	go func() {
		served <- f.Serve(ctx, w)
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
	local := &remote.Flags{Data: f.Data}
	if _, err := local.Connect(); err != nil {
		t.Errorf("other commands do not find the server: %v", err)
	}
	if err := serve.Backup(bound, local, filepath.Join(dir, "backup")); err != nil {
		t.Errorf("a backup of the running server: %v", err)
	}
	cancel()
	if err := <-served; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if _, err := local.Connect(); err == nil {
		t.Error("the address of the server is still there")
	}
	if err := serve.Restore(bound, filepath.Join(dir, "backup"), filepath.Join(dir, "second")); err != nil {
		t.Errorf("restore: %v", err)
	}
}
