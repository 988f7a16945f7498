package rollout

import (
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/codex/item"
)

// rawCall is a tool call and its output among the raw responses.
type rawCall struct {
	id, name, namespace string
	arguments           item.JSON
	input               string // of a custom tool
	output              *string
	raw                 item.JSON
}

// legacy adds the content of an event of the mode legacy.
func (b *builder) legacy(e *event) {
	head := func(id string) item.ItemHead { return item.ItemHead{ID: id} }
	id := "item-" + strconv.Itoa(len(b.c.Turns)) + "-" + strconv.Itoa(b.count())
	if e.Type != "agent_reasoning" && e.Type != "agent_reasoning_raw_content" {
		b.summary = nil
	}
	switch e.Type {
	case "user_message":
		content := []item.Input{&item.Text{Text: e.Message}}
		for _, url := range e.Images {
			content = append(content, &item.Image{URL: url})
		}
		for _, path := range e.LocalImages {
			content = append(content, &item.LocalImage{Path: path})
		}
		b.put("", &item.UserMessage{ItemHead: head(id), Content: content})
	case "agent_message":
		b.put("", &item.AgentMessage{ItemHead: head(id), Text: e.Message, Phase: e.Phase})
	case "agent_reasoning":
		r := b.reasoning(id)
		r.Summary = append(r.Summary, e.Text)
	case "agent_reasoning_raw_content":
		r := b.reasoning(id)
		r.Content = append(r.Content, e.Text)
	case "patch_apply_end":
		b.put(e.TurnID, &item.FileChange{ItemHead: head(e.CallID), Changes: convertChanges(e.Changes), Status: camel(e.Status)})
	case "mcp_tool_call_end":
		b.put("", legacyMCP(e))
	case "context_compacted":
		b.put("", &item.ContextCompaction{ItemHead: head(id)})
	case "entered_review_mode":
		b.put(e.TurnID, &item.EnteredReviewMode{ItemHead: head(e.ItemID), Review: e.UserFacingHint})
	case "exited_review_mode":
		b.put(e.TurnID, &item.ExitedReviewMode{ItemHead: head(e.ItemID), Review: reviewText(e.ReviewOutput)})
	}
}

func (b *builder) count() int {
	if b.turn == nil {
		return 0
	}
	return len(b.turn.Items)
}

// reasoning returns the item that parts of the reasoning are added to.
func (b *builder) reasoning(id string) *item.Reasoning {
	if b.summary == nil {
		r := &item.Reasoning{ItemHead: item.ItemHead{ID: id}}
		b.put("", r) // may start a turn, which has no summary yet
		b.summary = r
	}
	return b.summary
}

func legacyMCP(e *event) item.Item {
	var in struct {
		Server    string    `json:"server"`
		Tool      string    `json:"tool"`
		Arguments item.JSON `json:"arguments"`
	}
	var out struct {
		OK  *item.MCPResult `json:"Ok"`
		Err string          `json:"Err"`
	}
	_ = item.DecodeValue(e.Invocation, &in)
	_ = item.DecodeValue(e.Result, &out)
	call := &item.MCPToolCall{
		ItemHead: item.ItemHead{ID: e.CallID}, Server: in.Server, Tool: in.Tool, Arguments: in.Arguments,
		Status: item.StatusCompleted, Result: out.OK, DurationMs: e.Duration.ms(),
	}
	if out.OK == nil {
		call.Status, call.Error = item.StatusFailed, &item.MCPError{Message: out.Err}
	}
	return call
}

func reviewText(output item.JSON) string {
	var r struct {
		Explanation string `json:"overall_explanation"`
	}
	_ = item.DecodeValue(output, &r)
	return r.Explanation
}

// response stores the tool calls among the raw responses of a turn.
func (b *builder) response(raw item.JSON) {
	if b.turn == nil {
		return
	}
	var r struct {
		Type      string    `json:"type"`
		CallID    string    `json:"call_id"`
		Name      string    `json:"name"`
		Namespace string    `json:"namespace"`
		Arguments string    `json:"arguments"`
		Input     string    `json:"input"`
		Output    item.JSON `json:"output"`
	}
	if item.DecodeValue(raw, &r) != nil {
		return
	}
	switch r.Type {
	case "function_call", "custom_tool_call", "local_shell_call":
		c := &rawCall{id: r.CallID, name: r.Name, namespace: r.Namespace, arguments: item.JSON(r.Arguments), input: r.Input, raw: raw}
		b.calls[r.CallID] = c
		b.order = append(b.order, c)
	case "function_call_output", "custom_tool_call_output":
		if c := b.calls[r.CallID]; c != nil {
			text := outputText(r.Output)
			c.output = &text
		}
	}
}

// outputText returns the text of an output: a string, or a list of parts.
func outputText(j item.JSON) string {
	var s string
	if j.Decode(&s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if item.DecodeValue(j, &parts) != nil {
		return string(j)
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// rest adds the calls of a turn without an item: all commands of the mode legacy, and in both modes
// calls that the server does not show, such as those of unknown tools.
func (b *builder) rest() {
	for _, c := range b.order {
		if b.items[c.id] || b.turn == nil {
			continue
		}
		b.turn.Items = append(b.turn.Items, c.item())
	}
}

// item converts a call to an item: a command, or a generic tool call with its data.
func (c *rawCall) item() item.Item {
	head := item.ItemHead{ID: c.id}
	switch c.name {
	case "exec_command", "shell", "shell_command", "local_shell":
		return c.command(head)
	}
	args := c.arguments
	if args == "" || !jsonValid(args) {
		args = item.ValueOf(string(c.arguments) + c.input)
	}
	call := &item.DynamicToolCall{ItemHead: head, Namespace: c.namespace, Tool: c.name, Arguments: args, Status: item.StatusInterrupted}
	if c.output != nil {
		call.Status = item.StatusCompleted
		call.ContentItems = []item.ToolContent{{Type: "inputText", Text: c.output}}
	}
	return call
}

func jsonValid(j item.JSON) bool {
	var v any
	return j.Decode(&v) == nil
}

func (c *rawCall) command(head item.ItemHead) item.Item {
	var args struct {
		Cmd     string    `json:"cmd"`
		Command item.JSON `json:"command"`
		Workdir string    `json:"workdir"`
	}
	_ = item.DecodeValue(c.arguments, &args)
	cmd := &item.CommandExecution{ItemHead: head, Command: args.Cmd, CWD: args.Workdir, Status: item.StatusInterrupted}
	var argv []string
	if args.Command != "" && args.Command.Decode(&argv) == nil {
		cmd.Command = shellJoin(argv)
	} else if cmd.Command == "" && args.Command != "" {
		_ = args.Command.Decode(&cmd.Command)
	}
	if c.output == nil {
		return cmd
	}
	code, text := splitOutput(*c.output)
	cmd.Status, cmd.AggregatedOutput, cmd.ExitCode = item.StatusCompleted, &text, code
	if code == nil || *code != 0 { // without a code the command did not run, or its end was not awaited
		cmd.Status = item.StatusFailed
	}
	return cmd
}

// splitOutput removes the lines that the server puts before an output for the model.
func splitOutput(s string) (code *int64, text string) {
	head, rest, ok := strings.Cut(s, "\nOutput:\n")
	if !ok {
		return nil, s
	}
	for line := range strings.Lines(head) {
		if n, found := strings.CutPrefix(strings.TrimSpace(line), "Process exited with code "); found {
			if v, err := strconv.ParseInt(n, 10, 64); err == nil {
				code = &v
			}
		}
	}
	return code, rest
}
