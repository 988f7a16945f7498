package ports_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed7221b0f9/parley/server/ports"
)

// childVariable makes this test binary a process that listens or starts one that does.
const childVariable = "PARLEY_TEST_PORTS"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childVariable); mode != "" {
		child(mode)
		return
	}
	goleak.VerifyTestMain(m)
}

// child listens and prints its port until its input ends. The modes: listen; orphan, which starts
// one in a separate session and exits; scrubbed, which starts one without the mark and waits for
// it.
func child(mode string) {
	env := []string{"GORACE=atexit_sleep_ms=0", childVariable + "=listen", ports.Variable + "=" + os.Getenv(ports.Variable)}
	attr := &syscall.SysProcAttr{}
	switch mode {
	case "listen":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			os.Exit(1)
		}
		fmt.Println(l.Addr().(*net.TCPAddr).Port)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, "hello\n")
				_ = c.Close()
			}
		}()
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	case "orphan":
		attr.Setsid = true
	case "scrubbed":
		env = env[:2] // drop the mark
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.SysProcAttr = env, os.Stdin, os.Stdout, attr
	if cmd.Start() != nil {
		os.Exit(1)
	}
	if mode == "scrubbed" {
		_ = cmd.Wait()
	}
}

// start starts a child with a mark and returns the port on which it or its child listens. Its input
// ends with the test.
func start(t *testing.T, mode, mark string) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{"GORACE=atexit_sleep_ms=0", childVariable + "=" + mode, ports.Variable + "=" + mark}
	in, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout = in, outWrite
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Close(), outWrite.Close()
	reader := bufio.NewReader(out)
	t.Cleanup(func() {
		_ = inWrite.Close()
		_, _ = io.Copy(io.Discard, reader) // until the last child has exited
		_ = cmd.Wait()
		_ = out.Close()
	})
	line, err := reader.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if mode == "orphan" {
		_ = cmd.Wait() // it has exited without waiting for its child
	}
	return port
}

func numbers(t *testing.T, mark string) string {
	t.Helper()
	found, err := ports.Find(mark)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, p := range found {
		if p.PID <= 0 || p.Process == "" {
			t.Errorf("a port without a process: %+v", p)
		}
		text += strconv.Itoa(p.Number) + " "
	}
	return strings.TrimSpace(text)
}

// dial connects to a port and reads from it.
func dial(t *testing.T, mark string, port int) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := ports.Dial(ctx, mark, port)
	if err != nil {
		return err
	}
	defer conn.Close()
	if data, err := io.ReadAll(conn); err != nil || string(data) != "hello\n" {
		t.Errorf("port %d says %q, %v", port, data, err)
	}
	return nil
}

// TestFind checks with real processes that an agent has only its own ports: those of its children,
// of an orphan, and of one without the mark; not another agent's, not this process's.
func TestFind(t *testing.T) {
	for _, mode := range []string{"listen", "orphan", "scrubbed"} {
		t.Run(mode, func(t *testing.T) {
			port := start(t, mode, "one-"+mode)
			other := start(t, "listen", "two-"+mode)
			if got := numbers(t, "one-"+mode); got != strconv.Itoa(port) {
				t.Errorf("the ports are %s, want %d", got, port)
			}
			if err := dial(t, "one-"+mode, port); err != nil {
				t.Error(err)
			}
			for name, err := range map[string]error{
				"another's":    dial(t, "one-"+mode, other),
				"by another":   dial(t, "two-"+mode, port),
				"without mark": dial(t, "", port),
				"no port":      dial(t, "one-"+mode, 0),
				"no number":    dial(t, "one-"+mode, 70000),
			} {
				if !errors.Is(err, ports.ErrNotOwned) {
					t.Errorf("%s: %v; want errors.Is(err, ports.ErrNotOwned)", name, err)
				}
			}
		})
	}
	own, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if err := dial(t, "one", own.Addr().(*net.TCPAddr).Port); !errors.Is(err, ports.ErrNotOwned) {
		t.Errorf("a port of this process: %v", err)
	}
}

// TestDial_ended checks that a port is not the agent's after its process has exited.
func TestDial_ended(t *testing.T) {
	var port int
	t.Run("lives", func(t *testing.T) {
		port = start(t, "listen", "gone")
		if err := dial(t, "gone", port); err != nil {
			t.Error(err)
		}
	})
	if err := dial(t, "gone", port); !errors.Is(err, ports.ErrNotOwned) {
		t.Errorf("after its end: %v", err)
	}
}

func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		if _, err := ports.Find("none"); err != nil {
			b.Fatal(err)
		}
	}
}
