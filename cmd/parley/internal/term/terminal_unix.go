//go:build linux || darwin

package term

import (
	"os"
	"syscall"
	"unsafe"
)

// TerminalWidth returns the columns of a terminal, 0 if unknown, and whether f is a
// terminal.
func TerminalWidth(f *os.File) (columns int, ok bool) {
	var size struct{ rows, columns, x, y uint16 }
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	return int(size.columns), errno == 0
}

// canColor reports whether the terminal f understands colours.
func canColor(*os.File) bool { return true }
