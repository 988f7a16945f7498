package takeover

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed7221b0f9/parley/internal/usersocket"
)

// roleVariable makes the test binary play a server that does not answer, or a successor that never serves.
const roleVariable = "PARLEY_TAKEOVER_ROLE"

func TestMain(m *testing.M) {
	role, dir, _ := strings.Cut(os.Getenv(roleVariable), " ")
	switch role {
	case "":
		goleak.VerifyTestMain(m)
	case "deaf":
		l, err := usersocket.Listen(filepath.Join(dir, socketName))
		if err != nil {
			panic(err)
		}
		defer l.Close()
	case "idle":
		p, err := Ask(context.Background(), dir, 1, "", slog.New(slog.DiscardHandler))
		if err == nil {
			err = p.Left()
		}
		if err != nil {
			panic(err)
		}
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// other starts this test as another process, and returns when it is ready.
func other(t *testing.T, role, dir string) (wait func() error) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = []string{roleVariable + "=" + role + " " + dir, "GORACE=atexit_sleep_ms=0"}
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if role == "deaf" {
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatalf("the other process printed %q, %v", line, err)
		}
	}
	return cmd.Wait
}

func quickly(t *testing.T, limit *time.Duration, d time.Duration) {
	before := *limit
	*limit = d
	t.Cleanup(func() { *limit = before })
}

// server opens a port and its door.
func server(t *testing.T, dir string, format int) (*Door, *net.TCPListener) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.(*net.TCPListener)
	d, err := OpenDoor(dir, Offer{Port: port, Format: format, Leave: time.Minute}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.Close()
		_ = l.Close()
	})
	return d, port
}

// A successor receives the port and waits until the server has left; the server waits until the successor serves. A
// client that connects in between is served.
func TestHandover(t *testing.T) {
	dir := t.TempDir()
	d, port := server(t, dir, 3)
	before, err := Ask(t.Context(), dir, 3, "v2", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	next := <-d.Asked()
	if next.PID() != os.Getpid() || next.Version != "v2" || before.PID() != os.Getpid() {
		t.Errorf("the successor is process %d of version %q, the server process %d; want %d, v2", next.PID(), next.Version, before.PID(), os.Getpid())
	}
	if _, err := Ask(t.Context(), dir, 3, "v3", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second successor got %v, want a refusal", err)
	}
	if err := errors.Join(d.Close(), port.Close()); err != nil {
		t.Fatal(err)
	}
	confirmed := make(chan error, 1)
	go func() {
		again, err := next.Confirm(t.Context())
		if again != nil {
			err = errors.Join(err, errors.New("the server continues"), again.Close())
		}
		confirmed <- err
	}()
	if err := before.Left(); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", before.Port.Addr().String())
	if err != nil {
		t.Fatalf("nobody serves between the two: %v", err)
	}
	defer conn.Close()
	select {
	case err := <-confirmed:
		t.Fatalf("the server has not waited: %v", err)
	default:
	}
	if err := before.Serving(); err != nil {
		t.Fatal(err)
	}
	if err := <-confirmed; err != nil {
		t.Fatal(err)
	}
	served, err := before.Port.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = errors.Join(served.Close(), before.Port.Close())
}

// A process that cannot read the logs, or speaks another protocol, is refused with the reason, and the door stays open for others.
func TestDoor_refuses(t *testing.T) {
	dir := t.TempDir()
	d, _ := server(t, dir, 3)
	refused, isRefusal := (*RefusedError)(nil), false
	_, err := Ask(t.Context(), dir, 2, "", slog.New(slog.DiscardHandler))
	if refused, isRefusal = errors.AsType[*RefusedError](err); !isRefusal || !strings.Contains(refused.Reason, "format 3") {
		t.Errorf("a successor of format 2 got %v, want a refusal because of format 3", err)
	}
	conn, err := usersocket.Dial(t.Context(), filepath.Join(dir, socketName))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, line := range []string{`{"protocol":2,"format":9}` + "\n"} {
		if _, err := conn.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil || !strings.Contains(string(answer), "version 1 of the handover") {
			t.Errorf("the answer to %q is %q, %v", line, answer, err)
		}
	}
	long, err := usersocket.Dial(t.Context(), filepath.Join(dir, socketName))
	if err != nil {
		t.Fatal(err)
	}
	defer long.Close()
	_, _ = long.Write([]byte(strings.Repeat("x", maxLine+1))) // the connection may be closed during the write
	if answer, _ := io.ReadAll(long); len(answer) > 0 {
		t.Errorf("the answer to a long line is %q", answer)
	}
	p, err := Ask(t.Context(), dir, 3, "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	_ = errors.Join(p.Port.Close(), p.Close())
	next := <-d.Asked()
	again, err := next.Confirm(t.Context())
	if again == nil || err == nil {
		t.Fatalf("Confirm of a successor that has given up = %v, %v, want the port", again, err)
	}
	again.Close()
}

// Ask ends a server that does not answer, and returns ErrNone.
func TestAsk_deaf(t *testing.T) {
	quickly(t, &askTime, 200*time.Millisecond)
	dir := t.TempDir()
	wait := other(t, "deaf", dir)
	if p, err := Ask(t.Context(), dir, 1, "", slog.New(slog.DiscardHandler)); !errors.Is(err, ErrNone) {
		t.Errorf("Ask = %v, %v, want ErrNone", p, err)
	}
	if err := wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the server ended with %v, want killed", err)
	}
	if _, err := Ask(t.Context(), dir, 1, "", slog.New(slog.DiscardHandler)); !errors.Is(err, ErrNone) {
		t.Errorf("Ask of an ended server = %v, want ErrNone", err)
	}
}

// A successor that does not serve in time is ended, and the server continues with its port.
func TestConfirm_late(t *testing.T) {
	quickly(t, &readyTime, 200*time.Millisecond)
	dir := t.TempDir()
	d, port := server(t, dir, 1)
	wait := other(t, "idle", dir)
	next := <-d.Asked()
	address := port.Addr().String()
	_ = errors.Join(d.Close(), port.Close())
	again, err := next.Confirm(t.Context())
	if err == nil || again == nil || again.Addr().String() != address {
		t.Fatalf("Confirm = %v, %v, want the port %s", again, err, address)
	}
	defer again.Close()
	if err := wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the successor ended with %v, want killed", err)
	}
}

// Without a running server, Ask returns ErrNone.
func TestAsk_none(t *testing.T) {
	if p, err := Ask(t.Context(), t.TempDir(), 1, "", slog.New(slog.DiscardHandler)); !errors.Is(err, ErrNone) {
		t.Errorf("Ask = %v, %v, want ErrNone", p, err)
	}
}
