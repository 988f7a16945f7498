// Package acp speaks the Agent Client Protocol, by which editors talk to coding agents.
//
// [Serve] is the agent's side: it makes the sessions of an agent.Provider available to a
// client that speaks version 1 of the protocol, or the draft of version 2. Everything that
// an agent says arrives as events of package ui; a [Mapper], which is pure, makes session
// updates of them, so that live turns and the replay of a stored session are shown the
// same way. The layer around it answers requests, keeps the order of prompts, asks the
// client for permissions and answers, and starts an agent that has died again at the next
// prompt.
//
// The types are generated from the protocol's schema. Members that are not known are kept
// in Extra, and so are all members of a variant that is not known; a wrong value of an
// optional member counts as absent and is kept too. Members of updates are [Optional]:
// absent, null or a value.
package acp
