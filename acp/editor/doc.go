// Package editor serves the sessions of an agent.Provider to an editor that speaks the Agent Client
// Protocol: version 1, or the draft of version 2.
//
// [Serve] answers requests, keeps the order of prompts, asks the client for permissions and answers,
// and restarts an agent that has died at the next prompt. A [Mapper], which is pure, makes session
// updates from events, so that live turns and the replay of a stored session look the same.
package editor
