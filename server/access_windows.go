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

// canWrite assumes that a readable file is writable: a report must not promise more protection than
// it knows of.
func canWrite(path string) bool { return canRead(path) }
