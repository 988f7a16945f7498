package chat

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// noUserMessage is the message to the agent if there is no user to ask.
const noUserMessage = "Denied: there is no user to ask."

// permission asks whether a tool may run or a plan is approved.
func (c *loop) permission(r *event.PermissionRequest) *ask {
	if r.Kind == event.PermissionPlan {
		return c.plan(r)
	}
	return &ask{
		id: r.RequestID, call: r.ToolUseID,
		show: func() {
			shown := revealed(r)
			c.put("Allow this call? "+requestText(c.out, shown), permitLines(shown)...)
		},
		answer: func(text string) (agent.Answer, bool) {
			if a := permitted(r, text); a != nil {
				return a, true
			}
			return nil, false
		},
		nobody: func() agent.Answer {
			c.con.Note("denied, because there is no user to ask: " + requestText(c.out, r))
			return denial(r, noUserMessage)
		},
	}
}

// denial refuses a request.
func denial(r *event.PermissionRequest, why string) agent.Answer {
	if r.Kind == event.PermissionPlan {
		return &agent.PlanAnswer{Message: why}
	}
	return &agent.PermissionAnswer{Message: why}
}

// grants returns the suggestions that always allow similar calls, and all suggestions if there
// are more.
func grants(r *event.PermissionRequest) (rules, all []event.Suggestion) {
	for _, s := range r.Suggestions {
		if typ, _ := s.Update.Member("type"); typ.Text() == "addRules" && s.Behavior == "allow" && len(s.Rules) > 0 {
			rules = append(rules, s)
		}
	}
	if len(rules) < len(r.Suggestions) {
		all = r.Suggestions
	}
	return rules, all
}

// offered returns the choice that allows a call for a scope, or nil.
func offered(r *event.PermissionRequest, scope string) *event.Choice {
	for i, ch := range r.Choices {
		if ch.Behavior == event.ResolvedAllow && ch.Scope == scope {
			return &r.Choices[i]
		}
	}
	return nil
}

// permitted returns the answer that a line gives, or nil if it is not an answer.
func permitted(r *event.PermissionRequest, text string) *agent.PermissionAnswer {
	answer, words := yesNo(text)
	rules, all := grants(r)
	scope := map[string]string{"s": event.ScopeSession, "a": event.ScopeAlways}[answer]
	switch {
	case answer == "n":
		return &agent.PermissionAnswer{Message: words}
	case r.DefaultToNo && !strings.EqualFold(strings.TrimSpace(text), "yes"):
		return nil
	case answer == "y":
		return &agent.PermissionAnswer{Allow: true}
	case answer == "a" && len(rules) > 0:
		return &agent.PermissionAnswer{Allow: true, UpdatedPermissions: updates(rules)}
	case answer == "all" && len(all) > 0:
		return &agent.PermissionAnswer{Allow: true, UpdatedPermissions: updates(all)}
	case scope != "" && offered(r, scope) != nil:
		return &agent.PermissionAnswer{Allow: true, Choice: offered(r, scope).ID, Scope: scope}
	}
	return nil
}

// updates encodes suggestions in the agent's form.
func updates(list []event.Suggestion) json.RawMessage {
	var texts []string
	for _, s := range list {
		texts = append(texts, string(s.Update))
	}
	return json.RawMessage("[" + strings.Join(texts, ",") + "]")
}

// permitLines describes a request and the possible answers.
func permitLines(r *event.PermissionRequest) (lines []string) {
	title, _ := r.Data.Member("title")
	reason, _ := r.Data.Member("decision_reason")
	for _, text := range []string{title.Text(), r.Description, reason.Text()} {
		if text != "" {
			lines = append(lines, text)
		}
	}
	lines = append(lines, shownLines(r)...)
	if r.BlockedPath != "" {
		lines = append(lines, "it affects "+r.BlockedPath)
	}
	if r.Profile != "" {
		lines = append(lines, "it requests "+string(r.Profile))
	}
	if r.AgentID != "" {
		lines = append(lines, "a subagent requests it")
	}
	if r.DefaultToNo {
		return append(lines, "yes, as the whole word · n no, optionally with a reason")
	}
	yes := "y yes"
	if ch := offered(r, event.ScopeSession); ch != nil {
		yes += " · s " + term.OneLine(ch.Label)
	}
	rules, all := grants(r)
	if len(rules) > 0 {
		yes += " · a always (" + suggested(rules) + ")"
	} else if ch := offered(r, event.ScopeAlways); ch != nil {
		yes += " · a " + term.OneLine(ch.Label)
	}
	lines = append(lines, yes+" · n no, optionally with a reason")
	if len(all) > 0 {
		lines = append(lines, "all: always, and the agent's other suggestions ("+suggested(all)+")")
	}
	return lines
}

