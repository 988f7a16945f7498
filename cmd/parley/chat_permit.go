package main

import (
	"context"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// noUserMessage is what the agent reads when there is no user to ask.
const noUserMessage = "Denied: there is no user to ask."

// permit asks whether a tool may run.
func (c *chatLoop) permit(ctx context.Context, p *claude.PermissionRequest) (claude.PermissionResult, error) {
	return askUser(ctx, c, p.ToolUseID, func(done func(claude.PermissionResult)) *chatAsk {
		what := func() string { return strings.TrimSpace(p.ToolName + " " + c.out.detail(p.Input)) }
		always := newAlways(p)
		return &chatAsk{
			show: func() { c.put("May it run? "+what(), permitLines(p, always)...) },
			answer: func(text string) reply {
				r := permission(p, text, always)
				if r == nil {
					return notUnderstood
				}
				done(r)
				return settled
			},
			nobody: func() {
				c.con.Note("denied, because there is no user to ask: " + what())
				done(&claude.Deny{Message: noUserMessage})
			},
		}
	})
}

// always is what can be allowed from now on.
type always struct {
	rules []message.PermissionUpdate // the like of this call
	all   []message.PermissionUpdate // everything that the CLI suggests, nil if that is not more
}

func newAlways(p *claude.PermissionRequest) (a always) {
	if p.SuppressAlwaysAllowRule {
		return a
	}
	if a.rules = claude.RulesOnly(p.Suggestions); len(a.rules) < len(p.Suggestions) {
		a.all = p.Suggestions
	}
	return a
}

// permission is what a line decides, nil if it decides nothing.
func permission(p *claude.PermissionRequest, text string, always always) claude.PermissionResult {
	answer, words := yesNo(text)
	switch {
	case answer == "n":
		return &claude.Deny{Message: words, Classification: claude.ClassifiedReject}
	case p.DefaultToNo && !strings.EqualFold(strings.TrimSpace(text), "yes"):
		return nil
	case answer == "y":
		return &claude.Allow{Classification: claude.ClassifiedTemporary}
	case answer == "a" && len(always.rules) > 0:
		return &claude.Allow{UpdatedPermissions: always.rules, Classification: claude.ClassifiedPermanent}
	case answer == "all" && len(always.all) > 0:
		return &claude.Allow{UpdatedPermissions: always.all, Classification: claude.ClassifiedPermanent}
	}
	return nil
}

// permitLines are what is to be known before the decision, and how to make it.
func permitLines(p *claude.PermissionRequest, always always) (lines []string) {
	for _, text := range []string{p.Title, p.Description, p.DecisionReason} {
		if text != "" {
			lines = append(lines, text)
		}
	}
	if p.BlockedPath != "" {
		lines = append(lines, "it touches "+p.BlockedPath)
	}
	if p.AgentID != "" {
		lines = append(lines, "a subagent asks")
	}
	yes := "y yes"
	if p.DefaultToNo {
		yes = "yes, in full"
	}
	if len(always.rules) > 0 && !p.DefaultToNo {
		yes += " · a always (" + suggested(always.rules) + ")"
	}
	lines = append(lines, yes+" · n no, with a word why if you like")
	if len(always.all) > 0 && !p.DefaultToNo {
		lines = append(lines, "all, in full: always, and what else the agent suggests ("+suggested(always.all)+")")
	}
	return lines
}

// suggested says what always means, all of it.
func suggested(updates []message.PermissionUpdate) string {
	var parts []string
	for _, u := range updates {
		switch {
		case u.Mode != "":
			parts = append(parts, "permission mode "+string(u.Mode)+" in "+string(u.Destination))
		case len(u.Directories) > 0:
			parts = append(parts, string(u.Type)+" "+strings.Join(u.Directories, ", ")+" in "+string(u.Destination))
		case len(u.Rules) > 0:
			var rules []string
			for _, r := range u.Rules {
				rules = append(rules, r.String())
			}
			what := string(u.Behavior) + " " + strings.Join(rules, ", ") + " in " + string(u.Destination)
			if u.Type != message.UpdateAddRules {
				what = string(u.Type) + " " + what
			}
			parts = append(parts, what)
		default:
			parts = append(parts, string(u.Type)+" "+string(u.Raw()))
		}
	}
	return term.OneLine(strings.Join(parts, "; "))
}

// plan asks whether a plan is approved.
func (c *chatLoop) plan(ctx context.Context, p *claude.PlanRequest) (*claude.PlanDecision, error) {
	return askUser(ctx, c, p.ToolUseID, func(done func(*claude.PlanDecision)) *chatAsk {
		return &chatAsk{
			show: func() {
				text := p.Plan
				if text == "" {
					text = "(the agent gave no text)"
				}
				c.put("Is this plan approved?", text, "y yes · a yes, and edits need no asking · n no, with what to change if you like")
			},
			answer: func(text string) reply {
				switch answer, words := yesNo(text); answer {
				case "y":
					done(&claude.PlanDecision{Approve: true})
				case "a":
					done(&claude.PlanDecision{Approve: true, Mode: message.ModeAcceptEdits})
				case "n":
					done(&claude.PlanDecision{Message: words})
				default:
					return notUnderstood
				}
				return settled
			},
			nobody: func() {
				c.con.Note("the plan is not approved, because there is no user to ask")
				done(&claude.PlanDecision{Message: noUserMessage})
			},
		}
	})
}
