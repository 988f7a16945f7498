//go:build unix

package proc

import (
	"errors"
	"io"
	"os"
	"syscall"
)

const canTryRead = true

// tryRead reads available data without waiting. It returns errWouldBlock if no data is available. f
// must be in non-blocking mode, as a file with deadlines is, and have no expired deadline.
func tryRead(f *os.File, p []byte) (n int, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var readErr error
	err = conn.Read(func(fd uintptr) bool {
		for {
			n, readErr = syscall.Read(int(fd), p)
			if !errors.Is(readErr, syscall.EINTR) {
				return true // true even without data: false would wait
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case errors.Is(readErr, syscall.EAGAIN):
		return 0, errWouldBlock
	case readErr != nil:
		return 0, readErr
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}
