package codexevent

import (
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/item"
)

// ask is a request of the server without an answer.
type ask struct {
	thread     *thread
	turnID     string
	toolUseID  string
	permission bool
	why        string          // the reason of a refusal, which is not sent to the server
	secret     map[string]bool // ids of questions with secret answers
}

// RequestID returns the id of a request in the events, derived from its id on the wire.
func RequestID(id item.JSON) string { return "codex-" + string(id) }

// Explain records the reason for a refusal that follows. The answer on the wire has no field for it.
func (c *Converter) Explain(requestID, why string) {
	for id, a := range c.asks {
		if RequestID(id) == requestID {
			a.why = why
		}
	}
}

// request handles a request of the server.
func (c *Converter) request(t *thread, r item.Request) {
	a := &ask{thread: t, turnID: r.Head().TurnID}
	switch r := r.(type) {
	case *item.CommandApproval:
		in := map[string]any{"command": r.Command, "cwd": r.CWD}
		for name, more := range map[string]item.JSON{"networkApprovalContext": r.NetworkApprovalContext, "additionalPermissions": r.AdditionalPermissions} {
			if !more.IsNull() {
				in[name] = more
			}
		}
		c.permission(t, a, r, &event.PermissionRequest{
			Kind: event.PermissionTool, ToolName: commandTool, Description: r.Reason, Input: input(in), Choices: commandChoices(r),
		})
	case *item.FileChangeApproval:
		p := &event.PermissionRequest{Kind: event.PermissionTool, ToolName: patchTool, Description: r.Reason, BlockedPath: r.GrantRoot, Choices: baseChoices()}
		if o := t.find(r.TurnID, r.ItemID); o != nil {
			if f, ok := o.partial.Started().(*item.FileChange); ok {
				p.Input = changesInput(f.Changes) // the request has no diff
			}
		}
		c.permission(t, a, r, p)
	case *item.PermissionsApproval:
		c.permission(t, a, r, &event.PermissionRequest{
			Kind: event.PermissionProfile, ToolName: "permissions", Description: r.Reason, Profile: event.NewJSON(string(r.Permissions)), Choices: profileChoices(),
		})
	case *item.ElicitationRequest:
		c.elicitation(t, a, r)
	case *item.UserInputRequest:
		c.questions(t, a, r)
	case *item.ToolCallRequest:
		// The item of the call has all the data.
	default:
		c.emit(&event.Unknown{Header: c.head(t), OriginalType: item.RequestMethod(r), Data: event.NewJSON(string(r.Raw()))})
	}
}

// keep stores a request until it is resolved. An earlier request with the same id belongs to a
// previous server.
func (c *Converter) keep(id item.JSON, a *ask) {
	c.expire(id, event.ResolvedExpired)
	c.order = append(c.order, id)
	c.asks[id] = a
}

func (c *Converter) forget(id item.JSON) {
	delete(c.asks, id)
	c.order = slices.DeleteFunc(c.order, func(o item.JSON) bool { return o == id })
}

// permission emits a request for a permission.
func (c *Converter) permission(t *thread, a *ask, r item.Request, p *event.PermissionRequest) {
	h := r.Head()
	if p.ToolUseID == "" && h.ItemID != "" {
		p.ToolUseID = c.key(t, h.TurnID, h.ItemID)
	}
	a.permission, a.toolUseID = true, p.ToolUseID
	c.keep(h.ID, a)
	p.Header, p.RequestID, p.Data = c.head(t), RequestID(h.ID), event.NewJSON(string(r.Raw()))
	if command, _ := p.Input.Member("command"); p.Input == "" && p.Profile == "" || p.ToolName == commandTool && command.Text() == "" {
		p.Request = p.Data // no other field describes the permission
	}
	c.emit(p)
}

func choice(id, label, behavior, scope string, data any) event.Choice {
	return event.Choice{ID: id, Label: label, Behavior: behavior, Scope: scope, Data: event.Encoded(data)}
}

// baseChoices returns the decisions that every approval of a command or a patch accepts.
func baseChoices() []event.Choice {
	return []event.Choice{
		choice("accept", "Allow", event.ResolvedAllow, event.ScopeOnce, "accept"),
		choice("acceptForSession", "Allow for this session", event.ResolvedAllow, event.ScopeSession, "acceptForSession"),
		choice("decline", "Decline", event.ResolvedDeny, "", "decline"),
		choice("cancel", "Decline and stop", event.ResolvedDeny, "", "cancel"),
	}
}

