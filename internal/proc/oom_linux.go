package proc

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
)

// oomFile returns the file with the OOM killer's count, for the most specific scope that the system has:
// children start in our control group.
var oomFile = sync.OnceValue(func() string {
	groups, _ := os.ReadFile("/proc/self/cgroup")
	return findOOMFile("/sys/fs/cgroup", string(groups), "/proc/vmstat")
})

// findOOMFile searches the control groups below root: version 2, version 1, each also as seen from inside of
// a container, where the group is the root. otherwise is the file for the whole system.
func findOOMFile(root, groups, otherwise string) string {
	for line := range strings.Lines(groups) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		var files []string
		switch {
		case id == "0" && controllers == "":
			files = []string{path.Join(root, group, "memory.events"), path.Join(root, "memory.events")}
		case controllers == "memory":
			files = []string{path.Join(root, "memory", group, "memory.oom_control"), path.Join(root, "memory", "memory.oom_control")}
		}
		for _, f := range files {
			if _, ok := readOOMCount(f); ok {
				return f
			}
		}
	}
	return otherwise
}

// readOOMCount reads the line "oom_kill 3".
func readOOMCount(file string) (n int64, ok bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(data) {
		if f := bytes.Fields(line); len(f) == 2 && string(f[0]) == "oom_kill" {
			n, err = strconv.ParseInt(string(f[1]), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// oomCount returns the number of killed processes so far.
func oomCount() (n int64, ok bool) { return readOOMCount(oomFile()) }
