// Package faultinject generates sessions in the form of the CLI and breaks each in one
// known way. It is test support and not part of the product.
package faultinject

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Session is a session file in memory. Its content depends only on the seed.
type Session struct {
	ID    string
	CWD   string
	lines []*line
	tail  string // text after the last line
	rng   *rand.Rand
	clock time.Time
	tools int
	turns int
}

// line is a line of the file: an entry of the tree, or an unchanged record.
type line struct {
	*entry
	raw   string                     // of a record
	rest  map[string]json.RawMessage // the other members of a loaded line
	fixed bool                       // a compaction refers to it, so it must not change
}

// entry is an entry of the tree, its members in the CLI's order.
type entry struct {
	ParentUUID              *string        `json:"parentUuid"`
	LogicalParentUUID       *string        `json:"logicalParentUuid,omitempty"`
	IsSidechain             bool           `json:"isSidechain"`
	PromptID                string         `json:"promptId,omitempty"`
	Type                    string         `json:"type"`
	Subtype                 string         `json:"subtype,omitempty"`
	Content                 string         `json:"content,omitempty"`
	CompactMetadata         map[string]any `json:"compactMetadata,omitempty"`
	Message                 message        `json:"message,omitempty"`
	Attachment              map[string]any `json:"attachment,omitempty"`
	APIBlockIndex           *int           `json:"apiBlockIndex,omitempty"`
	RequestID               string         `json:"requestId,omitempty"`
	IsCompactSummary        bool           `json:"isCompactSummary,omitempty"`
	UUID                    string         `json:"uuid"`
	Timestamp               string         `json:"timestamp"`
	ToolUseResult           any            `json:"toolUseResult,omitempty"`
	SourceToolAssistantUUID string         `json:"sourceToolAssistantUUID,omitempty"`
	UserType                string         `json:"userType"`
	Entrypoint              string         `json:"entrypoint"`
	CWD                     string         `json:"cwd"`
	SessionID               string         `json:"sessionId"`
	Version                 string         `json:"version"`
	GitBranch               string         `json:"gitBranch"`
}

// message is the API message of an entry.
type message map[string]any

func (m message) blocks() []map[string]any {
	blocks, _ := m["content"].([]map[string]any)
	return blocks
}

// New generates a session of a few turns in a directory: prompts, thinking, answers,
// single and parallel tool calls, sometimes a compaction.
func New(seed uint64, cwd string) *Session {
	rng := rand.New(rand.NewPCG(seed, 0x5e55_1017))
	s := &Session{CWD: cwd, rng: rng, clock: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)}
	s.ID = s.uuid()
	turns := 2 + rng.IntN(4)
	compacted := rng.IntN(4) == 0
	for i := range turns {
		if compacted && i == turns-1 {
			s.compact()
		}
		s.turn()
	}
	s.record(`{"type":"last-prompt","lastPrompt":"prompt %d","sessionId":%q}`, s.turns, s.ID)
	return s
}

// Bytes returns the file.
func (s *Session) Bytes() []byte {
	var b bytes.Buffer
	for _, l := range s.lines {
		b.WriteString(l.text() + "\n")
	}
	b.WriteString(s.tail)
	return b.Bytes()
}

func (l *line) text() string {
	if l.entry == nil {
		return l.raw
	}
	text, err := json.Marshal(l.entry)
	if err != nil {
		panic(err) // maps and strings alone
	}
	if l.rest == nil {
		return string(text)
	}
	rest, err := json.Marshal(l.rest)
	if err != nil {
		panic(err) // it was JSON
	}
	if len(l.rest) == 0 {
		return string(text)
	}
	return string(text[:len(text)-1]) + "," + string(rest[1:])
}

