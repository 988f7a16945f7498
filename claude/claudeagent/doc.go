// Package claudeagent implements the agent.Provider of Claude Code with package claude.
//
// Each session has its own CLI. Package claudeevent converts its messages to events. A request
// of the CLI stays open until Session.Answer is called or the CLI cancels it. A request that is
// open when the CLI dies is resolved as cancelled, never as allowed.
//
// Package transcript reads past sessions, the delivery of prompts and whether a session is open
// elsewhere from the CLI's files.
package claudeagent
