//go:build unix

package term

import (
	"os"
	"syscall"
)

// ResizeSignals are sent when the terminal is resized.
var ResizeSignals = []os.Signal{syscall.SIGWINCH}

// IsResize reports whether a signal means that the terminal was resized.
func IsResize(sig os.Signal) bool { return sig == syscall.SIGWINCH }
