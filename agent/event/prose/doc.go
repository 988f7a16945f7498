// Package prose writes a conversation as text that people and models can read: who said
// what, which tools were used, and what came of it. [Entries] gives it piece by piece, for
// callers that choose among them, [Markdown] as one document. It is pure, and whatever agent
// the conversation was with.
package prose
