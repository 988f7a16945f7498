package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// VerifyMain runs a package's tests and fails them if they leave a goroutine or a child process
// running. It is the body of a TestMain.
func VerifyMain(m *testing.M) { os.Exit(Verify(m)) }

// Verify is like VerifyMain but returns the exit code, for a TestMain with further cleanup.
func Verify(m *testing.M) int {
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines left behind:", err)
			code = 1
		}
		if left := children(); len(left) > 0 {
			fmt.Fprintln(os.Stderr, "processes left behind:", strings.Join(left, "; "))
			code = 1
		}
	}
	return code
}

// children lists the child processes of this one, if the system reports them.
func children() []string {
	var left []string
	files, _ := filepath.Glob("/proc/self/task/*/children")
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		for _, pid := range strings.Fields(string(data)) {
			cmdline, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
			left = append(left, pid+" "+strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
	}
	return left
}
