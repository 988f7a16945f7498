package server

import "os"

// canRead reports whether this process can open a file or directory.
func canRead(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// canWrite assumes that what can be read can be written: a report must not promise more
// than it knows.
func canWrite(path string) bool { return canRead(path) }
