package ui

import "github.com/seed7221b0f9/parley/claude"

// pendingPrompt is a request to a person that has no answer yet.
type pendingPrompt struct {
	question  bool
	kind      string
	toolUseID string
}

// Ask returns the events of a request of the CLI that a person has to answer: the
// request of a control_request with the subtype can_use_tool or elicitation, as the
// wire has it. Other requests have none. The slice is good until the next call of a
// method.
func (c *Converter) Ask(requestID string, request claude.JSON) []Event {
	c.out = c.out[:0]
	request = checked(request)
	str := func(key string) string {
		j, _ := member(request, key)
		return text(j)
	}
	raw := func(key string) claude.JSON {
		j, _ := member(request, key)
		return present(j)
	}
	p := pendingPrompt{toolUseID: kept(str("tool_use_id"))}
	switch subtype, tool := str("subtype"), str("tool_name"); {
	case subtype == "can_use_tool" && tool == claude.ToolAskUserQuestion:
		p.question, p.kind = true, QuestionAsk
		questions, _ := member(raw("input"), "questions")
		c.emit(&QuestionRequest{Kind: p.kind, RequestID: requestID, ToolUseID: p.toolUseID, Questions: present(questions), Data: request})
	case subtype == "can_use_tool":
		p.kind = PermissionTool
		if tool == claude.ToolExitPlanMode {
			p.kind = PermissionPlan
		}
		c.emit(&PermissionRequest{
			Kind: p.kind, RequestID: requestID, ToolUseID: p.toolUseID, ToolName: tool, DisplayName: str("display_name"),
			Description: str("description"), Input: raw("input"), Suggestions: raw("permission_suggestions"),
			BlockedPath: str("blocked_path"), AgentID: str("agent_id"), Data: request,
		})
	case subtype == "elicitation":
		p.question, p.kind = true, QuestionElicitation
		c.emit(&QuestionRequest{
			Kind: p.kind, RequestID: requestID, MCPServerName: str("mcp_server_name"), Message: str("message"), Mode: str("mode"),
			Schema: raw("requested_schema"), URL: str("url"), Data: request,
		})
	default:
		return c.out
	}
	if c.pending == nil {
		c.pending = map[string]pendingPrompt{}
	}
	c.pending[kept(requestID)] = p
	return c.out
}

// Answer returns the events of an answer to a request that [Converter.Ask] was told
// of: the response that goes to the CLI, as the wire has it, and who gave it. A
// response that is absent means that the request was taken back. An answer to a
// request that is not open has none: the first counts. The slice is good until the
// next call of a method.
func (c *Converter) Answer(requestID string, response claude.JSON, by string) []Event {
	c.out = c.out[:0]
	p, ok := c.pending[requestID]
	if !ok {
		return c.out
	}
	delete(c.pending, requestID)
	response = checked(response)
	str := func(key string) string {
		j, _ := member(response, key)
		return text(j)
	}
	switch {
	case !p.question:
		behavior := str("behavior")
		if behavior == "" {
			behavior = "cancelled"
		}
		c.emit(&PermissionResolved{RequestID: requestID, ToolUseID: p.toolUseID, Behavior: behavior, Message: str("message"), By: by})
	case p.kind == QuestionAsk:
		input, _ := member(response, "updatedInput")
		answers, _ := member(input, "answers")
		action := map[string]string{"allow": "accept", "deny": "decline"}[str("behavior")]
		if action == "" {
			action = "cancel"
		}
		c.emit(&QuestionResolved{RequestID: requestID, ToolUseID: p.toolUseID, Action: action, Answers: present(answers), By: by})
	default:
		action := str("action")
		if action == "" {
			action = "cancel"
		}
		content, _ := member(response, "content")
		c.emit(&QuestionResolved{RequestID: requestID, Action: action, Answers: present(content), By: by})
	}
	return c.out
}
