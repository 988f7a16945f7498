package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestLoss damages the log of a server: parley attach reports that a part of the conversation is
// lost, and parley doctor reports which part, before and after the start of the server.
func TestLoss(t *testing.T) {
	short.SkipQuick(t, "starts several servers")
	s := newSimServer(t, "--drain-timeout", "1s")
	id := s.talking("wait for the first words", "running")
	s.stop()
	name := filepath.Join(s.data, "log", "jetstream", "$G", "streams", "PARLEY_LOG", "msgs", "1.blk")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[bytes.LastIndex(data, []byte("first words"))] ^= 0x55
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	lost := "session " + id + " has lost its events"
	if out, _, _ := s.parley("doctor"); !strings.Contains(out, lost) {
		t.Errorf("parley doctor without a server shows no %q:\n%s", lost, out)
	}
	s.c, _, s.stop = serveUntil(t, serveFlagsFor(t, s.flags...))
	if _, said, _ := s.parley("attach", id); !strings.Contains(said, "A part of this conversation is lost") {
		t.Errorf("parley attach: %q", said)
	}
	p := sitDown(t, "http://127.0.0.1:9", []string{"NO_COLOR=1"}, "attach", "--data", s.data, id)
	p.sees("A part of this conversation is lost")
	p.types("\x04")
	p.leaves(term.ExitOK)
	if out, _, _ := s.parley("doctor"); !strings.Contains(out, lost) {
		t.Errorf("parley doctor: %s", out)
	}
}
