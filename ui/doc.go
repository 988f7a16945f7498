// Package ui turns the messages of an agent into what a screen shows.
//
// It has two halves. A [Converter] makes [Event] values, a stream with a meaning
// of its own, from messages of package claude and from the caller's prompts. A
// [Conversation] is the fold of such events: messages with their blocks, tool
// calls with input, progress, result and status, subagents, tasks, compactions,
// totals, and prompts that wait for an answer.
//
//	var conv ui.Conversation
//	for ev := range ui.Events(claude.Query(ctx, "hello", opts)) {
//		conv.Apply(ev)
//	}
//
// A session that was saved comes from its file: [Converter.Entry] takes the lines that
// package transcript gives, and the conversation is the one that was live.
//
// Both halves are pure: no I/O, no clock, no goroutine, no random number. The same
// input gives the same bytes. The TypeScript client has the same fold, and one
// corpus of cases holds the two against each other.
//
// State is kept by parent tool use, message and block index, so the stream of a
// subagent never touches that of the main conversation. Indexes are the API's own.
package ui
