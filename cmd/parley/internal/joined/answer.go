package joined

import (
	"maps"
	"slices"
)

// answer checks the answer to a request of the agent: for a permission, a hook, or a question of an MCP server. The
// kind of the request is unknown here, so it accepts the members of all kinds and limits the permissions in each.
func (p *Policy) answer() shape {
	permission := members{
		"behavior": one("allow", "deny", "cancelled"), "message": text, "interrupt": boolean, "updatedInput": anyData, "updatedPermissions": list(update),
		"decisionClassification": text, "toolUseID": text,
	}
	specific := object(members{
		"hookEventName": one(hookEvents...), "permissionDecision": one("allow", "deny", "ask", "defer"), "permissionDecisionReason": text, "updatedInput": anyData,
		"additionalContext": text, "decision": p.limited(object(permission)),
	})
	all := members{
		"continue": boolean, "suppressOutput": boolean, "stopReason": text, "decision": one("approve", "block"), "systemMessage": text, "reason": text, "hookSpecificOutput": specific,
		"action": one("accept", "decline", "cancel"), "content": anyData,
	}
	maps.Copy(all, permission)
	return p.limited(object(all))
}

// update accepts one update of the permissions.
var update = func() shape {
	rules := members{"rules": list(object(members{"toolName": text, "ruleContent": either(null, text)})), "behavior": one("allow", "deny", "ask"), "destination": text}
	directories := members{"directories": list(text), "destination": text}
	return variant("type", map[string]members{
		"addRules": rules, "replaceRules": rules, "removeRules": rules, "setMode": {"mode": text, "destination": text},
		"addDirectories": directories, "removeDirectories": directories,
	})
}()

// limited checks an answer and limits its permission updates: rules and modes apply to the session only, and modes above the ceiling
// and directories are removed. The answer itself reaches the agent.
func (p *Policy) limited(check shape) shape {
	return func(v any) error {
		if err := check(v); err != nil {
			return err
		}
		answer := v.(map[string]any) // checked to be an object
		updates, ok := answer["updatedPermissions"].([]any)
		if !ok {
			return nil
		}
		answer["updatedPermissions"] = slices.DeleteFunc(updates, func(v any) bool { return !p.limit(v.(map[string]any)) })
		return nil
	}
}

// limit restricts a permission update to the session. It returns false for an update that exceeds the limits.
func (p *Policy) limit(update map[string]any) bool {
	kind, _ := update["type"].(string)
	mode, _ := update["mode"].(string)
	if kind == "setMode" && !p.ceiling.allows(mode) || kind == "addDirectories" || kind == "removeDirectories" {
		p.log.Warn("a change of the permissions by the server was dropped", "type", kind, "mode", mode)
		return false
	}
	update["destination"] = "session"
	return true
}
