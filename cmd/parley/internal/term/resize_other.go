//go:build !unix

package term

import "os"

// ResizeSignals is empty: this system does not tell.
var ResizeSignals []os.Signal

// IsResize reports whether the terminal has another size.
func IsResize(os.Signal) bool { return false }
