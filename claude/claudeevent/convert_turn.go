package claudeevent

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/message"
)

// liveTurn is the state of the current turn.
type liveTurn struct {
	id      string
	n       int             // counts turns
	open    bool            // begun, without a result
	used    map[string]bool // ids of turns
	prompts []queuedPrompt  // prompts that have not begun a turn
	told    bool            // a prompt was seen: turns without one come from the agent or a task
	task    bool            // a task has ended since the last turn began
	sum     tokens          // sum over the answers so far
	context *int64          // tokens in the context window after the last answer
}

// queuedPrompt is a prompt that has not begun a turn.
type queuedPrompt struct {
	uuid   string
	queued bool // sent while a turn was running
}

// queue records a prompt that will begin a turn.
func (t *liveTurn) queue(uuid string) {
	t.told = true
	t.prompts = append(t.prompts, queuedPrompt{kept(uuid), t.open || len(t.prompts) > 0})
}

// joined removes the prompts that a turn has processed.
func (t *liveTurn) joined(uuids ...string) {
	done := map[string]bool{}
	for _, uuid := range uuids {
		done[uuid] = uuid != ""
	}
	// Processed prompts are at the front, because the CLI takes prompts in order.
	for len(t.prompts) > 0 && done[t.prompts[0].uuid] {
		t.prompts = t.prompts[1:]
	}
}

// begun returns who began a turn, and the id of its prompt.
func (t *liveTurn) begun() (by, prompt string) {
	switch {
	case len(t.prompts) > 0:
		p := t.prompts[0]
		t.prompts = t.prompts[1:]
		if p.queued {
			return event.ByQueue, p.uuid
		}
		return event.ByUser, p.uuid
	case t.task:
		return event.ByTask, ""
	case t.told:
		return event.ByAgent, ""
	}
	return event.ByUser, "" // this converter gets no prompts
}

// beginTurn begins a turn of the main thread, unless one is running.
func (c *Converter) beginTurn(parent, sessionID, uuid string) {
	if c.turn.open || parent != "" {
		return
	}
	by, prompt := c.turn.begun()
	c.startTurn(event.Header{SessionID: sessionID}, by, prompt, uuid)
}

// startTurn begins a turn. Its id is the id of its prompt or of its first line.
func (c *Converter) startTurn(h event.Header, by, prompt, line string) {
	t := &c.turn
	t.n++
	id := cmp.Or(prompt, line)
	if id == "" || t.used[id] {
		id = "turn-" + strconv.Itoa(t.n)
	}
	if t.used == nil {
		t.used = map[string]bool{}
	}
	t.id, t.open, t.task, t.sum = kept(id), true, false, tokens{}
	t.used[t.id] = true
	c.emit(&event.TurnStart{Header: h, TurnID: t.id, By: by, PromptID: prompt})
}

// promptEntry begins a turn at a person's prompt in a session file.
func (c *Converter) promptEntry(h event.Header, line event.JSON, m *message.User) {
	summary, _ := line.Member("isCompactSummary")
	if h.ParentToolUseID != "" || m.IsMeta || m.IsSynthetic || summary == "true" {
		return
	}
	text, isPrompt := promptText(m)
	if !isPrompt || strings.HasPrefix(text, "[Request interrupted") || strings.HasPrefix(text, "<local-command-") {
		return
	}
	by := event.ByUser
	if m.Origin != nil && m.Origin.Kind != "human" {
		by = event.ByAgent
		if m.Origin.Kind == "task-notification" {
			by = event.ByTask
		}
	}
	c.startTurn(event.Header{SessionID: h.SessionID}, by, h.UUID, h.UUID)
}

// promptText returns the first text of a user's message. It returns false for a message
// with a tool result or without blocks.
func promptText(m *message.User) (string, bool) {
	content := m.Message.Content
	if content.IsText() {
		return content.String(), true
	}
	blocks := content.Blocks()
	if slices.ContainsFunc(blocks, func(b message.ContentBlock) bool { _, ok := b.(*message.ToolResult); return ok }) {
		return "", false
	}
	for _, b := range blocks {
		if t, ok := b.(*message.Text); ok {
			return t.Text, true
		}
	}
	return "", len(blocks) > 0
}

// tokens are counts of tokens.
type tokens struct{ input, output, cacheCreation, cacheRead int64 }

// tokensOf returns the counts of a usage of the API.
func tokensOf(usage event.JSON) tokens {
	return tokens{
		input: count(usage, "input_tokens"), output: count(usage, "output_tokens"),
		cacheCreation: count(usage, "cache_creation_input_tokens"), cacheRead: count(usage, "cache_read_input_tokens"),
	}
}

// count returns a member that is a count: 0 if it is not a number, at most 2^53, the
// limit of exact integers in a double.
func count(object event.JSON, key string) int64 { return int64(min(max(object.Number(key), 0), 1<<53)) }

func plus(a, b int64) int64 { return min(a, math.MaxInt64-b) + b }

func (t *tokens) add(other tokens) {
	t.input, t.output = plus(t.input, other.input), plus(t.output, other.output)
	t.cacheCreation, t.cacheRead = plus(t.cacheCreation, other.cacheCreation), plus(t.cacheRead, other.cacheRead)
}

// context returns the number of tokens in the context window after an answer.
func (t tokens) context() int64 {
	return plus(plus(t.input, t.output), plus(t.cacheCreation, t.cacheRead))
}

// answered adds the usage of an answer of the main thread to its turn and emits the sum.
func (c *Converter) answered(h event.Header, model string, start, end event.JSON) {
	if end == "" || h.ParentToolUseID != "" {
		return
	}
	used := tokensOf(start)
	last := tokensOf(end)
	used.output = last.output
	used.input, used.cacheCreation, used.cacheRead = max(used.input, last.input), max(used.cacheCreation, last.cacheCreation), max(used.cacheRead, last.cacheRead)
	c.turn.sum.add(used)
	n := used.context()
	c.turn.context = &n
	c.emit(c.usage(event.Header{SessionID: h.SessionID}, model, c.turn.sum))
}

// usage returns the usage of the turn so far.
func (c *Converter) usage(h event.Header, model string, sum tokens) *event.Usage {
	model = cmp.Or(model, c.session.model)
	return &event.Usage{
		Header: h, TurnID: c.turn.id, Model: model, InputTokens: &sum.input, OutputTokens: &sum.output,
		CacheCreationInputTokens: &sum.cacheCreation, CacheReadInputTokens: &sum.cacheRead,
		ContextTokens: c.turn.context, ContextWindow: c.session.window(model),
	}
}
