package transcript

import "os"

// running reports whether a process exists.
func running(pid int, _ string) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release() // the process is not waited for
	return true
}
