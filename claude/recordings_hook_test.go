package claude_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed7221b0f9/parley/claudetest"
)

// nameHooks puts the event and the place of each hook in an initialize line in
// the place of its number.
func (c *comparison) nameHooks(line map[string]any) {
	request, _ := line["request"].(map[string]any)
	hooks, _ := request["hooks"].(map[string]any)
	if hooks == nil || request["subtype"] != "initialize" || !c.allowed("hooks are numbered by event") {
		return
	}
	for event, matchers := range hooks {
		for i, m := range matchers.([]any) {
			ids := m.(map[string]any)["hookCallbackIds"].([]any)
			for j := range ids {
				ids[j] = fmt.Sprint(event, i, ".", j)
			}
		}
	}
}

// refusals are the answers of hooks that fail, by event.
var refusals = map[string]func(reason string) map[string]any{
	"PreToolUse": func(reason string) map[string]any {
		return specific("PreToolUse", map[string]any{"permissionDecision": "deny", "permissionDecisionReason": reason})
	},
	"PreModelSwitch": func(reason string) map[string]any {
		return specific("PreModelSwitch", map[string]any{"permissionDecision": "deny", "permissionDecisionReason": reason})
	},
	"PermissionRequest": func(reason string) map[string]any {
		return specific("PermissionRequest", map[string]any{"decision": map[string]any{"behavior": "deny", "message": reason}})
	},
	"UserPromptSubmit": func(reason string) map[string]any { return map[string]any{"decision": "block", "reason": reason} },
	"Elicitation": func(reason string) map[string]any {
		out := specific("Elicitation", map[string]any{"action": "decline"})
		out["decision"], out["reason"] = "block", reason
		return out
	},
}

func specific(event string, members map[string]any) map[string]any {
	members["hookEventName"] = event
	return map[string]any{"hookSpecificOutput": members}
}

// hookRefusal is the event of a hook that failed in a way that is a refusal
// here, and why it failed; "" if it did not.
func (c *comparison) hookRefusal(a claudetest.Answer) (event, why string) {
	var hooks map[string][]struct {
		OnFailure string
		Callbacks []string
	}
	if a.Subtype != "hook_callback" || json.Unmarshal(c.call.Options["hooks"], &hooks) != nil {
		return "", ""
	}
	for event := range refusals {
		for _, m := range hooks[event] {
			switch {
			case m.OnFailure != "" || !slices.Contains(m.Callbacks, a.CallbackID):
			case a.Throw != nil:
				return event, *a.Throw
			case event == "PreToolUse" && unknownDecision(a.Return) != "":
				return event, fmt.Sprintf("claude: PermissionDecision is %q, which is none of [allow deny ask defer]", unknownDecision(a.Return))
			}
		}
	}
	return "", ""
}

// unknownDecision is the decision in an output for which the CLI throws it away.
func unknownDecision(output json.RawMessage) string {
	var out struct {
		HookSpecificOutput struct{ PermissionDecision string }
	}
	if json.Unmarshal(output, &out) != nil || slices.Contains([]string{"allow", "deny", "ask", "defer"}, out.HookSpecificOutput.PermissionDecision) {
		return ""
	}
	return out.HookSpecificOutput.PermissionDecision
}

// officialHook is the n-th line of the official SDK's input as this SDK would
// write it where it is the answer of a hook and a rule lets the two differ.
func (c *comparison) officialHook(n int, line string) string {
	for _, a := range c.call.Answers {
		event, why := c.hookRefusal(a)
		if a.AnswerLine != n || event == "" || !c.allowed("a hook that fails refuses") {
			continue
		}
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			c.t.Fatal(err)
		}
		response := l["response"].(map[string]any)
		delete(response, "error")
		response["subtype"], response["response"] = "success", refusals[event]("a hook failed: "+why)
		text, err := json.Marshal(l)
		if err != nil {
			c.t.Fatal(err)
		}
		return string(text)
	}
	return line
}
