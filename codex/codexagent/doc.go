// Package codexagent makes Codex an agent.Provider.
//
// Each session has a server of its own, so that sessions have their own environments and
// the death of one server ends one session. Answers to requests, prompts and interrupts go
// through package codex; the events are those of package codex/codexevent.
//
// What Codex does not have is not in a session's interfaces, and agent.CapabilitiesOf says
// so: hooks in this process, a guard for tools, rewinding files, moving a command to the
// background, tasks, titles. A plan is text and never waits for an approval. An allow cannot
// change the input of a command. With the experimental API, the mode plan makes turns of
// planning, in which the agent asks questions.
package codexagent
