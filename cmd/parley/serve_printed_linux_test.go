package main

import (
	"context"
	"net/url"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// Stopping the server with Ctrl-C ends the printed token; the token stays valid if the server was
// killed or terminated.
func TestServe_printed(t *testing.T) {
	short.SkipQuick(t, "starts many servers")
	path, err := exec.LookPath("parley") // created by TestMain
	if err != nil {
		t.Fatal(err)
	}
	for sig, valid := range map[syscall.Signal]bool{syscall.SIGINT: false, syscall.SIGTERM: true, syscall.SIGKILL: true} {
		t.Run(sig.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
			defer cancel()
			dir := t.TempDir()
			env, err := claudetest.HermeticEnv(filepath.Join(dir, "home"), "http://127.0.0.1:9")
			if err != nil {
				t.Fatal(err)
			}
			start := func(listen string) (string, *exec.Cmd) {
				t.Helper()
				out := &greeting{address: make(chan string, 1)}
				cmd := exec.CommandContext(ctx, path, "serve", "--listen", listen, "--data", filepath.Join(dir, "data"), "--dir", dir, "--agent", "sim", "--log-level", "error")
				cmd.Env, cmd.Stdout, cmd.WaitDelay = env, out, 10*time.Second
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
				select {
				case link := <-out.address:
					return link, cmd
				case <-ctx.Done():
					t.Fatal("no address was printed")
				}
				return "", nil
			}
			works := func(link string) bool {
				t.Helper()
				c, err := client.New(client.Options{URL: link})
				if err != nil {
					t.Fatal(err)
				}
				err = c.Call(ctx, "session.list", api.ListParams{}, nil)
				if err != nil && client.Reason(err) != api.AuthFailed {
					t.Fatal(err)
				}
				return err == nil
			}
			link, cmd := start("127.0.0.1:0")
			if !works(link) {
				t.Fatal("the printed token is refused")
			}
			u, err := url.Parse(link)
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // by the signal
			again, cmd := start(u.Host)
			if got := works(link); got != valid {
				t.Errorf("after %v the printed token works: %v, want %v", sig, got, valid)
			}
			if !works(again) {
				t.Error("the new token is refused")
			}
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("the server ended with %v", err)
			}
		})
	}
}
