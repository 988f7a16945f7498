//go:build !linux && !darwin && !windows

package main

import "os"

// terminalWidth takes nothing for a terminal on systems that are not known.
func terminalWidth(*os.File) (columns int, ok bool) { return 0, false }

func canColor(*os.File) bool { return false }
