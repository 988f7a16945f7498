package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
)

// deltasOfRound is the number of text deltas of a round, deltasOfBlock the number of deltas of a
// text.
const (
	deltasOfRound = 200_000
	deltasOfBlock = 1000
)

// uiEventRound measures the processing of a text delta for a screen: its event, its encoded RPC
// message, and its fold. The other side encodes the message with json.Marshal.
func (b *bench) uiEventRound(context.Context) error {
	quick, allocs, err := sendDeltas(appendEncoder())
	if err != nil {
		return err
	}
	slow, slowAllocs, err := sendDeltas(marshalEncoder())
	if err != nil {
		return err
	}
	b.logf("  %.0f ns and %.2f allocations, %.0f ns and %.2f with json.Marshal", quick, allocs, slow, slowAllocs)
	b.add("ui_event_ns", "parley", quick)
	b.add("ui_event_ns", "marshal", slow)
	b.add("ui_event_allocs", "parley", allocs)
	b.add("ui_event_allocs", "marshal", slowAllocs)
	return nil
}

// sendDeltas processes deltas and returns the time and the allocations per delta.
func sendDeltas(encode func(event.Event) (int, error)) (ns, allocs float64, err error) {
	m, err := message.Decode([]byte(aDelta))
	if err != nil {
		return 0, 0, err
	}
	var c claudeevent.Converter
	var conv event.Conversation
	sent, shown := 0, 0
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	for i := range deltasOfRound {
		if i%deltasOfBlock == 0 {
			shown += textOf(&conv)
			c, conv = claudeevent.Converter{}, event.Conversation{}
		}
		for _, ev := range c.Add(m) {
			n, err := encode(ev)
			if err != nil {
				return 0, 0, err
			}
			sent += n
			conv.Apply(ev)
		}
	}
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	shown += textOf(&conv)
	if want := deltasOfRound * len(m.(*message.StreamEvent).TextDelta()); shown != want || sent < want {
		return 0, 0, fmt.Errorf("%d bytes of text, %d of messages, want %d", shown, sent, want)
	}
	return float64(took.Nanoseconds()) / deltasOfRound, float64(after.Mallocs-before.Mallocs) / deltasOfRound, nil
}

// textOf returns the length of the text in a conversation.
func textOf(conv *event.Conversation) int {
	n := 0
	for _, it := range conv.Thread("").Items {
		n += it.Message.Block(0).Text.Len()
	}
	return n
}

// appendEncoder encodes like a server, into an existing buffer.
func appendEncoder() func(event.Event) (int, error) {
	c := event.NewEncoder("0a1b2c3d", 0)
	var buf []byte
	return func(ev event.Event) (int, error) {
		var err error
		buf, err = c.AppendLines(buf[:0], ev)
		return len(buf), err
	}
}

// plainEvent is the message of a text delta as a plain struct with tags.
type plainEvent struct {
	Type      string `json:"type"`
	UUID      string `json:"uuid"`
	SessionID string `json:"session_id"`
	Event     struct {
		Type  string `json:"type"`
		Index int64  `json:"index"`
		Delta struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"delta"`
	} `json:"event"`
	ParentToolUseID string `json:"parent_tool_use_id,omitempty"`
	APIMessageID    string `json:"api_message_id,omitempty"`
	Provider        string `json:"provider"`
}

// marshalEncoder encodes with json.Marshal.
func marshalEncoder() func(event.Event) (int, error) {
	n := 0
	return func(ev event.Event) (int, error) {
		d, ok := ev.(*event.TextDelta)
		if !ok {
			return 0, nil // the start of the message and of its block, once
		}
		n++
		m := &plainEvent{Type: "stream_event", UUID: fmt.Sprintf("evt-0a1b2c3d-%d", n), SessionID: d.SessionID,
			ParentToolUseID: d.ParentToolUseID, APIMessageID: d.MessageID, Provider: claudeevent.Provider}
		m.Event.Type, m.Event.Index = "content_block_delta", d.Index
		m.Event.Delta.Type, m.Event.Delta.Text = "text_delta", d.Text
		text, err := json.Marshal(m)
		if err == nil && len(text) == 0 {
			err = errors.New("nothing was written")
		}
		return len(text), err
	}
}