// shownLines returns the details of a call: its title, every argument that the first line of
// the request does not have, diffs and files.
func shownLines(r *event.PermissionRequest) (lines []string) {
	if r.DisplayName != "" && r.DisplayName != r.ToolName && r.ToolKind != "" {
		lines = append(lines, r.DisplayName)
	}
	first := new(printer).detail(r.Input)
	members, ok := r.Input.Value().(map[string]any)
	if !ok && r.Input != "" {
		lines = append(lines, string(r.Input))
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		member, _ := r.Input.Member(name)
		text := cmp.Or(words(members[name]), string(member))
		switch {
		case name == "changes":
			for _, change := range member.Elements() {
				path, _ := change.Member("path")
				diff, _ := change.Member("diff")
				lines = append(lines, "change of "+path.Text(), diff.Text())
			}
		case text != first && text != r.Description:
			lines = append(lines, name+": "+text)
		}
	}
	for _, block := range r.Content.Elements() {
		lines = append(lines, blockLines(block)...)
	}
	for _, l := range r.Locations.Elements() {
		path, _ := l.Member("path")
		lines = append(lines, "file: "+path.Text())
	}
	if r.Request != "" {
		lines = append(lines, "the agent describes this call only by its request: "+string(r.Request))
	}
	return lines
}

// blockLines returns a block of a call: a text, or the removed and added lines of a diff.
func blockLines(block event.JSON) (lines []string) {
	c := event.ContentOf(block)
	if c.Type != "diff" {
		return []string{cmp.Or(c.Text, string(block))}
	}
	path, _ := block.Member("path")
	before, _ := block.Member("oldText")
	after, _ := block.Member("newText")
	a, b := strings.Split(before.Text(), "\n"), strings.Split(after.Text(), "\n")
	for len(a) > 1 && len(b) > 1 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 1 && len(b) > 1 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	lines = []string{"change of " + path.Text()}
	if before.Text() != "" {
		lines = append(lines, "- "+strings.Join(a, "\n- "))
	}
	return append(lines, "+ "+strings.Join(b, "\n+ "))
}

// suggested describes all suggestions.
func suggested(list []event.Suggestion) string {
	var parts []string
	for _, s := range list {
		j, _ := s.Update.Member("type")
		typ := j.Text()
		switch {
		case s.Mode != "":
			parts = append(parts, "permission mode "+s.Mode+" "+destination(s))
		case len(s.Directories) > 0 && typ == "addDirectories":
			parts = append(parts, "access to "+strings.Join(s.Directories, ", ")+" "+destination(s))
		case len(s.Directories) > 0:
			parts = append(parts, typ+" "+strings.Join(s.Directories, ", ")+" "+destination(s))
		case len(s.Rules) > 0:
			what := s.Behavior + " " + strings.Join(s.Rules, ", ") + " " + destination(s)
			if typ != "addRules" {
				what = typ + " " + what
			}
			parts = append(parts, what)
		default:
			parts = append(parts, typ+" "+string(s.Update))
		}
	}
	return term.OneLine(strings.Join(parts, "; "))
}

// destination names the file or the scope of a suggestion. An unknown one keeps the agent's name.
func destination(s event.Suggestion) string {
	names := map[string]string{
		"session": "for this session", "userSettings": "in the user settings",
		"projectSettings": "in .claude/settings.json", "localSettings": "in .claude/settings.local.json",
	}
	return cmp.Or(names[s.Destination], "in "+s.Destination)
}

// plan asks for the approval of a plan.
func (c *loop) plan(r *event.PermissionRequest) *ask {
	return &ask{
		id: r.RequestID, call: r.ToolUseID,
		show: func() {
			plan, _ := revealed(r).Input.Member("plan")
			text := plan.Text()
			if text == "" {
				text = "(the agent gave no text)"
			}
			c.put("Approve this plan?", text, "y yes · a yes, and accept edits · n no, optionally with the changes to make")
		},
		answer: func(text string) (agent.Answer, bool) {
			switch answer, words := yesNo(text); answer {
			case "y":
				return &agent.PlanAnswer{Approve: true}, true
			case "a":
				return &agent.PlanAnswer{Approve: true, Mode: "acceptEdits"}, true
			case "n":
				return &agent.PlanAnswer{Message: words}, true
			}
			return nil, false
		},
		nobody: func() agent.Answer {
			c.con.Note("the plan is not approved, because there is no user to ask")
			return &agent.PlanAnswer{Message: noUserMessage}
		},
	}
}
