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

// canWrite reports true for a readable file, because a report must not claim protection that it
// cannot check.
func canWrite(path string) bool { return canRead(path) }
