package session

import (
	"encoding/json"
	"slices"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// pendingPrompt is a request of an agent that waits for a person, possibly for hours. The first
// answer counts.
type pendingPrompt struct {
	AskedAt string       `json:"asked_at"`
	Prompt  event.Prompt `json:"prompt"`
}

func (r pendingPrompt) id() string { return r.Prompt.RequestID() }

// event returns the event of the request, nil for the zero value.
func (r pendingPrompt) event() event.Event {
	switch {
	case r.Prompt.Permission != nil:
		return r.Prompt.Permission
	case r.Prompt.Question != nil:
		return r.Prompt.Question
	}
	return nil
}

// asking marks a record whose message is a request to a person.
type asking struct {
	AskedAt string `json:"asked_at"`
	Again   bool   `json:"again,omitempty"` // the request is already open; this adds details
	prompt  event.Prompt
}

func (c *core) request(id string) (pendingPrompt, bool) {
	i := slices.IndexFunc(c.Requests, func(r pendingPrompt) bool { return r.id() == id })
	if i < 0 {
		return pendingPrompt{}, false
	}
	return c.Requests[i], true
}

// reply is a person's answer in the form of package agent, with the event that shows it.
type reply struct {
	answer agent.Answer
	event  event.Event
}

// permissionReply answers a permission or a plan.
func (c *core) permissionReply(p api.PermissionRespondParams, by string) (reply, error) {
	r, ok := c.request(p.RequestID)
	switch {
	case !ok:
		return reply{}, Conflict("request %q is not open: it was answered, withdrawn or has expired", p.RequestID)
	case r.Prompt.Permission == nil:
		return reply{}, Invalid("request %q is a question", p.RequestID)
	case p.Behavior != event.ResolvedAllow && p.Behavior != event.ResolvedDeny:
		return reply{}, Invalid("behavior is %q, not allow or deny", p.Behavior)
	}
	permissions, err := r.permissions(p)
	if err != nil {
		return reply{}, err
	}
	if err := r.choose(p); err != nil {
		return reply{}, err
	}
	allow := p.Behavior == event.ResolvedAllow
	ev := event.Resolve(c.header(""), false, r.id(), r.Prompt.ToolUseID(), event.Resolution{Behavior: p.Behavior, Scope: p.Scope, Message: p.Reason, By: by})
	if r.Prompt.Permission.Kind == event.PermissionPlan {
		a := &agent.PlanAnswer{Approve: allow, Mode: planMode(permissions), Message: p.Reason, Interrupt: p.Interrupt && !allow}
		if allow && p.UpdatedInput != "" {
			plan, _ := p.UpdatedInput.Member("plan")
			if a.Plan = plan.Text(); a.Plan == "" {
				return reply{}, Invalid("updated_input of a plan needs its text in plan")
			}
		}
		return reply{a, ev}, nil
	}
	a := &agent.PermissionAnswer{Allow: allow, Choice: p.Choice, Scope: p.Scope, Message: p.Reason, Interrupt: p.Interrupt && !allow}
	if allow {
		a.UpdatedInput, a.UpdatedPermissions = rawJSON(p.UpdatedInput), permissions
	}
	return reply{a, ev}, nil
}

// permissions returns the rules that an answer adds: its own, or the accepted suggestions.
func (r pendingPrompt) permissions(p api.PermissionRespondParams) (json.RawMessage, error) {
	if p.UpdatedPermissions != "" || len(p.Suggestions) == 0 {
		return rawJSON(p.UpdatedPermissions), nil
	}
	var updates []json.RawMessage
	for _, i := range p.Suggestions {
		if i < 0 || i >= int64(len(r.Prompt.Permission.Suggestions)) {
			return nil, Invalid("request %q has no suggestion %d", r.id(), i)
		}
		if u := r.Prompt.Permission.Suggestions[i].Update; u != "" {
			updates = append(updates, json.RawMessage(u))
		}
	}
	return json.Marshal(updates)
}

// choose checks that a choice is one of the request's and matches the behavior.
func (r pendingPrompt) choose(p api.PermissionRespondParams) error {
	if p.Choice == "" {
		return nil
	}
	i := slices.IndexFunc(r.Prompt.Permission.Choices, func(c event.Choice) bool { return c.ID == p.Choice })
	switch {
	case i < 0:
		return Invalid("request %q has no choice %q", r.id(), p.Choice)
	case (r.Prompt.Permission.Choices[i].Behavior == event.ResolvedAllow) != (p.Behavior == event.ResolvedAllow):
		return Invalid("choice %q is to %s", p.Choice, r.Prompt.Permission.Choices[i].Behavior)
	}
	return nil
}

// planMode returns the mode that an approval of a plan sets: the setMode rule among the
// permissions, as the agent suggests them.
func planMode(permissions json.RawMessage) string {
	var rules []struct{ Type, Mode string }
	if json.Unmarshal(permissions, &rules) != nil {
		return ""
	}
	for _, r := range rules {
		if r.Type == "setMode" {
			return r.Mode
		}
	}
	return ""
}

// questionReply answers a question of the model or of an MCP server.
func (c *core) questionReply(p api.QuestionRespondParams, by string) (reply, error) {
	r, ok := c.request(p.RequestID)
	switch {
	case !ok:
		return reply{}, Conflict("request %q is not open: it was answered, withdrawn or has expired", p.RequestID)
	case r.Prompt.Question == nil:
		return reply{}, Invalid("request %q asks for a permission", p.RequestID)
	case !slices.Contains([]string{"accept", "decline", "cancel"}, p.Action):
		return reply{}, Invalid("action is %q, not accept, decline or cancel", p.Action)
	case r.Prompt.Question.Kind == event.QuestionAsk && p.Action == "accept" && !isObject(p.Answers):
		return reply{}, Invalid("an accepted question needs answers, an object by question")
	}
	ev := event.Resolve(c.header(""), true, r.id(), r.Prompt.ToolUseID(), event.Resolution{Behavior: p.Action, Answers: p.Answers, By: by})
	if r.Prompt.Question.Kind == event.QuestionElicitation {
		return reply{&agent.ElicitationAnswer{Action: p.Action, Content: rawJSON(p.Answers)}, ev}, nil
	}
	return reply{&agent.QuestionAnswer{Declined: p.Action != "accept", Answers: rawJSON(p.Answers)}, ev}, nil
}

// rawJSON converts a JSON text for package agent, nil if it is absent.
func rawJSON(j event.JSON) json.RawMessage {
	if j == "" {
		return nil
	}
	return json.RawMessage(j)
}

// isObject reports whether a JSON text is an object with members.
func isObject(j event.JSON) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal([]byte(j), &m) == nil && len(m) > 0
}

// closeRequests closes the open requests, because the turn or the agent that asked has ended. It
// never allows one. It keeps a question of the server.
func (c *core) closeRequests(behavior string) []draft {
	var drafts []draft
	for _, r := range c.Requests {
		if r.id() == c.Memory.Asked {
			continue
		}
		p := r.Prompt
		ev := event.Resolve(c.header(""), p.Question != nil, p.RequestID(), p.ToolUseID(), event.Resolution{Behavior: behavior})
		drafts = append(drafts, draft{event: ev, facts: &facts{Resolved: p.RequestID()}})
	}
	return drafts
}

// answer closes a request with a person's answer. The state changes after the last request.
func (c *core) answer(id string, rep reply, key, by string) []draft {
	f := &facts{Resolved: id}
	if key != "" {
		f.Key = &accepted{Key: key, By: by}
	}
	if c.Host != 0 {
		f.Given = newKeptAnswer(id, rep.answer)
	}
	drafts := []draft{{event: rep.event, facts: f}}
	if len(c.Requests) == 1 {
		if more, err := c.occur(onAnswered); err == nil {
			drafts = append(drafts, more...)
		}
	}
	return drafts
}
