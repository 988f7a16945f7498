// Package claudeevent converts Claude's data to the events of package event: messages of
// the CLI, prompts sent to it, and the lines of session files.
//
//	var conv event.Conversation
//	for ev := range claudeevent.Events(claude.Query(ctx, "hello", opts)) {
//		conv.Apply(ev)
//	}
//
// [Converter.Entry] loads a saved session: it takes the lines of the file in the order
// that package transcript returns, and gives the same conversation as the live session.
//
// The package is pure: no I/O, no clock, no goroutines, no random numbers. The same input
// gives the same events. Time and memory are not quadratic in the input.
package claudeevent
