//go:build unix

package term

import (
	"os"
	"syscall"
)

// ResizeSignals tell that the terminal has another size.
var ResizeSignals = []os.Signal{syscall.SIGWINCH}

// IsResize reports whether the terminal has another size.
func IsResize(sig os.Signal) bool { return sig == syscall.SIGWINCH }
