package eventlog_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/eventlog"
)

// childEnv selects the task of a child process of this test binary: a mode, a colon, and the data directory.
const childEnv = "PARLEY_EVENTLOG_CHILD"

// childSessions is the number of logs that the child of the kill test writes to.
const childSessions = 4

// child runs a part of a test in this process and ends it.
func child(task string) {
	mode, dir, _ := strings.Cut(task, ":")
	s, err := eventlog.Open(context.Background(), &eventlog.Options{Dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	switch mode {
	case "append": // until it is killed
		childAppend(s)
	case "once":
		childOnce(s)
	case "hold": // holds the directory until it is killed
		fmt.Println("holding")
		select {}
	}
}

// childEvent returns the event that the child writes under a number. Some have several parts.
func childEvent(session int, seq uint64) []byte {
	event := fmt.Appendf(nil, "%d/%d ", session, seq)
	if seq%7 == 0 {
		event = append(event, strings.Repeat("large ", 50_000)...)
	}
	return event
}

// childAppend appends to its logs concurrently and prints every acknowledged number.
func childAppend(s *eventlog.Store) {
	for i := range childSessions {
		go func() {
			l := s.Log(fmt.Sprint("s", i))
			last, _ := l.Last(context.Background())
			for seq := last.Seq; ; seq++ {
				if _, err := l.Append(context.Background(), seq, childEvent(i, seq+1)); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				fmt.Printf("%d %d\n", i, seq+1) // one write, not buffered
			}
		}()
	}
	select {}
}

// childOnce appends a few marked events and prints a line after each.
func childOnce(s *eventlog.Store) {
	for n := uint64(0); n < 5; n++ {
		if _, err := s.Log("a").Append(context.Background(), n, []byte("MARKED-EVENT")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("ACKNOWLEDGED")
	}
	if err := s.Close(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// childCommand returns a command that runs this test binary as a child.
func childCommand(t testing.TB, mode, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = []string{childEnv + "=" + mode + ":" + dir, "TMPDIR=" + t.TempDir(), "HOME=" + t.TempDir(), "GORACE=atexit_sleep_ms=0"}
	cmd.Stderr = os.Stderr
	return cmd
}
