package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// program returns the path of a PostgreSQL program; distributions install them outside PATH.
func program(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/", "/usr/pgsql-*/bin/", "/usr/libexec/postgresql*/", "/opt/homebrew/opt/postgresql@*/bin/"} {
		if found, _ := filepath.Glob(pattern + name); len(found) > 0 {
			slices.Sort(found)
			return found[len(found)-1]
		}
	}
	return ""
}

// startServer runs a new PostgreSQL server on a socket in a temporary directory and returns a
// pool for it. If PostgreSQL is not installed, it skips the test, or fails it with CI=true.
func startServer(t *testing.T) *pgxpool.Pool {
	t.Helper()
	initdb, server := program("initdb"), program("postgres")
	if initdb == "" || server == "" {
		const why = "this test needs PostgreSQL: run scripts/install-postgres, or install your system's package"
		if os.Getenv("CI") == "true" {
			t.Fatalf("why is %v; want os.Getenv(\"CI\") != \"true\"", why)
		}
		t.Skip(why)
	}
	dir, err := os.MkdirTemp("", "pg") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	as := unprivileged(t, dir)
	data := filepath.Join(dir, "data")
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}, as
		return cmd
	}
	if out, err := run(initdb, "-D", data, "-U", "test", "-A", "trust", "-E", "UTF8", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	var log bytes.Buffer
	cmd := run(server, "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off")
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	t.Cleanup(func() {
		interrupt(cmd.Process)
		select {
		case <-exited:
		case <-time.After(20 * time.Second):
			cmd.Process.Kill()
			<-exited
		}
	})
	pool, err := pgxpool.New(t.Context(), fmt.Sprintf("host=%s user=test dbname=postgres", dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	waitReady(t, pool, exited, &log)
	return pool
}

// waitReady waits until the server accepts connections.
func waitReady(t *testing.T, pool *pgxpool.Pool, exited chan error, log *bytes.Buffer) {
	t.Helper()
	for pool.Ping(t.Context()) != nil {
		select {
		case err := <-exited:
			exited <- err // for the cleanup
			t.Fatalf("the server ended: %s", log.String())
		case <-t.Context().Done():
			t.Fatal(context.Cause(t.Context()))
		case <-time.After(50 * time.Millisecond):
		}
	}
}
