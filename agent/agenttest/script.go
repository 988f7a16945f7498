package agenttest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
)

// say streams an answer and then emits the complete message.
func (t *turn) say(thinking, text string) error {
	if err := t.stream(thinking, text); err != nil {
		return err
	}
	var blocks []event.IndexedBlock
	if thinking != "" {
		blocks = append(blocks, event.IndexedBlock{Block: event.Content{Type: "thinking", Text: thinking,
			Raw: encoded(map[string]string{"type": "thinking", "thinking": thinking})}})
	}
	blocks = append(blocks, event.IndexedBlock{Index: int64(len(blocks)), Block: textContent(text)})
	return t.whole(text, blocks)
}

// whole emits the complete message after it was streamed.
func (t *turn) whole(text string, blocks []event.IndexedBlock) error {
	uuid := random.UUID()
	if err := t.s.provider.write(t.s.id, line{Role: "assistant", UUID: uuid, Text: text}); err != nil {
		return err
	}
	t.emit(&event.AssistantMessage{Header: t.header(uuid), Model: t.s.model, Blocks: blocks})
	if used := t.s.opts.OnUsed; used != nil {
		used(agent.Used{MessageID: t.messageID, Model: t.s.model, Tokens: agent.Tokens{Input: 10, Output: 5}})
	}
	if t.s.opts.Partial {
		t.emit(&event.MessageComplete{Header: t.header(""), StopReason: "end_turn", Usage: `{"output_tokens":5}`})
	}
	return nil
}

func (t *turn) header(uuid string) event.Header {
	return event.Header{MessageID: t.messageID, UUID: uuid}
}

// stream streams an answer word by word, if deltas are enabled. If it is interrupted, it stops the
// open blocks.
func (t *turn) stream(thinking, text string) error {
	t.messageID = t.number("msg")
	if !t.s.opts.Partial {
		return t.ended()
	}
	t.emit(&event.MessageStart{Header: t.header(""), Model: t.s.model})
	index := int64(0)
	for i, block := range []string{thinking, text} {
		if block == "" {
			continue
		}
		if err := t.block(index, i == 0, block); err != nil {
			t.emit(&event.BlockStop{Header: t.header(""), Index: index, Incomplete: true})
			t.emit(&event.MessageComplete{Header: t.header(""), Incomplete: true})
			return err
		}
		t.emit(&event.BlockStop{Header: t.header(""), Index: index})
		index++
	}
	return nil
}

func (t *turn) block(index int64, thinking bool, text string) error {
	if thinking {
		t.emit(&event.ThinkingStart{Header: t.header(""), Index: index})
	} else {
		t.emit(&event.TextStart{Header: t.header(""), Index: index})
	}
	for i, word := range strings.SplitAfter(text, " ") {
		if i > 0 {
			if err := t.pause(); err != nil {
				return err
			}
		}
		if thinking {
			t.emit(&event.ThinkingDelta{Header: t.header(""), Index: index, Thinking: word})
		} else {
			t.emit(&event.TextDelta{Header: t.header(""), Index: index, Text: word})
		}
	}
	return t.ended()
}

// tool uses a tool, and asks for permission first if ask is set.
func (t *turn) tool(name string, ask bool, output string) error {
	if name == "" {
		name = "Bash"
	}
	id := t.number("toolu")
	input := encoded(map[string]string{"command": "echo done"})
	t.messageID = t.number("msg")
	if t.s.opts.Partial {
		t.emit(&event.MessageStart{Header: t.header(""), Model: t.s.model})
		t.emit(&event.ToolStart{Header: t.header(""), ToolUseID: id, Name: name, BlockType: "tool_use"})
		t.emit(&event.ToolInputDelta{Header: t.header(""), ToolUseID: id, PartialJSON: string(input)})
		t.emit(&event.BlockStop{Header: t.header("")})
	}
	block := event.Content{Type: "tool_use", ToolUseID: id, Name: name, Input: input,
		Raw: encoded(map[string]any{"type": "tool_use", "id": id, "name": name, "input": json.RawMessage(input)})}
	if err := t.whole("", []event.IndexedBlock{{Block: block}}); err != nil {
		return err
	}
	denied := ""
	if ask && t.s.requiresPermission() {
		var err error
		if denied, err = t.permission(name, id, input); err != nil {
			return err
		}
	}
	t.emit(&event.ToolProgress{ToolUseID: id, ToolName: name, ElapsedSeconds: 1, Heartbeat: true})
	result := &event.ToolComplete{Header: event.Header{UUID: random.UUID()}, ToolUseID: id, Content: encoded(output)}
	if denied != "" {
		result.Content, result.IsError = encoded(denied), true
	}
	t.emit(result)
	if denied != "" {
		return t.say("", "I was not allowed to.")
	}
	return t.say("", "I have used "+name+".")
}

