//go:build unix

package server

import "syscall"

// The bits of access(2).
const (
	accessRead  = 4
	accessWrite = 2
)

// canRead reports whether the user of this process, which is also that of its agents, may read a
// file or directory.
func canRead(path string) bool { return syscall.Access(path, accessRead) == nil }

// canWrite reports whether that user may write a file or directory.
func canWrite(path string) bool { return syscall.Access(path, accessWrite) == nil }
