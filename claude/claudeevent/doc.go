// Package claudeevent makes the events of package ui from what Claude says: messages of
// the CLI, prompts that are sent to it, and the lines of session files.
//
//	var conv event.Conversation
//	for ev := range claudeevent.Events(claude.Query(ctx, "hello", opts)) {
//		conv.Apply(ev)
//	}
//
// A session that was saved comes from its file: [Converter.Entry] takes the lines that
// package transcript gives, and the conversation is the one that was live.
//
// It is pure: no I/O, no clock, no goroutine, no random number. The same input gives
// the same events. Time and memory grow with the input and not with its square.
package claudeevent