// commandChoices adds the amendments that the server proposes.
func commandChoices(r *item.CommandApproval) []event.Choice {
	list := baseChoices()
	if len(r.ProposedExecpolicyAmendment) > 0 {
		list = append(list, choice("acceptWithExecpolicyAmendment", "Always allow commands that start with `"+strings.Join(r.ProposedExecpolicyAmendment, " ")+"`", event.ResolvedAllow, event.ScopeAlways,
			map[string]any{"acceptWithExecpolicyAmendment": map[string]any{"execpolicy_amendment": r.ProposedExecpolicyAmendment}}))
	}
	for _, a := range r.ProposedNetworkPolicyAmendments {
		behavior, label := event.ResolvedAllow, "Allow "+a.Host+" from now on"
		if a.Action == "deny" {
			behavior, label = event.ResolvedDeny, "Deny "+a.Host+" from now on"
		}
		list = append(list, choice("applyNetworkPolicyAmendment:"+a.Action+":"+a.Host, label, behavior, event.ScopeAlways,
			map[string]any{"applyNetworkPolicyAmendment": map[string]any{"network_policy_amendment": a}}))
	}
	return list
}

func profileChoices() []event.Choice {
	return []event.Choice{
		{ID: "turn", Label: "Grant for this turn", Behavior: event.ResolvedAllow, Scope: event.ScopeTurn},
		{ID: "session", Label: "Grant for this session", Behavior: event.ResolvedAllow, Scope: event.ScopeSession},
		{ID: "decline", Label: "Decline", Behavior: event.ResolvedDeny},
	}
}

func mcpChoices() []event.Choice {
	return []event.Choice{
		{ID: "accept", Label: "Allow", Behavior: event.ResolvedAllow, Scope: event.ScopeOnce},
		{ID: "session", Label: "Allow for this session", Behavior: event.ResolvedAllow, Scope: event.ScopeSession},
		{ID: "always", Label: "Always allow", Behavior: event.ResolvedAllow, Scope: event.ScopeAlways},
		{ID: "decline", Label: "Decline", Behavior: event.ResolvedDeny},
	}
}

// elicitation emits a question of an MCP server, or the approval of one of its tools.
func (c *Converter) elicitation(t *thread, a *ask, r *item.ElicitationRequest) {
	meta, isApproval := r.Approval()
	if !isApproval {
		c.keep(r.ID, a)
		c.emit(&event.QuestionRequest{
			Header: c.head(t), Kind: event.QuestionElicitation, RequestID: RequestID(r.ID), MCPServerName: r.ServerName, Message: join(r.Title, r.Message, r.Description),
			Mode: r.Mode, Schema: event.Present(string(r.RequestedSchema)), URL: r.URL, Data: event.NewJSON(string(r.Raw())),
		})
		return
	}
	p := &event.PermissionRequest{
		Kind: event.PermissionTool, ToolName: "mcp__" + r.ServerName, Description: r.Message, Input: event.Present(string(meta.ToolParams)), Choices: mcpChoices(),
	}
	// The request does not name the call; it is the last started one of this server.
	if o := t.mcp[r.ServerName]; o != nil && t.find(o.turnID, o.id) == o {
		if call, ok := toolOf(o.partial.Started()); ok {
			p.ToolUseID, p.ToolName = o.key, call.name
		}
	}
	c.permission(t, a, r, p)
}

// questions emits questions of the agent.
func (c *Converter) questions(t *thread, a *ask, r *item.UserInputRequest) {
	q := &event.QuestionRequest{
		Header: c.head(t), Kind: event.QuestionAsk, RequestID: RequestID(r.ID), Blocking: &r.IsBlocking, Data: event.NewJSON(string(r.Raw())),
	}
	a.secret = map[string]bool{}
	for _, in := range r.Questions {
		one := event.Question{ID: in.ID, Header: in.Header, Question: in.Question, IsOther: in.IsOther, IsSecret: in.IsSecret}
		for _, o := range in.Options {
			one.Options = append(one.Options, event.QuestionOption{Label: o.Label, Description: o.Description})
		}
		a.secret[in.ID] = in.IsSecret
		q.Questions = append(q.Questions, one)
	}
	c.keep(r.ID, a)
	c.emit(q)
}

