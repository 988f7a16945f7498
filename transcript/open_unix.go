//go:build unix

package transcript

import (
	"os"
	"syscall"
)

// openRegular opens a session file for reading. A link is not followed, and a pipe
// with nobody at its other end does not hold the list up.
func openRegular(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
