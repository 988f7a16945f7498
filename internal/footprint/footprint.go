// Package footprint makes the resident memory of a program that waits small.
//
// A program that serves one user waits most of the time. What it needed to start and to
// answer the last request stays resident all the same: the collector keeps the heap's pages
// for a while, and every page of the program's file that was read once stays mapped. The
// second is most of it for a large program of which little is used.
package footprint

import "runtime/debug"

// Trim gives back to the system what is not in use: free memory of the heap, and on Linux
// the pages of the program's own file, which the system maps again when they are needed.
// It takes a few milliseconds, and what runs next is a little slower.
func Trim() {
	debug.FreeOSMemory()
	dropProgram()
}
