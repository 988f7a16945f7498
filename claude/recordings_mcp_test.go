package claude_test

import (
	"slices"
	"strings"
)

// mcpRules are the differences that are allowed in what servers of the caller's
// process say.
var mcpRules = []rule{
	{
		name:    "tools do not say how they run",
		applies: inputHas(`"execution":{"taskSupport":"forbidden"}`),
		allows:  "no execution in the definition of a tool",
		why:     "it is the default of the protocol; the MCP SDK for Go does not have it",
	},
	{
		name:    "hints that are false are told",
		applies: inputHas(`"annotations":{`),
		allows:  "readOnlyHint and idempotentHint that are false, their default",
		why:     "the MCP SDK for Go writes them",
	},
	{
		name:    "arguments are refused in other words",
		applies: inputHas("Input validation error:"),
		allows:  "another text behind Input validation error",
		why:     "another library validates; the model reads either",
	},
	{
		name:    "servers have no order",
		applies: inputHas(`"sdkMcpServers":[`),
		allows:  "another order of the names in sdkMcpServers",
		why:     "they are a map",
		other:   true,
	},
}

func init() { rules = append(rules, mcpRules...) }

func inputHas(text string) func(*comparison) bool {
	return func(c *comparison) bool {
		return slices.ContainsFunc(c.proc.Stdin, func(line string) bool { return strings.Contains(line, text) })
	}
}

// withoutServerWords takes from a line of input what the rules for servers of
// the caller's process allow.
func (c *comparison) withoutServerWords(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v["inputSchema"] != nil {
			c.toolDefinition(v)
		}
		if names, ok := v["sdkMcpServers"].([]any); ok && !slices.IsSortedFunc(names, compareAny) && c.allowed("servers have no order") {
			slices.SortFunc(names, compareAny)
		}
		for k, inner := range v {
			v[k] = c.withoutServerWords(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = c.withoutServerWords(inner)
		}
	case string:
		if i := strings.Index(v, "Input validation error:"); i >= 0 && c.allowed("arguments are refused in other words") {
			return "Input validation error: …"
		}
	}
	return v
}

func (c *comparison) toolDefinition(tool map[string]any) {
	if tool["execution"] != nil && c.allowed("tools do not say how they run") {
		delete(tool, "execution")
	}
	hints, _ := tool["annotations"].(map[string]any)
	for _, name := range []string{"readOnlyHint", "idempotentHint"} {
		if hints[name] == false && c.allowed("hints that are false are told") {
			delete(hints, name)
		}
	}
}

func compareAny(a, b any) int {
	x, _ := a.(string)
	y, _ := b.(string)
	return strings.Compare(x, y)
}
