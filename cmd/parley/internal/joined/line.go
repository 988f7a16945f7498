package joined

import (
	"errors"
	"fmt"
	"maps"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/agents"
)

// Line returns the line to write to an agent, or an error if the server may not send it.
func (p *Policy) Line(agent string, line []byte) ([]byte, error) {
	if agent != agents.Claude {
		return nil, fmt.Errorf("agent %q does not accept lines from a server", agent)
	}
	m, err := decode(line)
	if err != nil {
		return nil, err
	}
	if err := p.line(m); err != nil {
		return nil, err
	}
	return encode(m)
}

// message accepts a line to Claude Code: a prompt, an answer to one of its requests, or a request that neither starts a program nor changes
// settings.
func (p *Policy) message() shape {
	return variant("type", map[string]members{
		"user":                   {"message": object(members{"role": one("user"), "content": either(text, list(variant("type", blocks())))}), "parent_tool_use_id": either(null, text), "session_id": text, "uuid": text, "priority": one("now", "next", "later"), "shouldQuery": boolean, "client_composed": boolean},
		"control_cancel_request": {"request_id": text},
		"control_request":        {"request_id": text, "request": variant("subtype", p.requests())},
		"control_response":       {"response": variant("subtype", map[string]members{"error": {"request_id": text, "error": text, "error_code": text}, "success": {"request_id": text, "response": p.answer()}})},
	})
}

// source accepts the source of an image or a document unless it is a file on the machine.
func source(types ...string) shape {
	return object(members{"type": one(types...), "media_type": text, "data": text, "url": text})
}

var cacheControl = object(members{"type": text, "ttl": text})

// parts are the blocks that both a prompt and a tool result may contain.
var parts = map[string]members{
	"text":     {"text": text, "cache_control": cacheControl},
	"image":    {"source": source("base64", "url"), "cache_control": cacheControl},
	"document": {"source": source("base64", "url", "text"), "title": text, "context": text, "citations": object(members{"enabled": boolean}), "cache_control": cacheControl},
}

// blocks are the blocks that a prompt may contain.
func blocks() map[string]members {
	all := maps.Clone(parts)
	all["tool_result"] = members{"tool_use_id": text, "content": either(text, list(variant("type", parts))), "is_error": boolean}
	return all
}

// hookEvents are the events for which a server may register callbacks.
var hookEvents = []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "UserPromptSubmit", "Notification", "Stop", "SubagentStart", "SubagentStop"}

// hooks accepts the registration of callbacks.
func hooks() shape {
	events := members{}
	for _, name := range hookEvents {
		events[name] = list(object(members{"matcher": either(null, text), "hookCallbackIds": list(text), "timeout": number, "onFailure": one("continue", "block")}))
	}
	return object(events)
}

// requests are the control requests that a server may send. It lacks requests that start programs,
// or that read or change settings, files or logins of the machine.
func (p *Policy) requests() map[string]members {
	return map[string]members{
		"initialize": {
			"hooks": hooks(), "jsonSchema": anyData, "systemPrompt": list(text), "systemPromptSnapshot": boolean, "appendSystemPrompt": text, "excludeDynamicSections": boolean,
			"planModeInstructions": text, "title": text, "promptSuggestions": boolean, "agentProgressSummaries": boolean, "forwardSubagentText": boolean, "perTaskStopAffordance": boolean,
		},
		"interrupt":               {"cancel_queued": boolean},
		"set_model":               {"model": either(null, name)},
		"set_permission_mode":     {"mode": p.mode()},
		"set_max_thinking_tokens": {"max_thinking_tokens": either(null, number), "thinking_display": text},
		"apply_flag_settings":     {"settings": object(members{"effortLevel": either(null, name), "fastMode": either(null, boolean)})},
		"mcp_status":              {},
		"mcp_reconnect":           {"serverName": text},
		"get_context_usage":       {"detail": text},
		"get_sandbox_dialog":      {},
		"cancel_async_message":    {"message_uuid": text},
		"background_tasks":        {"tool_use_id": text},
		"stop_task":               {"task_id": text},
		"get_task_output":         {"task_id": text},
		"rewind_files":            {"user_message_id": text, "dry_run": boolean},
		"generate_session_title":  {"description": text, "persist": boolean},
	}
}

// name accepts the name of a model or an effort.
func name(v any) error {
	if s, ok := v.(string); !ok || s != "" && !word.MatchString(s) {
		return errors.New("is not a name")
	}
	return nil
}

// mode accepts a permission mode up to the ceiling.
func (p *Policy) mode() shape {
	return func(v any) error {
		s, _ := v.(string)
		return p.ceiling.check(s)
	}
}
