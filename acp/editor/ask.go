package editor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/internal/draft2"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// The ids of the options of a request for permission. They equal those of the reference adapter,
// which clients and scripts may know.
const (
	optionAllow  = "allow-once"
	optionAlways = "allow-with-updates"
	optionReject = "reject"
	optionPlan   = "exit-plan-"
)

// Texts for the model about a call that the user has refused or not answered.
const (
	refusedText = "User refused permission to run tool"
	failedText  = "Tool permission request failed: "
	aborted     = "Error: Tool use aborted" // the client has cancelled the request
)

// choice is an option together with its answer.
type choice struct {
	option acp.PermissionOption
	answer agent.Answer
	mode   string // the resulting permission mode; "" if it does not change
}

func option(id, name string, kind acp.PermissionOptionKind, a agent.Answer) choice {
	return choice{option: acp.PermissionOption{OptionID: acp.PermissionOptionID(id), Name: name, Kind: kind}, answer: a}
}

// choices returns the options for a request, in order.
func choices(ev *event.PermissionRequest, modes []string) []choice {
	if ev.Kind == event.PermissionPlan {
		return planChoices(modes)
	}
	list := []choice{option(optionAllow, "Yes", acp.PermissionOptionKindAllowOnce, &agent.PermissionAnswer{Allow: true})}
	if len(ev.Choices) > 0 {
		return offered(ev.Choices)
	}
	always := alwaysChoices(ev, modes)
	for i, c := range always {
		if i > 0 {
			c.option.OptionID = acp.PermissionOptionID(fmt.Sprintf("%s-%d", optionAlways, i+1))
		}
		list = append(list, c)
	}
	return append(list, option(optionReject, "No", acp.PermissionOptionKindRejectOnce, &agent.PermissionAnswer{Message: refusedText}))
}

// offered returns the choices that the provider itself offers.
func offered(all []event.Choice) []choice {
	var list []choice
	for _, c := range all {
		kind := acp.PermissionOptionKindRejectOnce
		always := c.Scope == event.ScopeSession || c.Scope == event.ScopeAlways
		switch {
		case c.Behavior == event.ResolvedAllow && always:
			kind = acp.PermissionOptionKindAllowAlways
		case c.Behavior == event.ResolvedAllow:
			kind = acp.PermissionOptionKindAllowOnce
		case always:
			kind = acp.PermissionOptionKindRejectAlways
		}
		list = append(list, option(c.ID, c.Label, kind, &agent.PermissionAnswer{Allow: c.Behavior == event.ResolvedAllow, Choice: c.ID, Scope: c.Scope}))
	}
	return list
}

// alwaysChoices returns an option for every suggestion. Rules come first, because they have the
// smallest effect; the labels of the others describe their effect.
func alwaysChoices(ev *event.PermissionRequest, modes []string) []choice {
	if suppressed(ev) {
		return nil
	}
	var rules, others []choice
	for _, s := range ev.Suggestions {
		if s.Mode != "" && !slices.Contains(modes, s.Mode) || s.Update == "" || s.Behavior == "deny" {
			continue
		}
		c := option(optionAlways, label(&s), acp.PermissionOptionKindAllowAlways, &agent.PermissionAnswer{Allow: true, UpdatedPermissions: json.RawMessage("[" + string(s.Update) + "]")})
		c.mode = s.Mode
		if s.IsRule() {
			rules = append(rules, c)
		} else {
			others = append(others, c)
		}
	}
	if command := input(ev.Input).str("command"); len(rules) == 0 && ev.ToolName == "Bash" && command != "" {
		rules = append(rules, exactRule(command))
	}
	return append(rules, others...)
}

// suppressed reports whether the agent requests that no rule is offered.
func suppressed(ev *event.PermissionRequest) bool {
	flag, _ := ev.Data.Member("suppress_always_allow_rule")
	return flag == "true"
}

// exactRule allows one command for the rest of the session.
func exactRule(command string) choice {
	update, err := jsonwire.Marshal([]any{map[string]any{
		"type": "addRules", "behavior": "allow", "destination": "session",
		"rules": []any{map[string]string{"toolName": "Bash", "ruleContent": command}},
	}})
	if err != nil {
		update = nil // texts can be encoded
	}
	return option(optionAlways, "Yes, and don't ask again for this command in this session", acp.PermissionOptionKindAllowAlways, &agent.PermissionAnswer{Allow: true, UpdatedPermissions: update})
}

// label describes the effect of a suggestion.
func label(s *event.Suggestion) string {
	if s.Mode == "acceptEdits" {
		return "Yes, allow all edits during this session"
	}
	if s.Label == "" {
		return "Yes, and don't ask again"
	}
	first, size := utf8.DecodeRuneInString(s.Label)
	return "Yes, and " + string(unicode.ToLower(first)) + s.Label[size:]
}

