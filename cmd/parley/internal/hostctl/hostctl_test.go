//go:build unix

package hostctl

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/spawn"
)

// List, stop and logs work without a host, and with a host that a server owns and that keeps its
// agents.
func TestHost(t *testing.T) {
	dir := t.TempDir()
	text := func(f func(out *strings.Builder) error) string {
		t.Helper()
		var b strings.Builder
		if err := f(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	list := func() string {
		t.Helper()
		return text(func(b *strings.Builder) error {
			l, err := Ask(t.Context(), dir)
			if err != nil {
				return err
			}
			return l.Write(b, time.Now())
		})
	}
	stop := func(b *strings.Builder) error { return Stop(t.Context(), dir, b) }
	if got := list() + text(stop); got != "No host runs.\nNo host runs.\n" {
		t.Errorf("without a host: %q", got)
	}
	ended := make(chan error, 1)
	go func() { ended <- host.Run(context.Background(), dir, host.Options{}, nil) }()
	var l *host.Link
	for l == nil {
		l, _ = host.Dial(t.Context(), dir, 1) // soon
	}
	defer l.Close()
	p, err := l.SpawnAgent(t.Context(), spawn.Command{Path: "/bin/cat"}, host.AgentOptions{Key: "a \x1b[31mkey"})
	if err != nil {
		t.Fatal(err)
	}
	got := list()
	for _, want := range []string{"has an owner.\n", "runs", "/bin/cat"} {
		if !strings.Contains(got, want) {
			t.Errorf("the list has no %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("the list has a control character: %q", got)
	}
	if got := text(stop); !strings.Contains(got, "and with it 1 agents.") {
		t.Errorf("stop wrote %q", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Errorf("the owner has not learned of the end: %v", err)
	}
	if got := list(); !strings.Contains(got, "No host runs.\nLines of 1 agents are left") {
		t.Errorf("after the end: %q", got)
	}
	if err := os.WriteFile(host.LogFile(dir), []byte("a line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := text(func(b *strings.Builder) error { return Logs(dir, b) }); got != "a line\n" {
		t.Errorf("the log is %q", got)
	}
}
