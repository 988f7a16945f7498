package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// aDelta is a text delta as in the recording.
const aDelta = `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I will look."}},"session_id":"bd8e384b-7ed3-4c20-81ee-96d52cda4a34","parent_tool_use_id":null,"uuid":"5dffa60c-0483-4746-8789-2102c99fbc02","api_message_id":"msg_0001"}`

// allocsRound counts the allocations of one text delta.
func (b *bench) allocsRound(ctx context.Context) error {
	line := []byte(aDelta)
	var bad error
	n := testing.AllocsPerRun(10_000, func() {
		m, err := message.Decode(line)
		if err == nil {
			err = readDelta(m)
		}
		if err != nil {
			bad = err
		}
	})
	if bad != nil {
		return bad
	}
	b.add("delta_allocs", "parley", n)
	through, err := queryAllocs(ctx, 100_000)
	if err != nil {
		return err
	}
	b.logf("  %.0f by DecodeMessage, %.2f through Query", n, through)
	b.add("delta_allocs_query", "parley", through)
	return nil
}

// kept holds the fields of the last delta. If only the length of a Raw were used, the compiler
// would omit the copy, and with it the allocation to count.
var kept struct {
	text, uuid, session string
	raw                 json.RawMessage
}

// readDelta reads a text delta completely.
func readDelta(m message.Message) error {
	d, ok := m.(*message.StreamEvent)
	if !ok {
		return fmt.Errorf("a %T", m)
	}
	kept.text, kept.uuid, kept.session, kept.raw = d.TextDelta(), d.UUID, d.SessionID, d.Raw()
	if kept.text == "" || kept.uuid == "" || kept.session == "" || len(kept.raw) != len(aDelta) {
		return fmt.Errorf("a delta that lacks something: %+v", kept)
	}
	return nil
}

// queryAllocs counts the allocations of a delta on its whole path through Query: all allocations of
// the process, divided by the deltas.
func queryAllocs(ctx context.Context, deltas int) (float64, error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	seen := 0
	opts := &claude.Options{Transport: &deltaConn{left: deltas, asked: make(chan string, 1)}, Logger: slog.New(slog.DiscardHandler)}
	for m, err := range claude.Query(ctx, "go", opts) {
		if errors.Is(err, claude.ErrNoResult) && seen == deltas {
			break // the stream contains only deltas
		}
		if err != nil {
			return 0, err
		}
		if err := readDelta(m); err != nil {
			return 0, err
		}
		seen++
	}
	runtime.ReadMemStats(&after)
	if seen != deltas {
		return 0, fmt.Errorf("%d deltas of %d", seen, deltas)
	}
	return float64(after.Mallocs-before.Mallocs) / float64(deltas), nil
}

// deltaConn is an in-memory CLI that answers a prompt with deltas and ends.
type deltaConn struct {
	left  int
	asked chan string // the id of initialize
	once  sync.Once
}

var deltaLine = json.RawMessage(aDelta)

func (c *deltaConn) Connect(context.Context) (claude.Conn, error) { return c, nil }

func (c *deltaConn) Read(context.Context) (json.RawMessage, error) {
	if id, ok := <-c.asked; ok {
		return fmt.Appendf(nil, `{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{}}}`, id), nil
	}
	if c.left == 0 {
		return nil, io.EOF
	}
	c.left--
	return deltaLine, nil
}

func (c *deltaConn) Write(_ context.Context, line json.RawMessage) error {
	if !strings.Contains(string(line), `"control_request"`) {
		c.once.Do(func() { close(c.asked) })
		return nil
	}
	var request struct {
		ID string `json:"request_id"`
	}
	if err := json.Unmarshal(line, &request); err != nil || request.ID == "" {
		return errors.New("a control request without an id")
	}
	c.asked <- request.ID
	return nil
}

func (c *deltaConn) CloseWrite() error { return nil }

func (c *deltaConn) Close() error {
	c.once.Do(func() { close(c.asked) })
	return nil
}
