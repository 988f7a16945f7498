package claudeevent

import (
	"cmp"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
)

// pendingPrompt is a request of the CLI without an answer.
type pendingPrompt struct {
	kind      string // the kind of its event; hookCallback for a hook
	event     string // of a hook
	toolUseID string
}

// hookCallback is the subtype of a request that runs a hook of the SDK.
const hookCallback = "hook_callback"

// Strings and JSON texts of an object by name.
type fields event.JSON

func (f fields) str(key string) string {
	j, _ := event.JSON(f).Member(key)
	return j.Text()
}

func (f fields) raw(key string) event.JSON {
	j, _ := event.JSON(f).Member(key)
	return event.Present(string(j))
}

// Ask returns the events of a control_request of the CLI: with the subtype can_use_tool
// or elicitation, which a person has to answer, or hook_callback, which runs a hook.
// Other requests have no events. The slice is valid until the next method call.
func (c *Converter) Ask(requestID string, request message.JSON) []event.Event {
	c.out = c.out[:0]
	f := fields(event.NewJSON(string(request)))
	p := pendingPrompt{toolUseID: kept(f.str("tool_use_id"))}
	switch subtype, called := f.str("subtype"), f.str("tool_name"); {
	case subtype == "can_use_tool" && called == tool.AskUserQuestion:
		p.kind = event.QuestionAsk
		questions, _ := f.raw("input").Member("questions")
		c.emit(&event.QuestionRequest{Kind: p.kind, RequestID: requestID, ToolUseID: p.toolUseID, Questions: questionsOf(questions), Data: event.JSON(f)})
	case subtype == "can_use_tool":
		p.kind = event.PermissionTool
		if called == tool.ExitPlanMode {
			p.kind = event.PermissionPlan
		}
		c.emit(&event.PermissionRequest{
			Kind: p.kind, RequestID: requestID, ToolUseID: p.toolUseID, ToolName: called, DisplayName: f.str("display_name"),
			Description: f.str("description"), Input: f.raw("input"), Suggestions: suggestionsOf(f),
			BlockedPath: f.str("blocked_path"), AgentID: f.str("agent_id"), DefaultToNo: f.raw("default_to_no") == "true", Data: event.JSON(f),
		})
	case subtype == "elicitation":
		p.kind = event.QuestionElicitation
		c.emit(&event.QuestionRequest{
			Kind: p.kind, RequestID: requestID, MCPServerName: f.str("mcp_server_name"), Message: f.str("message"), Mode: f.str("mode"),
			Schema: f.raw("requested_schema"), URL: f.str("url"), Data: event.JSON(f),
		})
	case subtype == hookCallback:
		p.kind = hookCallback
		p.event = kept(fields(f.raw("input")).str("hook_event_name"))
		c.emit(&event.Hook{HookID: requestID, Name: f.str("callback_id"), Event: p.event, State: event.HookStarted, ToolUseID: p.toolUseID, Data: event.JSON(f)})
	default:
		return c.out
	}
	if c.pending == nil {
		c.pending = map[string]pendingPrompt{}
	}
	c.pending[kept(requestID)] = p
	return c.out
}

// Answer returns the events of an answer to a request that [Converter.Ask] was given: the
// response in its wire form, and who gave it. An absent response means that the CLI
// cancelled the request. Only the first answer to a request has events. The slice is
// valid until the next method call.
func (c *Converter) Answer(requestID string, response message.JSON, by string) []event.Event {
	c.out = c.out[:0]
	p, ok := c.pending[requestID]
	if !ok {
		return c.out
	}
	delete(c.pending, requestID)
	f := fields(event.NewJSON(string(response)))
	switch p.kind {
	case hookCallback:
		h := &event.Hook{HookID: requestID, Event: p.event, State: event.HookFinished, Outcome: "success", ToolUseID: p.toolUseID, Data: event.JSON(f)}
		if f == "" {
			h.Outcome = "cancelled"
		}
		h.Decision, h.Message = decisionOf(event.JSON(f))
		c.emit(h)
	case event.QuestionAsk:
		answers, _ := f.raw("updatedInput").Member("answers")
		c.emit(event.Resolve(event.Header{}, true, requestID, p.toolUseID, event.Resolution{
			Behavior: cmp.Or(f.str("behavior"), event.ResolvedCancelled), Answers: event.Present(string(answers)), By: by,
		}))
	case event.QuestionElicitation:
		c.emit(event.Resolve(event.Header{}, true, requestID, "", event.Resolution{Behavior: cmp.Or(f.str("action"), "cancel"), Answers: f.raw("content"), By: by}))
	default:
		c.emit(event.Resolve(event.Header{}, false, requestID, p.toolUseID, event.Resolution{
			Behavior: cmp.Or(f.str("behavior"), event.ResolvedCancelled), Scope: scopeOf(f.raw("updatedPermissions")), Message: f.str("message"), By: by,
		}))
	}
	return c.out
}

