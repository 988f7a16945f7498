package proc

import "os/exec"

// Detach has no effect: there are no hosts on Windows.
func Detach(*exec.Cmd) {}
