package spawn

import "context"

// Line is one line between a program and its users.
type Line struct {
	// Number counts the lines of both directions together, from 1, in the order in which they were complete.
	Number uint64
	// Input is set if the line was written to the program.
	Input bool
	// Text is the line without its line feed, read-only. It is nil for a number without a line.
	Text []byte
}

// LineProcess is an optional interface of a [Process] with lines that another program numbers and stores, so that
// the process survives this one. Its lines are read and written here, not by Stdout and Stdin.
type LineProcess interface {
	Process
	// NextLine returns the next line of either direction, and io.EOF after the last line of the process. Only one
	// goroutine may call it.
	NextLine(ctx context.Context) (Line, error)
	// WriteLine writes a line under an id of 1 to 255 bytes. After it returns nil the line will be written, once,
	// even if this program ends. A line with a repeated id is not written again. If the input of the process has
	// ended, the error matches os.ErrClosed.
	WriteLine(ctx context.Context, id string, text []byte) error
}
