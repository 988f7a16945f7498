package fakecli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/claude/message"
)

// Emit writes lines, all of them in one write: a [message.Message], of a [Builder] or built by
// hand, with uuid and session_id filled in where they are missing; a string, []byte or
// [json.RawMessage] unchanged; any other value as encoding/json encodes it. A closed output is
// not an error, as for the real CLI.
func (c *CLI) Emit(lines ...any) {
	var b bytes.Buffer
	for _, line := range lines {
		c.appendLine(&b, line)
	}
	c.EmitRaw(b.Bytes())
}

func (c *CLI) appendLine(b *bytes.Buffer, line any) {
	switch line := line.(type) {
	case []message.Message:
		for _, m := range line {
			c.appendLine(b, m)
		}
		return
	case message.Message:
		b.Write(c.encode(line))
	case string:
		b.WriteString(line)
	case []byte:
		b.Write(line)
	case json.RawMessage:
		b.Write(line)
	default:
		b.Write(mustEncode(line))
	}
	b.WriteByte('\n')
}

func (c *CLI) encode(m message.Message) []byte {
	if head := m.Head(); m.Raw() == nil {
		if head.UUID == "" {
			head.UUID = c.UUID()
		}
		head.SessionID = cmp.Or(head.SessionID, c.SessionID)
	}
	line, err := message.Encode(m)
	if err != nil {
		panic(fmt.Sprintf("claudetest: %v", err))
	}
	return line
}

// EmitRaw writes bytes to the standard output unchanged in one write, without adding a newline.
func (c *CLI) EmitRaw(data []byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, _ = c.out.Write(data)
}

// Stderr writes a formatted text to the standard error of the fake CLI, as [fmt.Fprintf] does.
func (c *CLI) Stderr(format string, args ...any) { fmt.Fprintf(c.err, format, args...) }

// Turn plays a whole turn for the prompt that was taken last, with text as the answer. A prompt
// with shouldQuery false gets no answer.
func (c *CLI) Turn(text string) {
	c.BeginTurn()
	if p := c.prompt(); p != nil && p.ShouldQuery != nil && !*p.ShouldQuery {
		result := c.Result("")
		result.NumTurns = 0
		c.EndTurn(result)
		return
	}
	c.Stream(text)
	c.EndTurn(c.Result(text))
}

func (c *CLI) prompt() *message.User {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// BeginTurn writes the messages before the answer to the prompt that was taken last: the state,
// the prompt's lifecycle if it has a uuid, init, and the prompt itself with
// --replay-user-messages.
func (c *CLI) BeginTurn() {
	p := c.prompt()
	c.tellState(message.StateRunning)
	var uuids []string
	if p != nil && p.UUID != "" {
		uuids = []string{p.UUID}
		c.Emit(c.Lifecycle(p.UUID, message.CommandQueued), c.Lifecycle(p.UUID, message.CommandStarted))
	}
	c.mu.Lock()
	model, mode := c.model, c.mode
	c.mu.Unlock()
	c.begin(model, uuids)
	init := c.Init()
	init.PermissionMode = mode
	c.Emit(init)
	if _, replay := c.Flag("replay-user-messages"); replay && p != nil {
		back := message.Clone(p)
		back.IsReplay, back.SessionID = true, c.SessionID
		c.Emit(back)
	}
}

// EndTurn writes the result and the messages after it. It reports the state idle if no prompt
// is queued.
func (c *CLI) EndTurn(result *message.Result) {
	lines := []any{result}
	if p := c.prompt(); p != nil && p.UUID != "" {
		lines = append(lines, c.Lifecycle(p.UUID, message.CommandCompleted))
	}
	c.Emit(lines...)
	if len(c.Queued()) == 0 {
		c.tellState(message.StateIdle)
	}
}

// EndInterrupted ends an interrupted turn with the messages of the real CLI.
func (c *CLI) EndInterrupted() {
	c.Emit(c.UserText("[Request interrupted by user]"))
	result := c.ResultFailed(message.ResultDuringExecution, "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=null")
	result.TerminalReason = message.TerminalAbortedStreaming
	c.EndTurn(result)
}

// tellState reports the state if it has changed and the caller has requested states.
func (c *CLI) tellState(s message.SessionState) {
	c.mu.Lock()
	running := s != message.StateIdle
	changed := running != c.running
	c.running = running
	c.mu.Unlock()
	if changed && c.Env("CLAUDE_CODE_SDK_READS_SESSION_STATE") == "1" {
		c.Emit(c.State(s))
	}
}

// Stream writes an answer of one text: in these chunks if partial messages were requested, else
// as one message.
func (c *CLI) Stream(chunks ...string) {
	_, partial := c.Flag("include-partial-messages")
	if !partial {
		text := ""
		for _, chunk := range chunks {
			text += chunk
		}
		c.Emit(c.AssistantText(text))
		return
	}
	c.Emit(c.Status("requesting"))
	for _, m := range c.StreamText(chunks...) {
		c.Emit(m)
	}
}
