package claude

import (
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
)

// shadow is an option that answers before a callback is asked.
type shadow struct {
	because string
	tools   string // those that it answers for
}

// shadows are all options that do so. Questions and plans reach their callbacks
// whatever is allowed; only what turns asking off keeps them back.
func (l *launch) shadows() (all []shadow) {
	if !l.asksForPermission() {
		return nil
	}
	if l.PermissionMode == message.ModeDontAsk {
		all = append(all, shadow{"PermissionMode is dontAsk", "all"})
	}
	if l.PermissionPrompts == "none" {
		all = append(all, shadow{"PermissionPrompts is none", "all"})
	}
	if l.CanUseTool == nil {
		return all
	}
	for _, entry := range l.AllowedTools {
		if tool := wholeTool(entry); tool != "" {
			all = append(all, shadow{"AllowedTools has " + entry, tool})
		}
	}
	if l.AllSkills {
		all = append(all, shadow{"AllSkills is set", tool.Skill})
	}
	if l.PermissionMode == message.ModeBypassPermissions {
		all = append(all, shadow{"PermissionMode is bypassPermissions", "all but questions"})
	}
	return all
}

// wholeTool is the tool that an entry of allowed tools allows whatever its input,
// "" for one that allows some calls only, or none: a star is not a wildcard there, and no rule
// answers for a person.
func wholeTool(entry string) string {
	name, rule, limited := strings.Cut(strings.TrimSpace(entry), "(")
	if limited && rule != ")" && rule != "*)" {
		return ""
	}
	switch called := tool.Canonical(name); called {
	case "*", tool.AskUserQuestion, tool.ExitPlanMode:
		return ""
	default:
		return called
	}
}
