//go:build linux || darwin

package proc

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

// chatterLines makes 5 MB, much more than the queue of a callback holds.
const chatterLines = 50_000

func chatter(lines int) spawn.Command { return behaviour("chatter", linesVar+"="+strconv.Itoa(lines)) }

// TestChattyStderr: 50 MB of unread output do not block the child, and the tail is correct.
func TestChattyStderr(t *testing.T) {
	census(t)
	const chatterLines = 500_000 // 50 MB
	s := start(t, chatter(chatterLines), Options{StderrTail: 1050, CloseGrace: patience})
	readLine(t, bufio.NewReader(s.Stdout()))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := chatterLines - 10; i < chatterLines; i++ {
		want.WriteString(chatterLine(i))
	}
	if got := s.Exit().Stderr; got != want.String() {
		t.Errorf("tail %q", got)
	}
}

// TestSlowCallback: the child continues, the oldest lines are dropped, and the callback gets their
// number.
func TestSlowCallback(t *testing.T) {
	census(t)
	release := make(chan struct{})
	var lines []string
	s := start(t, chatter(chatterLines), Options{CloseGrace: patience, DrainDelay: patience, OnStderr: func(line string) {
		<-release
		lines = append(lines, line)
	}})
	readLine(t, bufio.NewReader(s.Stdout())) // The child has written it all.
	close(release)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, line := range lines {
		var n int
		if _, err := fmt.Sscanf(line, "[%d lines of stderr dropped: the callback is slow]", &n); err == nil {
			total += n
		} else {
			total++
		}
	}
	if total != chatterLines {
		t.Errorf("%d lines delivered or dropped, want %d", total, chatterLines)
	}
	last := strings.TrimSpace(chatterLine(chatterLines - 1))
	if len(lines) == 0 || lines[len(lines)-1] != last {
		t.Errorf("%d lines, the last one is wrong", len(lines))
	}
	if len(lines) > maxQueue/100+10 {
		t.Errorf("%d lines waited", len(lines))
	}
}

// TestBlockedCallback: a callback that never returns delays the end by DrainDelay and gets no more lines.
func TestBlockedCallback(t *testing.T) {
	census(t)
	release, calls := make(chan struct{}), 0
	s := start(t, chatter(chatterLines), Options{CloseGrace: patience, DrainDelay: 50 * time.Millisecond,
		OnStderr: func(string) { calls++; <-release }})
	readLine(t, bufio.NewReader(s.Stdout()))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := s.Exit(); got.ExitStatus != (spawn.ExitStatus{}) || !strings.HasSuffix(got.Stderr, chatterLine(chatterLines-1)) {
		t.Errorf("Exit: %+v", got.ExitStatus)
	}
	close(release)
	await(t, s.stderr.delivered, "the end of the callback")
	if calls != 1 {
		t.Errorf("%d calls", calls)
	}
}

func TestPanickingCallback(t *testing.T) {
	census(t)
	var lines []string
	s := start(t, behaviour("few"), Options{OnStderr: func(line string) {
		lines = append(lines, line)
		panic(line)
	}})
	await(t, s.Done(), "the end")
	if want := []string{"line 0", "line 1", "line 2", "line 3", "line 4"}; !slices.Equal(lines, want) {
		t.Errorf("lines %q, want %q", lines, want)
	}
}

// TestStopFromCallback: a callback may stop its process.
func TestStopFromCallback(t *testing.T) {
	census(t)
	var s *Supervisor
	started, stopped := make(chan struct{}), make(chan error, 5)
	s = start(t, behaviour("few"), Options{DrainDelay: 10 * time.Millisecond, OnStderr: func(string) {
		<-started
		stopped <- s.Stop()
	}})
	close(started)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
