package claude

import "github.com/seed7221b0f9/parley/claude/message"

// RulesOnly returns the suggestions that add allow rules. Use it for "always allow" of one tool call: the CLI's
// suggestions may also change the permission mode or add directories, after which other tools run without asking.
// The list is empty if the CLI suggests no such rule. Suggestions of unknown kinds are omitted.
func RulesOnly(suggestions []message.PermissionUpdate) (rules []message.PermissionUpdate) {
	for _, u := range suggestions {
		if u.Type == message.UpdateAddRules && u.Behavior == message.BehaviorAllow && len(u.Rules) > 0 {
			rules = append(rules, u)
		}
	}
	return rules
}