// answered handles the client's answer to a request.
func (c *Converter) answered(r *item.Response) {
	a := c.asks[r.ID]
	if a == nil {
		return
	}
	c.forget(r.ID)
	var end event.Resolution
	switch {
	case a.permission && r.Error != nil: // an error is a refusal
		end.Behavior, end.Message = event.ResolvedDeny, r.Error.Message
	case a.permission:
		end.Behavior, end.Scope = decision(r.Result)
		end.Message = a.why
	case r.Error != nil:
		end.Behavior = event.ResolvedCancelled
	default:
		end.Behavior, end.Answers = a.answers(r.Result)
	}
	c.resolve(r.ID, a, end)
}

// resolve emits the end of a request.
func (c *Converter) resolve(id item.JSON, a *ask, end event.Resolution) {
	c.emit(event.Resolve(c.head(a.thread), !a.permission, RequestID(id), a.toolUseID, end))
}

// decision parses an answer to an approval: a decision, granted permissions, or the action of an
// elicitation. An answer that is not clearly an allow is a refusal.
func decision(result item.JSON) (behavior, scope string) {
	var a struct {
		Decision    item.JSON `json:"decision"`
		Permissions item.JSON `json:"permissions"`
		Scope       string    `json:"scope"`
		Action      string    `json:"action"`
		Meta        struct {
			Persist string `json:"persist"`
		} `json:"_meta"`
	}
	_ = item.DecodeValue(result, &a)
	switch {
	case a.Action == "accept":
		return event.ResolvedAllow, first(a.Meta.Persist, event.ScopeOnce)
	case a.Action != "":
		return event.ResolvedDeny, ""
	case !a.Permissions.IsNull():
		if granted(a.Permissions) {
			return event.ResolvedAllow, first(a.Scope, event.ScopeTurn)
		}
		return event.ResolvedDeny, ""
	}
	switch w := word(a.Decision); w {
	case "accept", "approved":
		return event.ResolvedAllow, event.ScopeOnce
	case "acceptForSession", "approved_for_session":
		return event.ResolvedAllow, event.ScopeSession
	case "acceptWithExecpolicyAmendment":
		return event.ResolvedAllow, event.ScopeAlways
	case "applyNetworkPolicyAmendment":
		if allowsHost(a.Decision) {
			return event.ResolvedAllow, event.ScopeAlways
		}
	}
	return event.ResolvedDeny, ""
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// granted reports whether any permission was granted.
func granted(j item.JSON) bool {
	var m map[string]any
	_ = j.Decode(&m)
	for _, v := range m {
		if v != nil {
			return true
		}
	}
	return false
}

func allowsHost(j item.JSON) bool {
	var d struct {
		Apply struct {
			Amendment item.NetworkAmendment `json:"network_policy_amendment"`
		} `json:"applyNetworkPolicyAmendment"`
	}
	_ = item.DecodeValue(j, &d)
	return d.Apply.Amendment.Action == "allow"
}

// answers parses an answer to questions, or to an elicitation, and removes secrets.
func (a *ask) answers(result item.JSON) (action string, answers event.JSON) {
	var r struct {
		Action  string    `json:"action"`
		Content item.JSON `json:"content"`
		Answers map[string]struct {
			Answers []string `json:"answers"`
		} `json:"answers"`
	}
	_ = item.DecodeValue(result, &r)
	if r.Action != "" {
		return r.Action, event.Present(string(r.Content))
	}
	out := map[string]any{}
	for id, list := range r.Answers {
		if a.secret[id] {
			out[id] = "(secret)"
			continue
		}
		out[id] = notNil(list.Answers)
	}
	return "accept", event.Encoded(out)
}

// resolved handles the server's notification that a request has ended. If the client has not
// answered it, another client did, or the server withdrew it.
func (c *Converter) resolved(id item.JSON) { c.expire(id, event.ResolvedUnknown) }

// expire ends a request without an answer of this client.
func (c *Converter) expire(id item.JSON, behavior string) {
	a := c.asks[id]
	if a == nil {
		return
	}
	c.forget(id)
	c.resolve(id, a, event.Resolution{Behavior: behavior})
}
