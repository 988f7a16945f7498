// Package event has the events of an agent's session and their fold to what a screen shows,
// whichever agent it is.
//
// An [Event] is one thing that happened. Packages below this one make events from what
// a provider says, such as claude/claudeevent from Claude's messages. A [Conversation] is the
// fold of events: messages with their blocks, tool calls with input, progress, result
// and status, subagents, plans, turns with the files that they changed, tasks,
// compactions, totals, notices, and prompts that wait for an answer.
//
// It is pure: no I/O, no clock, no goroutine, no random number. The same input gives
// the same bytes. The TypeScript client has the same fold, and one corpus of cases
// holds the two against each other.
//
// State is kept by parent tool use, message and block index, so the stream of a
// subagent never touches that of the main conversation. Indexes are the API's own. Time
// and memory grow with the events, and not with their square.
package event
