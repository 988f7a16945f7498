package agent

import "context"

// Files is a store other than the disk that can hold newer texts of files, such as the unsaved
// buffers of an editor. A provider that knows which tools of its agent use files calls it around
// them; other providers ignore it. Both methods may be called concurrently and must return quickly,
// because the tool waits for them.
type Files interface {
	// Before is called before a tool reads or changes the file with this absolute path, so that the
	// tool finds the newest text on the disk. The tool may still be denied.
	Before(ctx context.Context, path string)
	// After is called when a tool has changed a file, so that the store can update its text.
	After(ctx context.Context, path string)
}
