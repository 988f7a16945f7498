//go:build linux || darwin

package proc

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"testing"
	"time"
)

// TestHeldStdout: a process that holds stdout and stderr after the exit causes no loss of data and no delay.
func TestHeldStdout(t *testing.T) {
	for _, reader := range []string{"before", "after"} {
		t.Run("reading "+reader+" the exit", func(t *testing.T) {
			census(t)
			line := newLifeline(t)
			s := start(t, behaviour("leave-squatter", line.env()), Options{Spawner: local{}, DrainDelay: 50 * time.Millisecond})
			if reader == "after" {
				await(t, s.Done(), "the end")
			}
			got, err := io.ReadAll(s.Stdout())
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, burst(60<<10)) {
				t.Errorf("%d bytes, not what was written", len(got))
			}
			await(t, s.Done(), "the end")
			if s.Exit().Code != 5 {
				t.Errorf("Exit: %+v", s.Exit())
			}
			line.holder(t)
			if !line.alive() {
				t.Error("nobody held stdout: the test proves nothing")
			}
		})
	}
}

// TestFloodedStdout: a process that continues to write after the exit does not make the output endless.
func TestFloodedStdout(t *testing.T) {
	census(t)
	line := newLifeline(t)
	s := start(t, behaviour("leave-flooder", line.env()), Options{Spawner: local{}, DrainDelay: time.Millisecond})
	await(t, s.Done(), "the end")
	line.holder(t)
	if _, err := io.Copy(io.Discard, s.Stdout()); err != nil {
		t.Fatal(err)
	}
	line.awaitDeath(t) // of the closed pipe
}

// TestEndlessWriter: data after a full pipe does not belong to the process. Here the pipe is never empty.
func TestEndlessWriter(t *testing.T) {
	census(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s := newStream(r, time.Nanosecond)
	defer s.Close()
	s.processExited()
	buf := make([]byte, 4096)
	for total := 0; ; {
		if _, err := w.Write(buf); err != nil {
			t.Fatal(err)
		}
		n, err := s.Read(buf)
		total += n
		if err == io.EOF && total == maxPipe {
			return
		}
		if err != nil || total > maxPipe {
			t.Fatalf("%v after %d bytes", err, total)
		}
	}
}

func TestGroupEnded(t *testing.T) {
	census(t)
	line := newLifeline(t)
	s := start(t, behaviour("leave-member", line.env()), Options{CloseGrace: patience})
	readLine(t, bufio.NewReader(s.Stdout()))
	line.holder(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := s.Exit(); got != (Exit{}) {
		t.Errorf("Exit: %+v", got)
	}
	line.awaitDeath(t)
}
