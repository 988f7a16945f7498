package agent

import "context"

// Files is a place beside the disk where the text of a file can be newer, such as the
// unsaved buffers of an editor. A provider that knows which tools of its agent use files
// calls it around them; the others ignore it. Both are called by several goroutines at
// once, and both wait no longer than a moment for that place.
type Files interface {
	// Before is called before a tool reads or changes a file, whose path is absolute, so
	// that the tool finds the newest text on the disk. The tool may still be refused.
	Before(ctx context.Context, path string)
	// After is called when a tool has changed a file, so that the place gets to know the
	// text that the tool has written.
	After(ctx context.Context, path string)
}
