//go:build !unix

package term

import "os"

// ResizeSignals is empty: this system has no such signal.
var ResizeSignals []os.Signal

// IsResize reports whether a signal means that the terminal was resized.
func IsResize(os.Signal) bool { return false }
