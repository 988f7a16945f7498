package claude_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// answerTo returns the recorded answer to a request of the CLI, or nil for answers that
// an SDK gives by itself.
func (c *comparison) answerTo(requestID string) *recordedAnswer {
	for i := range c.call.Answers {
		a := &c.call.Answers[i]
		if a.AnswerLine > 0 && a.AnswerLine <= len(c.proc.Stdin) && responseID(value([]byte(c.proc.Stdin[a.AnswerLine-1]))) == requestID {
			return a
		}
	}
	return nil
}

// responseID returns the id of the request that a line of input answers, or "" for other
// lines.
func responseID(line any) string {
	id, _ := at(line, "response", "request_id").(string)
	if at(line, "type") != "control_response" {
		return ""
	}
	return id
}

// at returns a value inside of objects, or nil.
func at(v any, path ...string) any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// compareAnswer replaces our answer by the recorded one if a rule allows the difference.
func (c *comparison) compareAnswer(want, got map[string]any) {
	a := c.answerTo(responseID(want))
	if a == nil {
		return
	}
	wantBody, gotBody := at(want, "response", "response"), at(got, "response", "response")
	switch {
	case a.NotCalled != nil:
		if isToolError(wantBody) && isToolError(gotBody) && c.allowed("the SDK answers in its own words") {
			got["response"] = want["response"]
		}
	case a.Subtype == "can_use_tool":
		c.comparePermission(a, want, got)
	case a.Subtype == "hook_callback":
		failed := at(want, "response", "subtype") == "error" && refuses(gotBody) && c.allowed("a hook that fails refuses")
		if failed || refuses(gotBody) && c.allowed("an output that the CLI would throw away is a failure") {
			got["response"] = want["response"]
		}
	}
}

func (c *comparison) comparePermission(a *recordedAnswer, want, got map[string]any) {
	wantBody, _ := at(want, "response", "response").(map[string]any)
	gotBody, _ := at(got, "response", "response").(map[string]any)
	switch {
	case wantBody["behavior"] == "allow" && wantBody["updatedInput"] == nil && gotBody["updatedInput"] != nil && c.allowed("an allow says the input"):
		delete(gotBody, "updatedInput")
	case wantBody["behavior"] == "deny" && wantBody["message"] == nil && gotBody["message"] != nil && c.allowed("a deny has a message"):
		delete(gotBody, "message")
	case wantBody["behavior"] == "allow" && gotBody["behavior"] == "deny" && c.allowed("an allow waits for the hook"):
		got["response"] = want["response"]
	case !knownBehavior(a) && at(got, "response", "subtype") == "error" && c.allowed("an answer is an allow or a deny"):
		got["response"] = want["response"]
	}
}

// knownBehavior reports whether a permission callback returned an answer.
func knownBehavior(a *recordedAnswer) bool {
	b := at(value(a.Return), "behavior")
	return b == "allow" || b == "deny"
}

// isToolError reports whether an answer to an MCP message is an error.
func isToolError(body any) bool {
	return at(body, "mcp_response", "error") != nil || at(body, "mcp_response", "result", "isError") == true
}

// refuses reports whether the output of a hook refuses, in the form of any event.
func refuses(body any) bool {
	specific := at(body, "hookSpecificOutput")
	return at(specific, "permissionDecision") == "deny" || at(specific, "decision", "behavior") == "deny" ||
		at(specific, "action") == "decline" || at(body, "decision") == "block"
}

// refusable are the events that a hook can refuse.
var refusable = []string{"PreToolUse", "PermissionRequest", "UserPromptSubmit", "PreModelSwitch", "Elicitation"}

// hookFails reports whether a hook failed that refuses on failure.
func hookFails(c *comparison) bool {
	return slices.ContainsFunc(c.call.Answers, func(a recordedAnswer) bool {
		return a.Throw != nil && slices.Contains(refusable, a.HookEventName)
	})
}

// decisions are the valid decisions of a hook, by member.
var decisions = map[string][]any{
	"permissionDecision": {"allow", "deny", "ask", "defer"},
	"decision":           {"approve", "block"},
	"behavior":           {"allow", "deny"},
	"action":             {"accept", "decline", "cancel"},
}

// hookMistaken reports whether a hook returned an output that the CLI would discard: a
// null, or an unknown decision.
func hookMistaken(c *comparison) bool {
	return slices.ContainsFunc(c.call.Answers, func(a recordedAnswer) bool {
		return a.Subtype == "hook_callback" && a.Return != nil && mistaken(value(a.Return))
	})
}

