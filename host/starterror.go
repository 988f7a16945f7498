package host

import (
	"errors"
	"syscall"

	"github.com/seed7221b0f9/parley/internal/proc"
)

// fromStart stores the details of a failed start, so that the owner gets the same error as without a host.
func (f *failure) fromStart(err error) {
	start, ok := errors.AsType[*proc.StartError](err)
	if !ok {
		return
	}
	f.Code, f.Text, f.Path, f.Dir, f.Start = "start", "", start.Path, start.Dir, start.Reason
	if start.Err != nil {
		f.Text = start.Err.Error()
	}
	if errno, ok := errors.AsType[syscall.Errno](start.Err); ok {
		f.Errno = int(errno)
	}
}

func (f *failure) startError() error {
	if f.Code != "start" {
		return nil
	}
	start := &proc.StartError{Path: f.Path, Dir: f.Dir, Reason: f.Start}
	if f.Text != "" {
		start.Err = &startCause{f.Text, syscall.Errno(f.Errno)}
	}
	return start
}

// startCause is an error with the text from the host and the system's error number.
type startCause struct {
	text  string
	errno syscall.Errno
}

func (c *startCause) Error() string { return c.text }

// Unwrap returns the system's error number, or nil.
func (c *startCause) Unwrap() error {
	if c.errno == 0 {
		return nil
	}
	return c.errno
}
