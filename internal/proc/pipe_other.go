//go:build !linux

package proc

import "os"

// newPipe opens a pipe.
func newPipe(bool) (p pipe, err error) {
	p.r, p.w, err = os.Pipe()
	return p, err
}
