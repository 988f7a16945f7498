// Package acpevent converts the messages of an agent of the Agent Client Protocol to events. A
// [Converter] is pure: it reads no clock and no file.
package acpevent

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent/event"
)

// Converter converts the updates of one session to events. Its zero value, with Provider set, is
// ready; it is not safe for concurrent use.
type Converter struct {
	Provider  string // in the header of every event
	SessionID string
	Partial   bool // emit deltas, not only complete messages
	Replay    bool // the updates are the replay of a loaded session, and include prompts

	out     []event.Event
	turns   int
	turn    string // the id of the running turn; "" between turns
	message string // the id of the open message; "" if none is open
	count   int    // number of messages
	blocks  []event.IndexedBlock
	open    string           // the type of the open block: text, thinking; "" if none is open
	calls   map[string]*call // tool calls by id; an ended call is kept until the next turn
	asking  []event.Content  // the incomplete prompt of a replay
}

func (c *Converter) begin() { c.out = c.out[:0] }

func (c *Converter) header() event.Header {
	return event.Header{Provider: c.Provider, SessionID: c.SessionID, MessageID: c.message}
}

func (c *Converter) emit(ev event.Event) {
	h := ev.Head()
	h.Provider, h.SessionID = c.Provider, c.SessionID
	c.out = append(c.out, ev)
}

// Prompt returns the events of a prompt to the agent. The slice of this and every other method is
// valid until the next call of a method.
func (c *Converter) Prompt(uuid string, blocks []event.Content) []event.Event {
	c.begin()
	c.emit(&event.UserMessage{Header: event.Header{UUID: uuid}, Blocks: blocks, IsPrompt: true})
	return c.out
}

// Turn returns the events for the start of a turn. Without the id of a prompt it numbers the turn.
func (c *Converter) Turn(prompt string) []event.Event {
	c.begin()
	c.endMessage()
	maps.DeleteFunc(c.calls, func(_ string, k *call) bool { return (k.ended || k.message == "") && len(k.asks) == 0 })
	c.turns++
	c.turn = prompt
	if c.turn == "" {
		c.turn = "turn-" + strconv.Itoa(c.turns)
	}
	c.emit(&event.TurnStart{TurnID: c.turn, By: event.ByUser, PromptID: prompt})
	return c.out
}

// Update returns the events of one session update of the agent. An update of an unknown kind
// becomes an unknown event.
func (c *Converter) Update(u *acp.SessionUpdate) []event.Event {
	c.begin()
	if _, more := u.Value.(*acp.ContentChunk); !more && c.turn == "" {
		c.endMessage() // of a turn without a prompt, which no message ends
	}
	switch v := u.Value.(type) {
	case *acp.ContentChunk:
		c.chunk(u.SessionUpdate, v)
	case *acp.ToolCall:
		c.toolCall(v)
	case *acp.ToolCallUpdate:
		c.toolUpdate(v)
	case *acp.Plan:
		c.plan(v)
	case *acp.UsageUpdate:
		ev := &event.Usage{TurnID: c.turn, ContextTokens: &v.Used, ContextWindow: &v.Size}
		if cost, ok := v.Cost.Get(); ok && cost.Currency == "USD" {
			ev.CostUSD = &cost.Amount
		}
		c.emit(ev)
	case *acp.CurrentModeUpdate:
		c.mode(string(v.CurrentModeID))
	case *acp.ConfigOptionUpdate: // [Settings] processes them
	case *acp.SessionInfoUpdate:
		if title, ok := v.Title.Get(); ok {
			c.emit(&event.SessionInfo{Title: &title})
		}
	case *acp.AvailableCommandsUpdate:
		c.commands(v.AvailableCommands)
	case *acp.Notice:
		c.emit(&event.Notice{Severity: string(v.Severity), Text: v.Title})
	case *acp.CompactionUpdate:
		if v.Status == acp.CompactionStatusCompleted {
			c.emit(&event.CompactBoundary{})
		} else {
			c.emit(&event.Status{Status: "compacting"})
		}
	default:
		c.emit(&event.Unknown{OriginalType: "session_update/" + u.SessionUpdate, Data: encoded(u)})
	}
	return c.out
}

// Unknown returns the event for an unknown update, with its unchanged parameters.
func (c *Converter) Unknown(params event.JSON) []event.Event {
	c.begin()
	c.emit(&event.Unknown{OriginalType: "session_update", Data: params})
	return c.out
}

// Mode returns the event for the current mode of the session, or no event for an empty mode.
func (c *Converter) Mode(mode string) []event.Event {
	c.begin()
	c.mode(mode)
	return c.out
}

func (c *Converter) mode(mode string) {
	if mode != "" {
		c.emit(&event.SessionInfo{PermissionMode: &mode})
	}
}

// Commands returns the event for the commands of the session, or no event if there are no commands.
func (c *Converter) Commands(list []acp.AvailableCommand) []event.Event {
	c.begin()
	if len(list) > 0 {
		c.commands(list)
	}
	return c.out
}

