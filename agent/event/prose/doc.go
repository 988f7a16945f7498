// Package prose writes a conversation as text for people and models: the messages, the tool calls,
// and their results. [Entries] returns it in pieces for callers that select among them, [Markdown]
// as one document. The package is pure and works with any agent.
package prose
