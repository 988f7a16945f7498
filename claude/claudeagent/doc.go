// Package claudeagent is the agent.Provider of Claude Code, on package claude.
//
// Each session has a CLI of its own. Package claudeui turns its messages into events. A request
// of the CLI stays open until Session.Answer was called or the CLI withdrew it. A request that
// is open when the CLI dies is resolved as cancelled, never as allowed.
//
// Past sessions, the delivery of prompts and whether a session is open elsewhere are read
// from the CLI's own files by package transcript.
package claudeagent
