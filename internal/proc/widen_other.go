//go:build !linux

package proc

import "os"

// widen does nothing where pipes have one size.
func widen(*os.File) {}
