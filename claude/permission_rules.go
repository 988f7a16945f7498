package claude

import "github.com/seed7221b0f9/parley/claude/message"

// RulesOnly returns those suggestions that add rules which allow. It is what "always allow" should mean for one
// tool call: the CLI's suggestions may also change the permission mode or add directories, after which other tools
// run without being asked about. The list is empty where the CLI suggests nothing so narrow. Suggestions of
// kinds that are unknown here are left out.
func RulesOnly(suggestions []message.PermissionUpdate) (rules []message.PermissionUpdate) {
	for _, u := range suggestions {
		if u.Type == message.UpdateAddRules && u.Behavior == message.BehaviorAllow && len(u.Rules) > 0 {
			rules = append(rules, u)
		}
	}
	return rules
}
