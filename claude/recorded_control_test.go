package claude_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// control executes a control step: an accessor, or a request.
func (r *callRunner) control(s recordedStep) (json.RawMessage, error) {
	if r.client == nil {
		if r.connectErr != nil {
			return nil, r.connectErr
		}
		return nil, errors.New("recording: a control step without a handle")
	}
	if s.Accessor != "" {
		return accessor(r.client, s.Accessor)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(s.Request, &fields); err != nil {
		return nil, err
	}
	for name, where := range s.IDs {
		if id := lookupID(where, r.gathered()); id != "" {
			fields[name] = quoteJSON(id)
		}
	}
	if s.SDKServers != nil {
		return r.setServers(s, fields["servers"])
	}
	var subtype string
	if err := json.Unmarshal(fields["subtype"], &subtype); err != nil {
		return nil, err
	}
	delete(fields, "subtype")
	if do, ok := typedControls[subtype]; ok {
		if result, err, did := do(r, fields); did {
			return result, err
		}
	}
	var out message.JSON
	err := r.client.Control(r.ctx, subtype, fields, &out)
	return out.Bytes(), err
}

// setServers sets MCP servers, some of which run in this process.
func (r *callRunner) setServers(s recordedStep, raw json.RawMessage) (json.RawMessage, error) {
	servers, err := r.answers.mcpServers(raw, s.SDKServers)
	if err != nil {
		return nil, err
	}
	change, err := r.client.SetMCPServers(r.ctx, servers)
	if err != nil {
		return nil, err
	}
	return change.Raw().Bytes(), nil
}

func quoteJSON(s string) json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // cannot fail for a string
	}
	return data
}

// typedControls are the requests with a method of Client; the last result is false if the
// method cannot express the request.
var typedControls = map[string]func(*callRunner, map[string]json.RawMessage) (json.RawMessage, error, bool){
	"interrupt": func(r *callRunner, fields map[string]json.RawMessage) (json.RawMessage, error, bool) {
		if len(fields) > 0 {
			return nil, nil, false
		}
		receipt, err := r.client.Interrupt(r.ctx)
		if err != nil {
			return nil, err, true
		}
		data, err := json.Marshal(receipt)
		return data, err, true
	},
	"set_model": func(r *callRunner, fields map[string]json.RawMessage) (json.RawMessage, error, bool) {
		var model string
		if !onlyField(fields, "model", &model) {
			return nil, nil, false
		}
		_, err := r.client.SetModel(r.ctx, model)
		return nil, err, true
	},
	"set_permission_mode": func(r *callRunner, fields map[string]json.RawMessage) (json.RawMessage, error, bool) {
		var mode message.PermissionMode
		if !onlyField(fields, "mode", &mode) {
			return nil, nil, false
		}
		return nil, r.client.SetPermissionMode(r.ctx, mode), true
	},
	"set_max_thinking_tokens": func(r *callRunner, fields map[string]json.RawMessage) (json.RawMessage, error, bool) {
		var tokens *int
		if !onlyField(fields, "max_thinking_tokens", &tokens) {
			return nil, nil, false
		}
		return nil, r.client.SetMaxThinkingTokens(r.ctx, tokens), true
	},
}

// onlyField decodes the one field that may be there into dst.
func onlyField(fields map[string]json.RawMessage, name string, dst any) bool {
	for k, v := range fields {
		if k != name || json.Unmarshal(v, dst) != nil {
			return false
		}
	}
	return true
}

// accessorMembers are the members of the answer to initialize that accessors read.
var accessorMembers = map[string]string{
	"initializationResult": "",
	"supportedCommands":    "commands",
	"supportedModels":      "models",
	"supportedAgents":      "agents",
	"accountInfo":          "account",
}

func accessor(c *claude.Client, name string) (json.RawMessage, error) {
	memberText, ok := accessorMembers[name]
	if !ok {
		return nil, fmt.Errorf("recording: accessor %s is not known", name)
	}
	raw := c.ServerInfo().Raw().Bytes()
	if memberText == "" {
		return raw, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	return members[memberText], nil
}

// idPlace reads descriptions such as "task_id of the first system/task_started"
// and "session_id of the first call's messages".
var idPlace = regexp.MustCompile(`^(\w+) of (?:the )?(?:first call's )?(?:(first|second|third|last) )?(\S*)`)

var messageOrdinals = map[string]int{"": 0, "first": 0, "second": 1, "third": 2, "last": -1}

// lookupID finds a value that a recording takes from the live run: a member of a message, described
// in words. It returns "" if no message has it.
func lookupID(where string, messages []message.Message) string {
	m := idPlace.FindStringSubmatch(where)
	if m == nil {
		return ""
	}
	field, kind := m[1], strings.TrimSuffix(m[3], "'s")
	var found []string
	for _, msg := range messages {
		typ, _ := messageTypes(msg)
		if strings.HasPrefix(kind, "message") || kind == "" || kind == typ || kind == message.Kind(msg) {
			if id := memberText(msg.Raw(), field); id != "" {
				found = append(found, id)
			}
		}
	}
	n := messageOrdinals[m[2]]
	if n < 0 {
		n = len(found) - 1
	}
	if n < 0 || n >= len(found) {
		return ""
	}
	return found[n]
}

// memberText returns a string somewhere in an object, the outermost one first.
func memberText(raw json.RawMessage, name string) string {
	var v map[string]json.RawMessage
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	var s string
	if json.Unmarshal(v[name], &s) == nil {
		return s
	}
	for inner := range maps.Values(v) {
		if s := memberText(inner, name); s != "" {
			return s
		}
	}
	return ""
}

// officialResult returns the result of the official SDK's method for the CLI's answer to
// a request: mostly the answer itself.
func officialResult(request, answer json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(answer, &members) // an answer may have no body
	switch requestSubtype(request) {
	case "mcp_status":
		return members["mcpServers"]
	case "background_tasks":
		return json.RawMessage(fmt.Sprint(string(members["backgrounded"]) != "false"))
	}
	return answer
}

// requestSubtype returns the subtype of a request, if any.
func requestSubtype(request json.RawMessage) string {
	var r struct {
		Subtype string `json:"subtype"`
	}
	_ = json.Unmarshal(request, &r) // a step that is no request has an empty one
	return r.Subtype
}
