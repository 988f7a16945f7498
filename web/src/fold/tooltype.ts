const irregular: ReadonlyMap<string, string> = new Map([
  ["ListMcpResourcesTool", "CLAUDE_LIST_MCP_RESOURCES"],
  ["ReadMcpResourceTool", "CLAUDE_READ_MCP_RESOURCE"],
]);

/** The kind of a tool as front ends choose a card by. */
export function toolType(name: string): string {
  const known = irregular.get(name);
  if (known !== undefined) return known;
  if (name.startsWith("mcp__")) return "MCP";
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return "UNKNOWN";
  const snake = name.replace(/(?<=[^A-Z_])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_");
  return "CLAUDE_" + snake.toUpperCase();
}
