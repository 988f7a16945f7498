package term

import (
	"os"
	"syscall"
)

// TerminalWidth returns the columns of a terminal, 0 if unknown, and whether f is a
// terminal.
func TerminalWidth(f *os.File) (columns int, ok bool) {
	var mode uint32
	return 0, syscall.GetConsoleMode(syscall.Handle(f.Fd()), &mode) == nil
}

var setConsoleMode = syscall.NewLazyDLL("kernel32.dll").NewProc("SetConsoleMode")

// canColor enables colours on the console and reports whether it supports them.
func canColor(f *os.File) bool {
	const virtualTerminal = 4
	var mode uint32
	if syscall.GetConsoleMode(syscall.Handle(f.Fd()), &mode) != nil {
		return false
	}
	ok, _, _ := setConsoleMode.Call(f.Fd(), uintptr(mode|virtualTerminal))
	return ok != 0
}
