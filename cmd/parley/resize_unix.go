//go:build unix

package main

import (
	"os"
	"syscall"
)

// resizeSignals tell that the terminal has another size.
var resizeSignals = []os.Signal{syscall.SIGWINCH}

func isResize(sig os.Signal) bool { return sig == syscall.SIGWINCH }
