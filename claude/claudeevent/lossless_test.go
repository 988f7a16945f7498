package claudeevent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
)

type blockKey struct {
	parent, message string
	index           int64
}

// checkPairs checks that each start has a stop, that deltas are between the two, and that
// message_delta and message_stop follow the stops of all blocks.
func checkPairs(t *testing.T, r *run) {
	t.Helper()
	messages, blocks := map[blockKey]bool{}, map[blockKey]bool{}
	begin := func(open map[blockKey]bool, k blockKey) {
		if open[k] {
			t.Errorf("%+v starts twice", k)
		}
		open[k] = true
	}
	for _, ev := range r.events {
		h := ev.Head()
		m := blockKey{h.ParentToolUseID, h.MessageID, -1}
		index, kind := blockEvent(ev)
		k := blockKey{h.ParentToolUseID, h.MessageID, index}
		switch kind {
		case "start":
			if !messages[m] {
				t.Errorf("%+v starts outside of its message", k)
			}
			begin(blocks, k)
		case "delta", "stop":
			if !blocks[k] {
				t.Errorf("a %s of %+v, which has not started", kind, k)
			}
			if kind == "stop" {
				delete(blocks, k)
			}
		}
		switch ev.(type) {
		case *event.MessageStart:
			begin(messages, m)
		case *event.MessageComplete:
			if !messages[m] {
				t.Errorf("%+v ends and has not started", m)
			}
			delete(messages, m)
			for k := range blocks {
				if k.parent == m.parent && k.message == m.message {
					t.Errorf("%+v is open although its message ends", k)
				}
			}
		}
	}
	if len(messages)+len(blocks) > 0 {
		t.Errorf("never ended: %v %v", messages, blocks)
	}
	checkEnds(t, r.lines)
}

// blockEvent returns the index of the block that an event concerns, and its role: start,
// delta or stop.
func blockEvent(ev event.Event) (index int64, kind string) {
	switch ev := ev.(type) {
	case *event.TextStart:
		return ev.Index, "start"
	case *event.ThinkingStart:
		return ev.Index, "start"
	case *event.ToolStart:
		return ev.Index, "start"
	case *event.BlockStart:
		return ev.Index, "start"
	case *event.TextDelta:
		return ev.Index, "delta"
	case *event.ThinkingDelta:
		return ev.Index, "delta"
	case *event.ToolInputDelta:
		return ev.Index, "delta"
	case *event.ToolInputComplete:
		return ev.Index, "delta"
	case *event.BlockDelta:
		return ev.Index, "delta"
	case *event.BlockStop:
		return ev.Index, "stop"
	}
	return 0, ""
}

// checkEnds checks that message_delta and message_stop come in pairs.
func checkEnds(t *testing.T, lines []json.RawMessage) {
	t.Helper()
	before := ""
	for _, line := range lines {
		var m struct{ Event struct{ Type string } }
		if err := json.Unmarshal(line, &m); err != nil {
			m.Event.Type = "" // in other messages, event has another JSON type
		}
		if (before == "message_delta") != (m.Event.Type == "message_stop") {
			t.Errorf("message_delta and message_stop do not come together: %s", line)
		}
		before = m.Event.Type
	}
	if before == "message_delta" {
		t.Error("the last message is a message_delta")
	}
}

// wholeLine is a line of the CLI with a whole message, decoded without any package of
// this module.
type wholeLine struct {
	Type    string
	Message struct {
		ID      string
		Content json.RawMessage
	}
	Parent        string          `json:"parent_tool_use_id"`
	UUID          string          `json:"uuid"`
	ToolUseResult json.RawMessage `json:"tool_use_result"`
	Supersedes    []string        `json:"supersedes"`
	Retracted     []string        `json:"retracted_message_uuids"`
}

func (l *wholeLine) blocks() []map[string]any {
	var blocks []map[string]any
	if json.Unmarshal(l.Message.Content, &blocks) == nil {
		return blocks
	}
	var text string
	if json.Unmarshal(l.Message.Content, &text) == nil {
		return []map[string]any{{"type": "text", "text": text}}
	}
	return nil
}

// ledger counts texts: the CLI's output adds, the conversation subtracts.
type ledger map[string]int

func (l ledger) add(n int, parts ...any) {
	text, err := json.Marshal(parts)
	if err != nil {
		panic(err)
	}
	l[string(text)] += n
}

// checkLossless compares the conversation and the deltas with the whole messages.
func checkLossless(t *testing.T, r *run, steps []step) {
	t.Helper()
	checkShown(t, r, steps)
	checkDeltas(t, r.events)
}

// checkShown compares the conversation with the whole messages of the CLI's lines: each
// block, tool input, result and image occurs once.
func checkShown(t *testing.T, r *run, steps []step) {
	t.Helper()
	book := ledger{}
	lines, gone := wholeLines(steps)
	for _, l := range lines {
		if !gone[l.UUID] {
			addBlocks(book, l)
		}
	}
	shown(t, book, r.conv)
	for thing, n := range book {
		if n != 0 {
			t.Errorf("said %+d times more often than shown: %.300s", n, thing)
		}
	}
}

