//go:build unix

package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/supervise"
	_ "github.com/seed7221b0f9/parley/internal/supervise/first"
	"github.com/seed7221b0f9/parley/internal/test/hosts"
	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/spawn/spawntest"
	"go.uber.org/goleak"
)

// patience limits all waits; only a failing test waits this long.
const patience = 30 * time.Second

func TestMain(m *testing.M) {
	spawntest.Main()
	Enter()
	code := m.Run()
	if code == 0 {
		if err := errors.Join(goleak.Find(), hosts.Left(Name)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// within returns a context with the time limit of a test step.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// runHost runs a host in this process, with real processes, and returns its data directory.
func runHost(t testing.TB, o Options) string {
	t.Helper()
	dir := t.TempDir()
	o.Supervisor = supervise.Self()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, dir, o, slog.New(slog.NewTextHandler(testLog{t}, nil))) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the host ended with %v", err)
		}
	})
	awaitHost(t, dir)
	return dir
}

// awaitHost waits until a host answers.
func awaitHost(t testing.TB, dir string) {
	t.Helper()
	ctx := within(t)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for ask(ctx, dir) != nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the host does not answer")
		}
	}
}

type testLog struct{ t testing.TB }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Log(strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}

// connect connects as the next owner.
func connect(t testing.TB, dir string) *Link {
	t.Helper()
	epoch, err := NextEpoch(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Dial(within(t), dir, epoch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// shell returns a command that runs a script.
func shell(script string) spawn.Command {
	return spawn.Command{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}}
}

func spawnAgent(t testing.TB, l *Link, cmd spawn.Command, o AgentOptions) *Process {
	t.Helper()
	p, err := l.SpawnAgent(within(t), cmd, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wantNext returns the next record and fails the test if it is not the wanted one, such as "output
// one\n".
func wantNext(t testing.TB, p *Process, want string) Record {
	t.Helper()
	r, err := p.Next(within(t))
	if err != nil {
		t.Fatalf("instead of %q: %v", want, err)
	}
	got := r.Kind.String()
	if r.ID != "" {
		got += " " + r.ID
	}
	if len(r.Data) > 0 && r.Kind != Exited {
		got += " " + string(r.Data)
	}
	if got != want {
		t.Fatalf("record %d is %q, want %q", r.Number, got, want)
	}
	return r
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// spoolFiles lists the files of the agents.
func spoolFiles(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, folder, agentsName, "*", segmentPrefix+"*"))
	must(t, err)
	return files
}
