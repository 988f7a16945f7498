package agent

import "context"

// Files is a place besides the disk where the text of a file can be newer, such as the unsaved
// buffers of an editor. A provider that knows which tools of its agent use files calls it around
// them; other providers ignore it. Both methods may be called by several goroutines at once and
// must return soon, because the tool waits for them.
type Files interface {
	// Before is called before a tool reads or changes a file, whose path is absolute, so
	// that the tool finds the newest text on the disk. The tool may still be refused.
	Before(ctx context.Context, path string)
	// After is called when a tool has changed a file, so that the place can take over the new
	// text.
	After(ctx context.Context, path string)
}
