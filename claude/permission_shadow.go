package claude

import "strings"

// warnShadowed warns of permission callbacks that can never be called.
func (s *session) warnShadowed() {
	for _, w := range s.opts.shadows() {
		s.warn("claude: a permission callback is never asked", "because", w.because, "tools", w.tools)
	}
}

// shadow is an option that answers before a callback is asked.
type shadow struct {
	because string
	tools   string // those that it answers for
}

// shadows are all options that do so. Questions and plans reach their callbacks
// whatever is allowed; only what turns asking off keeps them back.
func (o *Options) shadows() (all []shadow) {
	if !o.asksForPermission() {
		return nil
	}
	if o.PermissionMode == ModeDontAsk {
		all = append(all, shadow{"PermissionMode is dontAsk", "all"})
	}
	if o.PermissionPrompts == "none" {
		all = append(all, shadow{"PermissionPrompts is none", "all"})
	}
	if o.CanUseTool == nil {
		return all
	}
	for _, entry := range o.AllowedTools {
		if tool := wholeTool(entry); tool != "" {
			all = append(all, shadow{"AllowedTools has " + entry, tool})
		}
	}
	if o.AllSkills {
		all = append(all, shadow{"AllSkills is set", ToolSkill})
	}
	if o.PermissionMode == ModeBypassPermissions {
		all = append(all, shadow{"PermissionMode is bypassPermissions", "all but questions"})
	}
	return all
}

// wholeTool is the tool that an entry of allowed tools allows whatever its input,
// "" for one that allows some calls only, or none: a star is no wildcard there,
// and no rule answers for a person.
func wholeTool(entry string) string {
	name, rule, limited := strings.Cut(strings.TrimSpace(entry), "(")
	if limited && rule != ")" && rule != "*)" {
		return ""
	}
	switch tool := CanonicalTool(name); tool {
	case "*", ToolAskUserQuestion, ToolExitPlanMode:
		return ""
	default:
		return tool
	}
}