func mistaken(v any) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return v == nil
	}
	for name, inner := range m {
		_, text := inner.(string)
		if known := decisions[name]; text && known != nil && !slices.Contains(known, inner) || inner == nil {
			return true
		}
	}
	return m["hookSpecificOutput"] != nil && mistaken(m["hookSpecificOutput"])
}

// withoutHookIDs removes the ids that an SDK assigns to hooks.
func withoutHookIDs(line any) {
	events, _ := at(line, "request", "hooks").(map[string]any)
	for _, list := range events {
		matchers, _ := list.([]any)
		for _, m := range matchers {
			if ids, ok := at(m, "hookCallbackIds").([]any); ok {
				m.(map[string]any)["hookCallbackIds"] = len(ids)
			}
		}
	}
}

// tools returns the definitions of tools in a line of input.
func tools(line any) (all []map[string]any) {
	lists := []any{at(line, "response", "response", "mcp_response", "result", "tools")}
	manifests, _ := at(line, "request", "sdkMcpServerManifests").(map[string]any)
	for _, m := range manifests {
		lists = append(lists, at(m, "toolsListResult", "tools"))
	}
	for _, list := range lists {
		defs, _ := list.([]any)
		for _, def := range defs {
			if m, ok := def.(map[string]any); ok {
				all = append(all, m)
			}
		}
	}
	return all
}

// compareTools removes the members of tool definitions in which rules allow differences.
func (c *comparison) compareTools(line any, ours bool) {
	for _, def := range tools(line) {
		if def["execution"] != nil && !ours && c.allowed("no execution in the definition of a tool") {
			delete(def, "execution")
		}
		hints, _ := def["annotations"].(map[string]any)
		for _, name := range []string{"readOnlyHint", "idempotentHint"} { // destructiveHint is true by default
			if hints[name] == false && c.allowed("a hint that is false is said") {
				delete(hints, name)
			}
		}
	}
}

// compareServers sorts the names of in-process servers.
func (c *comparison) compareServers(line any) {
	names, _ := at(line, "request", "sdkMcpServers").([]any)
	byText := func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	if !slices.IsSortedFunc(names, byText) && c.allowed("servers have no order") {
		slices.SortFunc(names, byText)
	}
}

// definesTools reports whether the SDK sends tool definitions to the CLI.
func definesTools(c *comparison) bool {
	return slices.ContainsFunc(c.proc.Stdin, func(line string) bool { return strings.Contains(line, `"inputSchema"`) })
}

// annotates reports whether a tool of the recording has annotations.
func annotates(c *comparison) bool {
	return slices.ContainsFunc(c.proc.Stdin, func(line string) bool { return strings.Contains(line, `"annotations":{`) })
}

// returns reports whether a permission callback returned an answer for which f is true.
func returns(f func(answer any) bool) func(*comparison) bool {
	return func(c *comparison) bool {
		return slices.ContainsFunc(c.call.Answers, func(a recordedAnswer) bool {
			return a.Subtype == "can_use_tool" && a.Return != nil && f(value(a.Return))
		})
	}
}

// withoutLate removes the recorded answers that we did not send, because the CLI had cancelled the
// request.
func (c *comparison) withoutLate(want []string, got map[string]map[string]any) []string {
	return slices.DeleteFunc(want, func(line string) bool {
		id := responseID(value([]byte(line)))
		a := c.answerTo(id)
		return a != nil && a.CancelledByLine > 0 && got[id] == nil && c.allowed("no answer to what was taken back")
	})
}

// withoutWaited removes our answers that the official SDK did not send because it had
// closed the input before its callback returned.
func (c *comparison) withoutWaited(got []string) []string {
	return slices.DeleteFunc(got, func(line string) bool {
		id := responseID(value([]byte(line)))
		return id != "" && slices.ContainsFunc(c.call.Answers, func(a recordedAnswer) bool {
			return unsent(a) && requestID(c.proc.Stdout[a.Line-1]) == id
		}) && c.allowed("a callback that runs is waited for")
	})
}

// unsent reports whether the official SDK had an answer and did not send it.
func unsent(a recordedAnswer) bool {
	return a.AnswerLine == 0 && a.CancelledByLine == 0 && a.Line > 0 && !isNullReturn(a)
}

func isNullReturn(a recordedAnswer) bool {
	return a.Throw == nil && (a.Return == nil || string(a.Return) == "null")
}

func requestID(line string) string {
	id, _ := at(value([]byte(line)), "request_id").(string)
	return id
}

func encodeLine(c *comparison, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}
