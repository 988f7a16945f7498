package main

import "os/exec"

// ownGroup makes the end of the command's context kill it.
func ownGroup(cmd *exec.Cmd) { cmd.WaitDelay = waitDelay }
