//go:build unix

package regularfile

import "syscall"

// NonBlocking makes the opening of a pipe return at once; 0 if the system has no such
// flag.
const NonBlocking = syscall.O_NONBLOCK

const noFollow = syscall.O_NOFOLLOW