func (s *Session) uuid() string {
	b := make([]byte, 16)
	for i := range b {
		b[i] = byte(s.rng.Uint32())
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (s *Session) record(format string, args ...any) {
	s.lines = append(s.lines, &line{raw: fmt.Sprintf(format, args...)})
}

// add appends an entry to a parent; nil means a root.
func (s *Session) add(parent *line, e *entry) *line {
	s.clock = s.clock.Add(time.Duration(1+s.rng.IntN(4000)) * time.Millisecond)
	if parent != nil {
		e.ParentUUID = &parent.UUID
	}
	e.UUID, e.Timestamp = s.uuid(), s.clock.Format("2006-01-02T15:04:05.000Z")
	e.UserType, e.Entrypoint, e.CWD, e.SessionID, e.Version, e.GitBranch = "external", "sdk-cli", s.CWD, s.ID, "2.1.325", "HEAD"
	l := &line{entry: e}
	s.lines = append(s.lines, l)
	return l
}

// last returns the entry that the next one follows, or nil at the start.
func (s *Session) last() *line {
	for i := len(s.lines) - 1; i >= 0; i-- {
		if s.lines[i].entry != nil {
			return s.lines[i]
		}
	}
	return nil
}

func (s *Session) turn() {
	s.turns++
	s.record(`{"type":"queue-operation","operation":"enqueue","timestamp":%q,"sessionId":%q,"content":"prompt %d"}`, s.clock.Format(time.RFC3339), s.ID, s.turns)
	at := s.add(s.last(), &entry{Type: "user", PromptID: s.uuid(), Message: message{"role": "user", "content": fmt.Sprintf("prompt %d: %s", s.turns, s.words(8))}})
	if s.turns == 1 {
		at = s.add(at, &entry{Type: "attachment", Attachment: map[string]any{"type": "date", "date": "2026-11-01"}})
	}
	at = s.thinkAndCall(at)
	if s.rng.IntN(2) == 0 {
		at = s.thinkAndCall(at)
	}
	s.answer(at, map[string]any{"type": "text", "text": s.words(30)})
}

// thinkAndCall adds one answer with thinking and one or more tool calls, and their
// results. It returns the entry that the next one follows.
func (s *Session) thinkAndCall(at *line) *line {
	blocks := []map[string]any{
		{"type": "thinking", "thinking": s.words(12), "signature": fmt.Sprintf("sig%08x", s.rng.Uint32())},
		{"type": "text", "text": s.words(10)},
	}
	for range 1 + s.rng.IntN(3) {
		s.tools++
		blocks = append(blocks, map[string]any{
			"type": "tool_use", "id": fmt.Sprintf("toolu_%s_%04d", s.ID[:8], s.tools), "name": "Bash",
			"input": map[string]any{"command": "echo " + s.words(3)},
		})
	}
	lines := s.answer(at, blocks...)
	for _, call := range lines[2:] {
		output := s.words(20)
		at = s.add(call, &entry{
			Type: "user", SourceToolAssistantUUID: call.UUID, ToolUseResult: map[string]any{"stdout": output, "stderr": "", "interrupted": false},
			Message: message{"role": "user", "content": []map[string]any{{
				"tool_use_id": call.Message.blocks()[0]["id"], "type": "tool_result", "content": output, "is_error": false,
			}}},
		})
	}
	return at
}

// answer adds one answer of the model, one line per block.
func (s *Session) answer(at *line, blocks ...map[string]any) (lines []*line) {
	id, request, stop := fmt.Sprintf("msg_%s", s.uuid()), "req_"+s.uuid(), "end_turn"
	if blocks[len(blocks)-1]["type"] == "tool_use" {
		stop = "tool_use"
	}
	for i, b := range blocks {
		at = s.add(at, &entry{
			Type: "assistant", APIBlockIndex: &i, RequestID: request,
			Message: message{
				"id": id, "type": "message", "model": "claude-opus-5-5", "role": "assistant", "content": []map[string]any{b}, "stop_reason": stop,
				"usage": map[string]any{"input_tokens": 10, "output_tokens": 20},
			},
		})
		lines = append(lines, at)
	}
	return lines
}

// compact adds a compaction, which sometimes keeps the last answer.
func (s *Session) compact() {
	last := s.last()
	metadata := map[string]any{"trigger": "manual", "preTokens": 1000}
	boundary := s.add(nil, &entry{Type: "system", Subtype: "compact_boundary", Content: "Conversation compacted", CompactMetadata: metadata, LogicalParentUUID: &last.UUID})
	summary := s.add(boundary, &entry{Type: "user", IsCompactSummary: true, Message: message{"role": "user", "content": "Summary: " + s.words(20)}})
	boundary.fixed, summary.fixed = true, true
	if s.rng.IntN(2) == 0 {
		metadata["preservedMessages"] = map[string]any{"anchorUuid": summary.UUID, "uuids": []string{last.UUID}}
		last.fixed = true
	}
}

var vocabulary = strings.Fields("the file says that a test of the parser fails when 日本語 or emoji 🙂 come before \"quotes\" and a \\ or <tags> & more; the next step is to read build.log")

func (s *Session) words(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(vocabulary[s.rng.IntN(len(vocabulary))])
	}
	return b.String()
}
