package claude

import "strings"

// warnShadowed warns of permission callbacks that can never be called.
func (s *session) warnShadowed() {
	if !s.opts.asksForPermission() {
		return
	}
	for _, w := range s.opts.shadows() {
		s.warn("claude: a permission callback is never asked", "because", w.because, "tool", w.tool)
	}
}

// shadow is an option that answers before the callback is asked.
type shadow struct {
	because string
	tool    string // the tool that it answers for
}

const everyTool = "*"

// shadows are all options that do so.
func (o *Options) shadows() (all []shadow) {
	for _, entry := range o.AllowedTools {
		if tool := wholeTool(entry); tool != "" && !asksAnyway(tool) {
			all = append(all, shadow{"AllowedTools has " + entry, tool})
		}
	}
	if o.AllSkills {
		all = append(all, shadow{"AllSkills is set", ToolSkill})
	}
	if o.PermissionMode == ModeBypassPermissions || o.PermissionMode == ModeDontAsk {
		all = append(all, shadow{"PermissionMode is " + string(o.PermissionMode), everyTool})
	}
	if o.PermissionPrompts == "none" {
		all = append(all, shadow{"PermissionPrompts is none", everyTool})
	}
	return all
}

// asksAnyway are the tools for which no rule answers.
func asksAnyway(tool string) bool {
	return tool == ToolAskUserQuestion || tool == ToolExitPlanMode
}

// wholeTool is the tool that an entry of allowed tools allows whatever its input,
// "" for an entry that allows some calls only.
func wholeTool(entry string) string {
	tool, rule, limited := strings.Cut(strings.TrimSpace(entry), "(")
	if limited && rule != ")" && rule != "*)" {
		return ""
	}
	return CanonicalTool(tool)
}