// requiresPermission reports whether the permission mode requires asking a person.
func (s *Session) requiresPermission() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode != "bypassPermissions"
}

// permission asks for permission; denied is the reason of a denial.
func (t *turn) permission(name, toolUseID string, input jsonText) (denied string, err error) {
	id := t.number("req")
	a, err := t.ask(id, &event.PermissionRequest{
		Kind: event.PermissionTool, RequestID: id, ToolUseID: toolUseID, ToolName: name, Description: "use " + name, Input: input,
	})
	end := event.Resolution{Behavior: event.ResolvedCancelled}
	if p, ok := a.(*agent.PermissionAnswer); ok {
		end.Behavior = event.ResolvedAllow
		if !p.Allow {
			end.Behavior, end.Message = event.ResolvedDeny, p.Message
			denied = "denied: " + p.Message
			if p.Interrupt {
				err = errInterrupted
			}
		}
	}
	t.emit(event.Resolve(event.Header{}, false, id, toolUseID, end))
	return denied, err
}

// ask opens a request and waits for its answer, which is nil if the request was withdrawn.
func (t *turn) ask(id string, ask event.Event) (agent.Answer, error) {
	t.emit(ask)
	r := t.s.kit.Request(id)
	if r == nil {
		return nil, errInterrupted
	}
	a, err := t.s.kit.Wait(t.ctx, r)
	if err != nil {
		return nil, errInterrupted
	}
	return a, nil
}

// question asks the person something and replies with the answer.
func (t *turn) question(word string) error {
	id := t.number("req")
	if word == "plan" {
		return t.plan(id)
	}
	ask := &event.QuestionRequest{Kind: event.QuestionAsk, RequestID: id, ToolUseID: t.number("toolu"),
		Questions: []event.Question{{Question: "Which?", Header: "Pick", Options: []event.QuestionOption{{Label: "A"}, {Label: "B"}}}}}
	if word == "elicit" {
		ask = &event.QuestionRequest{Kind: event.QuestionElicitation, RequestID: id, MCPServerName: "demo", Message: "Your name?", Mode: "form",
			Schema: `{"type":"object","properties":{"name":{"type":"string"}}}`}
	}
	a, err := t.ask(id, ask)
	end := event.Resolution{Behavior: "cancel"}
	switch a := a.(type) {
	case *agent.QuestionAnswer:
		end.Behavior, end.Answers = "accept", jsonText(a.Joined())
		if a.Declined {
			end.Behavior = "decline"
		}
	case *agent.ElicitationAnswer:
		end.Behavior, end.Answers = a.Action, jsonText(a.Content)
	}
	t.emit(event.Resolve(event.Header{}, true, id, ask.ToolUseID, end))
	if err != nil {
		return err
	}
	return t.say("", fmt.Sprintf("You said %s %s", end.Behavior, end.Answers))
}

func (t *turn) plan(id string) error {
	a, err := t.ask(id, &event.PermissionRequest{Kind: event.PermissionPlan, RequestID: id, ToolUseID: t.number("toolu"), ToolName: "ExitPlanMode",
		Input: encoded(map[string]string{"plan": "1. Do it."})})
	end := event.Resolution{Behavior: event.ResolvedCancelled}
	if p, ok := a.(*agent.PlanAnswer); ok {
		end.Behavior, end.Message = event.ResolvedDeny, p.Message
		if p.Approve {
			end.Behavior = event.ResolvedAllow
			if p.Mode != "" {
				t.s.mu.Lock()
				t.s.mode = p.Mode
				t.s.mu.Unlock()
			}
		}
	}
	t.emit(event.Resolve(event.Header{}, false, id, "", end))
	if err != nil {
		return err
	}
	return t.say("", "The plan: "+end.Behavior)
}

// task starts a task that runs until it is stopped.
func (t *turn) task() error {
	id := t.number("task")
	t.s.mu.Lock()
	t.s.tasks[id] = true
	t.s.mu.Unlock()
	t.emit(&event.TaskStarted{TaskID: id, TaskType: "local_bash", Description: "sleep", IsBackgrounded: true})
	return t.say("", "Started "+id)
}
