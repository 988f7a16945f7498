package claudeevent_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
)

// TestBytes checks that the messages of every recording keep the bytes that logs and front ends
// rely on: testdata/messages.sha256 was written at commit d034065.
func TestBytes(t *testing.T) {
	sums, err := os.ReadFile(filepath.Join("testdata", "messages.sha256"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(sums)) {
		sum, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		name := strings.TrimSuffix(file, ".jsonl")
		data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "wire", name, "stdout.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		var c claudeevent.Converter
		var out []byte
		to := event.NewEncoder("0a1b2c3d", 0, event.CapabilityOutputDelta)
		emit := func(events []event.Event) {
			for _, ev := range events {
				if out, err = to.AppendLines(out, ev); err != nil {
					t.Fatal(err)
				}
			}
		}
		for line := range bytes.Lines(data) {
			if m, err := message.Decode(bytes.TrimRight(line, "\n")); err == nil {
				emit(c.Add(m))
			}
		}
		emit(c.End(nil))
		if got := fmt.Sprintf("%x", sha256.Sum256(out)); got != sum {
			t.Errorf("%s: the messages have the sum %s, want %s", name, got, sum)
		}
	}
}
