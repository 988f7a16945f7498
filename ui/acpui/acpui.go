// Package acpui makes events of package ui of what an agent that speaks the Agent Client
// Protocol says. A [Converter] is pure: it reads no clock and no file.
package acpui

import (
	"encoding/json"
	"strconv"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/ui"
)

// Converter makes events of the updates of one session. Its zero value, with Provider set,
// is ready; it is not safe for concurrent use.
type Converter struct {
	Provider  string // in the header of every event
	SessionID string
	Partial   bool // deltas are wanted, not only whole messages

	out     []ui.Event
	turns   int
	turn    string // the id of the turn that runs; empty between turns
	message string // the id of the message that is open; empty if none is
	count   int    // of messages
	blocks  []ui.IndexedBlock
	open    string          // the type of the block that is open: text, thinking; empty if none is
	known   map[string]bool // tool calls that have begun and not ended
}

func (c *Converter) begin() { c.out = c.out[:0] }

func (c *Converter) header() ui.Header {
	return ui.Header{Provider: c.Provider, SessionID: c.SessionID, MessageID: c.message}
}

func (c *Converter) emit(ev ui.Event) {
	h := ev.Head()
	h.Provider, h.SessionID = c.Provider, c.SessionID
	c.out = append(c.out, ev)
}

// Prompt returns the events of a prompt that was given to the agent. The slice is good until
// the next call of a method, as for all of them.
func (c *Converter) Prompt(uuid string, blocks []ui.Content) []ui.Event {
	c.begin()
	c.emit(&ui.UserMessage{Header: ui.Header{UUID: uuid}, Blocks: blocks, IsPrompt: true})
	return c.out
}

// Turn returns the events for the start of a turn. Without the id of a prompt the turn gets a
// number.
func (c *Converter) Turn(prompt string) []ui.Event {
	c.begin()
	c.turns++
	c.turn = prompt
	if c.turn == "" {
		c.turn = "turn-" + strconv.Itoa(c.turns)
	}
	c.emit(&ui.TurnStart{TurnID: c.turn, By: ui.ByUser, PromptID: prompt})
	return c.out
}

// Update returns the events of one session update of the agent. Updates of unknown kinds become
// unknown events.
func (c *Converter) Update(u *acp.SessionUpdate) []ui.Event {
	c.begin()
	if c.known == nil {
		c.known = map[string]bool{}
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
		ev := &ui.Usage{TurnID: c.turn, ContextTokens: &v.Used, ContextWindow: &v.Size}
		if cost, ok := v.Cost.Get(); ok && cost.Currency == "USD" {
			ev.CostUSD = &cost.Amount
		}
		c.emit(ev)
	case *acp.CurrentModeUpdate:
		mode := string(v.CurrentModeID)
		c.emit(&ui.SessionInfo{PermissionMode: &mode})
	case *acp.SessionInfoUpdate:
		if title, ok := v.Title.Get(); ok {
			c.emit(&ui.SessionInfo{Title: &title})
		}
	case *acp.AvailableCommandsUpdate:
		c.emit(&ui.SessionInfo{Commands: encoded(v.AvailableCommands)})
	case *acp.Notice:
		c.emit(&ui.Notice{Severity: string(v.Severity), Text: v.Title})
	case *acp.CompactionUpdate:
		if v.Status == acp.CompactionStatusCompleted {
			c.emit(&ui.CompactBoundary{})
		} else {
			c.emit(&ui.Status{Status: "compacting"})
		}
	default:
		c.emit(&ui.Unknown{OriginalType: "session_update/" + u.SessionUpdate, Data: encoded(u)})
	}
	return c.out
}

// encoded is a value of this protocol as JSON.
func encoded(v any) ui.JSON {
	text, err := json.Marshal(v)
	if err != nil {
		return "null" // generated types
	}
	return ui.NewJSON(string(text))
}

// chunk adds to a message of the agent. A prompt that comes back is known already.
func (c *Converter) chunk(kind string, v *acp.ContentChunk) {
	if kind == acp.SessionUpdateIsUserMessageChunk {
		return
	}
	block := "text"
	if kind == acp.SessionUpdateIsAgentThoughtChunk {
		block = "thinking"
	}
	if id := string(v.MessageID.Or("")); id != "" && c.message != "" && id != c.message {
		c.endMessage()
	}
	c.startMessage(string(v.MessageID.Or("")))
	t, ok := v.Content.Value.(*acp.TextContent)
	if !ok {
		c.endBlock()
		content := ui.ContentOf(encoded(v.Content))
		c.blocks = append(c.blocks, ui.IndexedBlock{Index: int64(len(c.blocks)), Block: content})
		if c.Partial {
			c.emit(&ui.BlockStart{Header: c.header(), Index: int64(len(c.blocks)) - 1, BlockType: content.Type, Block: content.Raw})
			c.emit(&ui.BlockStop{Header: c.header(), Index: int64(len(c.blocks)) - 1})
		}
		return
	}
	c.text(block, t.Text)
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
		c.emit(&ui.MessageStart{Header: c.header()})
	}
}

// text adds to a block of text or thinking.
func (c *Converter) text(block, text string) {
	if c.open != block {
		c.endBlock()
		c.open = block
		c.blocks = append(c.blocks, ui.IndexedBlock{Index: int64(len(c.blocks)), Block: ui.Content{Type: block}})
		if c.Partial && block == "text" {
			c.emit(&ui.TextStart{Header: c.header(), Index: int64(len(c.blocks)) - 1})
		} else if c.Partial {
			c.emit(&ui.ThinkingStart{Header: c.header(), Index: int64(len(c.blocks)) - 1})
		}
	}
	last := &c.blocks[len(c.blocks)-1]
	last.Block.Text += text
	switch {
	case !c.Partial:
	case block == "text":
		c.emit(&ui.TextDelta{Header: c.header(), Index: last.Index, Text: text})
	default:
		c.emit(&ui.ThinkingDelta{Header: c.header(), Index: last.Index, Thinking: text})
	}
}

// endBlock ends the block that is open.
func (c *Converter) endBlock() {
	if c.open == "" {
		return
	}
	last := &c.blocks[len(c.blocks)-1]
	key := c.open
	if key == "text" {
		last.Block.Raw = ui.TextContent(last.Block.Text).Raw
	} else {
		last.Block.Raw = ui.JSON(`{"type":"thinking","thinking":` + ui.Quote(last.Block.Text) + `}`)
	}
	c.open = ""
	if c.Partial {
		c.emit(&ui.BlockStop{Header: c.header(), Index: last.Index})
	}
}

// endMessage ends the message that is open, with the whole of it.
func (c *Converter) endMessage() {
	if c.message == "" {
		return
	}
	c.endBlock()
	c.emit(&ui.AssistantMessage{Header: c.header(), Blocks: c.blocks, StopReason: "end_turn"})
	if c.Partial {
		c.emit(&ui.MessageComplete{Header: c.header(), StopReason: "end_turn"})
	}
	c.message, c.blocks = "", nil
}

// plan is the whole plan.
func (c *Converter) plan(v *acp.Plan) {
	ev := &ui.Plan{Entries: []ui.PlanEntry{}}
	for _, e := range v.Entries {
		ev.Entries = append(ev.Entries, ui.PlanEntry{Content: e.Content, Status: string(e.Status), Priority: string(e.Priority)})
	}
	c.emit(ev)
}
