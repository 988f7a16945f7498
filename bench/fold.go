package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
)

// eventsOfFold is the number of events of the folded session.
const eventsOfFold = 50_000

// prepareFold writes the session that both folds read: the first lines of the stream, as RPC
// messages.
func (b *bench) prepareFold(context.Context) error {
	rec, err := readRecorded(filepath.Join(b.root, filepath.FromSlash(recording)))
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	if _, err := generate(&lines, rec, eventsOfFold+eventsOfFold/10); err != nil {
		return err
	}
	var c claudeevent.Converter
	var out bytes.Buffer
	to := event.NewEncoder("0a1b2c3d", 0)
	for line := range strings.Lines(lines.String()) {
		m, err := message.Decode([]byte(line))
		if err != nil {
			return err
		}
		for _, ev := range c.Add(m) {
			if len(b.foldEvents) == eventsOfFold {
				break
			}
			b.foldEvents = append(b.foldEvents, ev)
			text, err := to.AppendLines(nil, ev)
			if err != nil {
				return err
			}
			out.Write(text)
		}
	}
	if len(b.foldEvents) != eventsOfFold {
		return fmt.Errorf("the session has %d events", len(b.foldEvents))
	}
	return os.WriteFile(b.path("fold.jsonl"), out.Bytes(), 0o600)
}

// foldRound measures the folds of one session in Go and in TypeScript. Both must reach the same
// state.
func (b *bench) foldRound(ctx context.Context) error {
	var conv event.Conversation
	begin := time.Now()
	for _, ev := range b.foldEvents {
		conv.Apply(ev)
	}
	took := time.Since(begin)
	text, err := json.Marshal(&conv)
	if err != nil {
		return err
	}
	state, err := event.Canonical(text)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(state)
	ts, err := b.foldInNode(ctx, hex.EncodeToString(sum[:]))
	if err != nil {
		return err
	}
	goMS := float64(took.Microseconds()) / 1000
	b.logf("  Go %.1f ms, TypeScript %.1f ms", goMS, ts)
	b.add("ts_fold_ms", "parley", ts)
	b.add("ts_fold_ms", "go", goMS)
	return nil
}

// foldInNode folds the session with the bundle and returns the time in milliseconds, without
// parsing the messages.
func (b *bench) foldInNode(ctx context.Context, wantState string) (float64, error) {
	cmd := exec.CommandContext(ctx, "node", filepath.Join(b.root, "bench", "ts", "fold.mjs"), b.path("fold.jsonl"))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.path("home")}
	cmd.Stderr = b.log
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("node: %w", err)
	}
	var result struct {
		MS    float64
		State string
	}
	line, _ := bufio.NewReader(bytes.NewReader(out)).ReadBytes('\n')
	if err := json.Unmarshal(line, &result); err != nil {
		return 0, err
	}
	if result.State != wantState {
		return 0, fmt.Errorf("the folds differ")
	}
	return result.MS, nil
}
