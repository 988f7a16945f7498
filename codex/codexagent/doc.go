// Package codexagent implements agent.Provider for Codex.
//
// Each session has a separate server, so that sessions have separate environments and the exit of
// one server ends one session. Answers to requests, prompts and interrupts go through package
// codex; the events are those of package codex/codexevent.
//
// A session does not implement the interfaces of features that Codex does not have, and
// agent.CapabilitiesOf reports them as missing: hooks in this process, a guard for tools, rewinding
// files, moving a command to the background, tasks, titles. A plan is text and never waits for an
// approval. An allow cannot change the input of a command. With the experimental API, the mode plan
// starts planning turns, in which the agent asks questions.
package codexagent
