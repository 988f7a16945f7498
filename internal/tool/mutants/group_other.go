//go:build !unix

package main

import "os/exec"

// ownGroup has no groups of processes to make.
func ownGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error { return cmd.Process.Kill() }
}