// planChoices are the options after a plan.
func planChoices(modes []string) []choice {
	list := []choice{option(optionPlan+"default", "Yes, manually approve edits", acp.PermissionOptionKindAllowOnce, &agent.PlanAnswer{Approve: true, Mode: "default"})}
	list[0].mode = "default"
	for _, m := range []struct{ mode, id, name, instead string }{
		{"auto", "auto", "Yes, and use auto mode", ""}, {"acceptEdits", "accept-edits", "Yes, and accept edits", "auto"},
		{"bypassPermissions", "bypass", "Yes, and bypass permissions", ""},
	} {
		if slices.Contains(modes, m.mode) && (m.instead == "" || !slices.Contains(modes, m.instead)) {
			c := option(optionPlan+m.id, m.name, acp.PermissionOptionKindAllowAlways, &agent.PlanAnswer{Approve: true, Mode: m.mode})
			c.mode = m.mode
			list = append(list, c)
		}
	}
	return append(list, option(optionReject, "No, keep planning", acp.PermissionOptionKindRejectOnce, &agent.PlanAnswer{Message: "The user wants to keep planning."}))
}

// refusal returns the answer for a client that has given no valid answer.
func refusal(kind, why string) agent.Answer {
	if kind == event.PermissionPlan {
		return &agent.PlanAnswer{Message: why}
	}
	return &agent.PermissionAnswer{Message: why}
}

// permission asks the client whether a tool may be used.
func (s *session) permission(ctx context.Context, live agent.Session, ev *event.PermissionRequest) {
	s.mu.Lock()
	tool, _ := s.mapper.Tool(ev.ToolUseID)
	list := choices(ev, s.config.modeIDs())
	owner := cmp.Or(s.mapper.ownerOf(ev.ToolUseID), s.id)
	s.mu.Unlock()
	if ev.ToolUseID == "" {
		tool.ToolCallID = acp.ToolCallID(ev.RequestID)
		tool.Title = acp.Some(ev.ToolName)
	}
	if plan := input(ev.Input).str("plan"); ev.Kind == event.PermissionPlan && plan != "" {
		tool.Content = acp.Some(textContents(plan))
	}
	if all := givenContent(ev.Content); len(all) > 0 {
		tool.Content = acp.Some(all)
	}
	if ev.Request != "" {
		tool.Content = acp.Some(append(tool.Content.Or(nil), textContents("The agent describes this call in no other way than by its request:\n"+fence("json", string(ev.Request)))...))
	}
	if paths := permissionPaths(ev, s.opts.Dir); len(paths) > 0 && len(tool.Locations.Or(nil)) == 0 {
		tool.Locations = acp.Some(paths)
	}
	r := &acp.RequestPermissionRequest{SessionID: acp.SessionID(owner), ToolCall: tool, Options: options(list)}
	picked, why := s.pick(ctx, r, list)
	if ctx.Err() != nil {
		return // the request was withdrawn, or the client has disconnected
	}
	answer := refusal(ev.Kind, failedText+why)
	if picked != nil {
		answer = picked.answer
	}
	if s.answer(ctx, live, ev.RequestID, answer) && picked != nil && picked.mode != "" {
		s.modeChanged(picked.mode, "")
	}
}

func options(list []choice) []acp.PermissionOption {
	var all []acp.PermissionOption
	for _, c := range list {
		all = append(all, c.option)
	}
	return all
}

// permissionPaths returns the files that a request names.
func permissionPaths(ev *event.PermissionRequest, dir string) []acp.ToolCallLocation {
	if ev.BlockedPath == "" {
		return nil
	}
	return location(ev.BlockedPath, dir, 0)
}

// pick asks the client to choose an option. If the client does not choose an offered option, pick
// returns nil and the reason.
func (s *session) pick(ctx context.Context, r *acp.RequestPermissionRequest, list []choice) (*choice, string) {
	var params any = r
	if s.srv.isV2() {
		params = draft2.Permission(r)
	}
	raw, err := s.srv.conn.Call(ctx, acp.MethodSessionRequestPermission, params)
	if err != nil {
		return nil, "Error: " + err.Error()
	}
	var answer acp.RequestPermissionResponse
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, "Error: " + err.Error()
	}
	selected, ok := answer.Outcome.Value.(*acp.SelectedPermissionOutcome)
	if !ok {
		return nil, aborted
	}
	for i := range list {
		if list[i].option.OptionID == selected.OptionID {
			return &list[i], ""
		}
	}
	return nil, fmt.Sprintf("Error: Permission option was not offered: %s", selected.OptionID)
}

// answer answers a request of the agent. It reports whether the agent has accepted the answer; if
// not, it refuses the request.
func (s *session) answer(ctx context.Context, live agent.Session, requestID string, a agent.Answer) bool {
	err := live.Answer(ctx, requestID, a)
	if err == nil || errors.Is(err, agent.ErrNotOpen) || errors.Is(err, agent.ErrClosed) {
		return err == nil
	}
	s.srv.opts.Logger.Warn("acp: an answer was not accepted", "request", requestID, "err", err)
	// An open request would block the turn.
	var refuse agent.Answer
	switch a.(type) {
	case *agent.PermissionAnswer:
		refuse = &agent.PermissionAnswer{Message: failedText + err.Error()}
	case *agent.PlanAnswer:
		refuse = &agent.PlanAnswer{Message: failedText + err.Error()}
	case *agent.QuestionAnswer:
		refuse = &agent.QuestionAnswer{Declined: true}
	default:
		refuse = &agent.ElicitationAnswer{Action: "cancel"}
	}
	if err := live.Answer(ctx, requestID, refuse); err != nil {
		s.srv.opts.Logger.Error("acp: a request could not be closed", "request", requestID, "err", err)
	}
	return false
}
