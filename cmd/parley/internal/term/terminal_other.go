//go:build !linux && !darwin && !windows

package term

import "os"

// TerminalWidth never detects a terminal on unknown systems.
func TerminalWidth(*os.File) (columns int, ok bool) { return 0, false }

func canColor(*os.File) bool { return false }