func (c *Converter) commands(list []acp.AvailableCommand) {
	c.emit(&event.SessionInfo{Commands: encoded(list)})
}

// Model returns the event for the current model of the session, or no event for an empty model.
func (c *Converter) Model(model string) []event.Event {
	c.begin()
	if model != "" {
		c.emit(&event.SessionInfo{Model: &model})
	}
	return c.out
}

// encoded returns a value of this protocol as JSON.
func encoded(v any) event.JSON {
	return cmp.Or(event.Encoded(v), "null")
}

// chunk adds a chunk to a message of the agent. It ignores the agent's copies of prompts, except in a
// replay. A chunk can have an empty text: some agents send such chunks with extensions.
func (c *Converter) chunk(kind string, v *acp.ContentChunk) {
	t, isText := v.Content.Value.(*acp.TextContent)
	if isText && t.Text == "" {
		return
	}
	if kind == acp.SessionUpdateIsUserMessageChunk {
		if c.Replay {
			c.past(v)
		}
		return
	}
	c.asking = nil
	block := "text"
	if kind == acp.SessionUpdateIsAgentThoughtChunk {
		block = "thinking"
	}
	if id := string(v.MessageID.Or("")); id != "" && c.message != "" && id != c.message {
		c.endMessage()
	}
	c.startMessage(string(v.MessageID.Or("")))
	if !isText {
		c.endBlock()
		content := event.ContentOf(encoded(v.Content))
		c.blocks = append(c.blocks, event.IndexedBlock{Index: int64(len(c.blocks)), Block: content})
		if c.Partial {
			c.emit(&event.BlockStart{Header: c.header(), Index: int64(len(c.blocks)) - 1, BlockType: content.Type, Block: content.Raw})
			c.emit(&event.BlockStop{Header: c.header(), Index: int64(len(c.blocks)) - 1})
		}
		return
	}
	c.text(block, t.Text)
}

// past adds a chunk to a replayed prompt and emits the prompt as far as it is known.
func (c *Converter) past(v *acp.ContentChunk) {
	c.endMessage()
	if c.asking == nil {
		c.turns++
	}
	c.asking = append(c.asking, event.ContentOf(encoded(v.Content)))
	id := string(v.MessageID.Or(acp.MessageID("prompt-" + strconv.Itoa(c.turns))))
	c.emit(&event.UserMessage{Header: event.Header{UUID: id}, Blocks: slices.Clone(c.asking), IsPrompt: true})
}

func (c *Converter) startMessage(id string) {
	if c.message != "" {
		return
	}
	c.count++
	if id == "" {
		id = "message-" + strconv.Itoa(c.count)
	}
	c.message, c.blocks = id, nil
	if c.Partial {
		c.emit(&event.MessageStart{Header: c.header()})
	}
}

// text adds a piece to a block of text or thinking.
func (c *Converter) text(block, text string) {
	if c.open != block {
		c.endBlock()
		c.open = block
		c.blocks = append(c.blocks, event.IndexedBlock{Index: int64(len(c.blocks)), Block: event.Content{Type: block}})
		if c.Partial && block == "text" {
			c.emit(&event.TextStart{Header: c.header(), Index: int64(len(c.blocks)) - 1})
		} else if c.Partial {
			c.emit(&event.ThinkingStart{Header: c.header(), Index: int64(len(c.blocks)) - 1})
		}
	}
	last := &c.blocks[len(c.blocks)-1]
	last.Block.Text += text
	switch {
	case !c.Partial:
	case block == "text":
		c.emit(&event.TextDelta{Header: c.header(), Index: last.Index, Text: text})
	default:
		c.emit(&event.ThinkingDelta{Header: c.header(), Index: last.Index, Thinking: text})
	}
}

// endBlock ends the open block.
func (c *Converter) endBlock() {
	if c.open == "" {
		return
	}
	last := &c.blocks[len(c.blocks)-1]
	key := c.open
	if key == "text" {
		last.Block.Raw = event.TextContent(last.Block.Text).Raw
	} else {
		last.Block.Raw = event.JSON(`{"type":"thinking","thinking":` + event.Quote(last.Block.Text) + `}`)
	}
	c.open = ""
	if c.Partial {
		c.emit(&event.BlockStop{Header: c.header(), Index: last.Index})
	}
}

// endMessage ends the open message and emits it completely.
func (c *Converter) endMessage() {
	if c.message == "" {
		return
	}
	c.endBlock()
	c.emit(&event.AssistantMessage{Header: c.header(), Blocks: c.blocks, StopReason: "end_turn"})
	if c.Partial {
		c.emit(&event.MessageComplete{Header: c.header(), StopReason: "end_turn"})
	}
	c.message, c.blocks = "", nil
}

// plan returns the event with the whole plan.
func (c *Converter) plan(v *acp.Plan) {
	ev := &event.Plan{Entries: []event.PlanEntry{}}
	for _, e := range v.Entries {
		ev.Entries = append(ev.Entries, event.PlanEntry{Content: e.Content, Status: string(e.Status), Priority: string(e.Priority)})
	}
	c.emit(ev)
}
