// Package event defines the events of an agent's session, their JSON, and the fold of events to
// the conversation that a screen shows. It knows no provider.
//
// An [Event] is one event of a session. A converter derives events from the output of a provider,
// such as claude/claudeevent from the messages of Claude Code. Servers, clients, stores and the page
// all exchange events as messages:
//
//	{"type":"notice","severity":"info","text":"…","provider":"claude"}
//
// An [Encoder] writes messages and a [Decoder] reads them. The members of a message are the fields
// of its event; the exceptions are documented at Encoder. The format is close to the CLI's, so that
// front-end code written for the official SDK works. A message, block or delta of an unknown type is
// {"type":"unknown","originalType":T,"data":…}, and members without a field are kept in
// [Header].Extra. [Shapes] describes the messages for generators: web/schema and web/src/rpc are
// generated from it.
//
// A [Conversation] is the fold of events: messages with their blocks, tool calls, subagents, plans,
// turns with the files that they changed, tasks, totals, notices, and prompts that wait for an
// answer. web/src/fold is the same fold in TypeScript, and one corpus of cases compares the two.
// Folding an event and folding its decoded message have the same result; an event without a message
// is not folded.
//
// The package is pure: no I/O, clock, goroutine or random number. Blocks are found by parent tool
// use, message and index, so the stream of a subagent never changes that of the main thread. Time
// and memory are at most n log n in the number of events.
package event
