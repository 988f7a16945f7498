package main

import "os/exec"

// peakMemory returns 0: it is not measured on this system.
func peakMemory(*exec.Cmd) int64 { return 0 }
