//go:build !unix

package workspace

import (
	"os"
	"os/exec"
)

// ownGroup leaves the command unchanged: there are no process groups, and descriptors are not
// inherited.
func ownGroup(*exec.Cmd, *os.File) {}