// scopeOf returns the scope of an answer that changes permissions.
func scopeOf(updates event.JSON) string {
	scope := ""
	for _, u := range updates.Elements() {
		if fields(u).str("destination") != "session" {
			return event.ScopeAlways
		}
		scope = event.ScopeSession
	}
	return scope
}

// decisionOf returns the decision in the output of a hook, and its reason.
func decisionOf(output event.JSON) (decision, message string) {
	f := fields(output)
	specific := fields(f.raw("hookSpecificOutput"))
	behavior := fields(specific.raw("decision"))
	switch {
	case specific.str("permissionDecision") != "":
		return specific.str("permissionDecision"), specific.str("permissionDecisionReason")
	case behavior.str("behavior") != "":
		return behavior.str("behavior"), behavior.str("message")
	case f.str("decision") != "":
		return f.str("decision"), f.str("reason")
	case f.raw("continue") == "false":
		return "stop", f.str("stopReason")
	}
	return "", ""
}

// questionsOf returns the questions of the model.
func questionsOf(list event.JSON) []event.Question {
	var all []event.Question
	for _, raw := range list.Elements() {
		f := fields(raw)
		q := event.Question{
			ID: f.str("id"), Header: f.str("header"), Question: f.str("question"),
			MultiSelect: f.raw("multiSelect") == "true", IsOther: true, Data: event.NewJSON(string(raw)),
		}
		for _, o := range f.raw("options").Elements() {
			option := fields(o)
			q.Options = append(q.Options, event.QuestionOption{
				Label: option.str("label"), Description: option.str("description"), Preview: option.str("preview"),
			})
		}
		all = append(all, q)
	}
	return all
}

// suggestionsOf returns the permission updates that the CLI suggests, each with a description. It
// returns nil if the CLI cannot store a rule for the request.
func suggestionsOf(request fields) []event.Suggestion {
	if request.raw("suppress_always_allow_rule") == "true" {
		return nil
	}
	var all []event.Suggestion
	for _, raw := range request.raw("permission_suggestions").Elements() {
		f := fields(raw)
		s := event.Suggestion{
			Behavior: f.str("behavior"), Mode: f.str("mode"), Destination: f.str("destination"), Update: event.NewJSON(string(raw)),
			Directories: texts(f.raw("directories")),
		}
		for _, r := range f.raw("rules").Elements() {
			s.Rules = append(s.Rules, ruleOf(fields(r)))
		}
		s.Kind, s.Label = describe(f.str("type"), &s)
		all = append(all, s)
	}
	return all
}

// ruleOf formats a rule as in settings.
func ruleOf(f fields) string {
	if content := f.str("ruleContent"); content != "" {
		return f.str("toolName") + "(" + content + ")"
	}
	return f.str("toolName")
}

// texts returns the strings of a list.
func texts(list event.JSON) []string {
	var all []string
	for _, j := range list.Elements() {
		all = append(all, j.Text())
	}
	return all
}

// places maps the destination of a permission update to its scope.
var places = map[string]string{
	"session": "for this session", "localSettings": "in this project, for you", "projectSettings": "in this project, for everyone",
	"userSettings": "in all projects", "cliArg": "for this session",
}

// describe returns the kind of a suggestion and a description for a person.
func describe(wireType string, s *event.Suggestion) (kind, label string) {
	verb := map[string]string{
		"addRules": "Always " + cmp.Or(s.Behavior, "allow"), "replaceRules": "Replace the rules to " + cmp.Or(s.Behavior, "allow") + " by",
		"removeRules": "No longer " + cmp.Or(s.Behavior, "allow"), "setMode": "Switch to the permission mode",
		"addDirectories": "Allow access to", "removeDirectories": "No longer allow access to",
	}[wireType]
	what := ""
	switch wireType {
	case "addRules", "replaceRules", "removeRules":
		kind, what = event.SuggestRules, strings.Join(s.Rules, ", ")
	case "setMode":
		kind, what = event.SuggestMode, s.Mode
	case "addDirectories", "removeDirectories":
		kind, what = event.SuggestDirectories, strings.Join(s.Directories, ", ")
	default:
		kind, verb = wireType, wireType
	}
	label = strings.TrimSpace(verb + " " + what)
	if place := places[s.Destination]; place != "" {
		label += " " + place
	}
	return kind, label
}
