const irregular: ReadonlyMap<string, string> = new Map([
  ["ListMcpResourcesTool", "CLAUDE_LIST_MCP_RESOURCES"],
  ["ReadMcpResourceTool", "CLAUDE_READ_MCP_RESOURCE"],
]);

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The kind of a tool as front ends choose a card by. */
export function toolType(provider: string, name: string): string {
  if (name.startsWith("mcp__")) return "MCP";
  if (!identifier.test(name)) return "UNKNOWN";
  const prefix = toolPrefix(provider);
  const known = irregular.get(name);
  if (known !== undefined && prefix === claudeTools) return known;
  return prefix + upperSnake(name);
}

const claudeTools = "CLAUDE_";

/** How the types of a provider's tools begin. */
function toolPrefix(provider: string): string {
  const name = provider.split(":")[0] ?? "";
  return name === "sim" || !identifier.test(name) ? claudeTools : upperSnake(name) + "_";
}

function upperSnake(name: string): string {
  return name.replace(/(?<=[^A-Z_])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_").toUpperCase();
}
