//go:build !linux && !darwin && !windows

package term

import "os"

// TerminalWidth takes nothing for a terminal on systems that are not known.
func TerminalWidth(*os.File) (columns int, ok bool) { return 0, false }

func canColor(*os.File) bool { return false }
