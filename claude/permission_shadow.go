package claude

import (
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
)

// shadow is an option that decides before a callback is called.
type shadow struct {
	because string
	tools   string // the tools that it decides
}

// shadows returns all such options. Allow rules do not affect questions and plans; only
// options that disable asking do.
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

// wholeTool returns the tool that an entry of the allowed tools allows with any input. It
// returns "" for an entry that allows only some calls or no call: a star is not a wildcard
// there, and rules do not answer questions to a person.
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
