package main

import "os/exec"

// peakMemory is not measured on this system.
func peakMemory(*exec.Cmd) int64 { return 0 }
