//go:build !unix

package main

import "os"

// resizeSignals is empty: this system does not tell.
var resizeSignals []os.Signal

func isResize(os.Signal) bool { return false }
