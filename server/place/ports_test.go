package place

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/ports"
)

// devVariable makes the test binary a development server that greets each connection with its value.
const devVariable = "PARLEY_TEST_DEV"

// runDevServer serves until its standard input ends, and prints its port.
func runDevServer(says string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(conn, says)
			conn.Close()
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// mark is the mark of a session's agent; the session "unstarted" has none.
func (w *world) mark(session string) string {
	if session == "unstarted" {
		return ""
	}
	return "mark of " + session
}

// develop starts a development server of a session and returns its port.
func (w *world) develop(session string) int {
	w.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(w.env, devVariable+"="+session, ports.Variable+"="+w.mark(session))
	in, err := cmd.StdinPipe()
	must(w, err)
	out, err := cmd.StdoutPipe()
	must(w, err)
	must(w, cmd.Start())
	w.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // its port tells whether it has run
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must(w, err)
	port, err := strconv.Atoi(strings.TrimSpace(line))
	must(w, err)
	return port
}

// testPorts checks that a session has the ports of its own processes, and no others.
func testPorts(t *testing.T, w *world) {
	if runtime.GOOS != "linux" {
		_, err := w.Ports(t.Context(), "one")
		if reasonOf(err) != api.Unsupported {
			t.Errorf("the ports: %v, want the reason %s", err, api.Unsupported)
		}
		return
	}
	one, two := w.develop("one"), w.develop("two")
	for session, want := range map[string]int{"one": one, "two": two} {
		found, err := w.Ports(t.Context(), session)
		if err != nil || len(found) != 1 || found[0].Number != want || found[0].PID == 0 || found[0].Process == "" {
			t.Errorf("session %s has the ports %+v, %v, want %d", session, found, err, want)
		}
		conn, err := w.DialPort(t.Context(), session, want)
		must(t, err)
		if text, err := io.ReadAll(conn); err != nil || string(text) != session {
			t.Errorf("the port of session %s sends %q, %v", session, text, err)
		}
		conn.Close()
	}
	for _, session := range []string{"unstarted", "", "none"} {
		if found, err := w.Ports(t.Context(), session); err != nil || len(found) != 0 {
			t.Errorf("session %q has the ports %+v, %v, want none", session, found, err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	own := l.Addr().(*net.TCPAddr).Port
	for name, q := range map[string]struct {
		session string
		port    int
	}{"another session": {"one", two}, "no session": {"", one}, "before the start": {"unstarted", one}, "another process": {"one", own}, "no port": {"one", 0}, "a large number": {"one", 1 << 17}} {
		if conn, err := w.DialPort(t.Context(), q.session, q.port); err == nil {
			conn.Close()
			t.Errorf("the port of %s is reached", name)
		} else if !errors.Is(err, ports.ErrNotOwned) {
			t.Errorf("the port of %s: %v, want %v", name, err, ports.ErrNotOwned)
		}
	}
	if conn, err := Dial(context.Background(), w.local, "shell", fmt.Appendf(nil, `{"Session":"one","Port":%d}`, one)); err == nil {
		conn.Close()
		t.Error("an unknown method is dialed")
	}
	if conn, err := Dial(context.Background(), w.local, dialMethod, []byte(`"one"`)); err == nil {
		conn.Close()
		t.Error("other parameters are dialed")
	}
}