// wholeLines returns the lines with whole messages, each once: a replayed prompt equals
// the sent one. gone holds the messages that the CLI retracted.
func wholeLines(steps []step) (lines []*wholeLine, gone map[string]bool) {
	seen := map[string]bool{}
	gone = map[string]bool{}
	for _, s := range steps {
		l := &wholeLine{}
		if json.Unmarshal([]byte(s.line), l) != nil || s.in && l.Type != "user" {
			continue
		}
		for _, uuid := range append(l.Supersedes, l.Retracted...) {
			gone[uuid] = true
		}
		if (l.Type == "assistant" || l.Type == "user") && !seen[l.UUID] {
			seen[l.UUID] = l.UUID != ""
			lines = append(lines, l)
		}
	}
	return lines, gone
}

// addBlocks adds the blocks of a line to the ledger.
func addBlocks(book ledger, l *wholeLine) {
	results := 0
	for _, b := range l.blocks() {
		switch b["type"] {
		case "text":
			book.add(1, l.Type, l.Parent, "text", str(b["text"]))
		case "thinking":
			book.add(1, l.Type, l.Parent, "thinking", str(b["thinking"]), str(b["signature"]))
		case "tool_use", "server_tool_use", "mcp_tool_use":
			book.add(1, l.Type, l.Parent, "tool", str(b["id"]), str(b["name"]), b["input"])
		case "tool_result":
			isError, _ := b["is_error"].(bool)
			structured := value(l.ToolUseResult)
			if results++; results > 1 {
				structured = nil // belongs to the first result
			}
			book.add(1, "result", str(b["tool_use_id"]), b["content"], isError, structured, l.UUID)
		default:
			book.add(1, l.Type, l.Parent, "block", b)
		}
	}
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

func value(j []byte) any {
	var v any
	_ = json.Unmarshal(j, &v) // absent is nil
	return v
}

// shown subtracts the items of a conversation from the ledger.
func shown(t *testing.T, book ledger, conv *event.Conversation) {
	t.Helper()
	for _, thread := range conv.Threads {
		for _, it := range thread.Items {
			if r := it.ToolResult; r != nil {
				book.add(-1, "result", r.ToolUseID, r.Content.Value(), r.IsError, r.ToolUseResult.Value(), r.UUID)
			}
			if it.Message == nil {
				continue
			}
			for _, b := range it.Message.Blocks {
				shownBlock(book, thread.ParentToolUseID, it.Message.Role, b)
			}
		}
	}
}

func shownBlock(book ledger, parent, role string, b *event.Block) {
	switch {
	case !b.Whole: // has no whole line: the stream was cut off
	case b.Type == "text":
		book.add(-1, role, parent, "text", b.Text.String())
	case b.Type == "thinking":
		book.add(-1, role, parent, "thinking", b.Text.String(), b.Signature.String())
	case b.Tool != nil:
		book.add(-1, role, parent, "tool", b.Tool.ID, b.Tool.Name, b.Tool.Input.Value())
		if b.Tool.Status != event.ToolInProgress && b.Type == "tool_use" { // other tools have a block for it
			book.add(-1, "result", b.Tool.ID, b.Tool.Result.Value(), b.Tool.Status == event.ToolFailed, b.Tool.ToolUseResult.Value(), b.Tool.ResultUUID)
		}
	default:
		book.add(-1, role, parent, "block", b.Data.Value())
	}
}

// checkDeltas checks that the deltas of a block add up to the whole block.
func checkDeltas(t *testing.T, events []event.Event) {
	t.Helper()
	given := map[blockKey]*strings.Builder{}
	add := func(h *event.Header, index int64, s string) {
		k := blockKey{h.ParentToolUseID, h.MessageID, index}
		if given[k] == nil {
			given[k] = &strings.Builder{}
		}
		given[k].WriteString(s)
	}
	for _, ev := range events {
		switch ev := ev.(type) {
		case *event.TextStart:
			add(&ev.Header, ev.Index, ev.Text)
		case *event.ThinkingStart:
			add(&ev.Header, ev.Index, ev.Thinking)
		case *event.TextDelta:
			add(&ev.Header, ev.Index, ev.Text)
		case *event.ThinkingDelta:
			add(&ev.Header, ev.Index, ev.Thinking)
		case *event.ToolInputDelta:
			add(&ev.Header, ev.Index, ev.PartialJSON)
		case *event.AssistantMessage:
			for _, b := range ev.Blocks {
				if text := given[blockKey{ev.ParentToolUseID, ev.MessageID, b.Index}]; text != nil {
					compareWhole(t, &b.Block, text.String())
				}
			}
		}
	}
}

func compareWhole(t *testing.T, whole *event.Content, given string) {
	t.Helper()
	want := whole.Text
	if whole.Name != "" {
		want = fmt.Sprint(whole.Input.Value())
		if v := value([]byte(given)); v != nil {
			given = fmt.Sprint(v)
		} else {
			want = fmt.Sprint(strings.Contains(string(whole.Input), "__unparsedToolInput"))
			given = "true"
		}
	}
	if given != want {
		t.Errorf("the deltas give %.200q, the whole block is %.200q", given, want)
	}
}
