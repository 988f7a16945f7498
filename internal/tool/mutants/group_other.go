//go:build !unix

package main

import "os/exec"

// ownGroup has no effect: there are no process groups.
func ownGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error { return cmd.Process.Kill() }
}
