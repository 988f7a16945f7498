package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/internal/random"
)

// cgroup is a version 2 control group of a supervisor and all its descendants. No process can leave it, so it
// can end all of them even if the supervisor was killed.
type cgroup struct {
	path string
	dir  *os.File
}

const (
	cgroupPrefix = "parley-"
	// cgroupTime limits the wait for killed processes to leave their group.
	cgroupTime = 5 * time.Second
	// cgroupAge is the age at which a group counts as left behind: a younger one may not have a process yet.
	cgroupAge = time.Minute
)

// newCgroup makes a group below that of this process. It returns nil if the system has no such groups or this
// process may not create one.
func newCgroup() *cgroup {
	parent := ownCgroup()
	if parent == "" {
		return nil
	}
	path := filepath.Join(parent, fmt.Sprint(cgroupPrefix, os.Getpid(), "-", random.Hex(8)))
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil
	}
	g, err := openCgroup(path)
	if err != nil {
		_ = os.Remove(path)
		return nil
	}
	return g
}

// openCgroup opens an existing group with processes that can be killed together, which needs Linux 5.14.
func openCgroup(path string) (*cgroup, error) {
	if _, err := os.Stat(filepath.Join(path, "cgroup.kill")); err != nil {
		return nil, err
	}
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &cgroup{path, dir}, nil
}

// members returns the processes of the group and of the groups in it.
func (g *cgroup) members() (pids []int) {
	_ = filepath.WalkDir(g.path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		text, _ := os.ReadFile(filepath.Join(name, "cgroup.procs"))
		for field := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	return pids
}

// end kills every process of the group and removes it. A process blocked in the kernel keeps the group; a
// later process removes it.
func (g *cgroup) end() {
	if g == nil {
		return
	}
	_ = g.dir.Close()
	_ = os.WriteFile(filepath.Join(g.path, "cgroup.kill"), []byte("1"), 0)
	for wait := time.Millisecond; wait < cgroupTime; wait *= 2 {
		if err := removeCgroup(g.path); !errors.Is(err, syscall.EBUSY) {
			return
		}
		time.Sleep(wait)
	}
}

// removeCgroup removes a group and its subgroups. It fails if one of them has a process.
func removeCgroup(path string) error {
	var groups []string
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			groups = append(groups, name)
		}
		return nil
	})
	for _, name := range slices.Backward(groups) {
		if err := syscall.Rmdir(name); err != nil {
			return err
		}
	}
	return nil
}

// ownCgroup returns the folder of the group of this process, or "". The first call removes leftover groups
// without processes.
var ownCgroup = sync.OnceValue(func() string {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	groups, _ := os.ReadFile("/proc/self/cgroup")
	path := cgroupPath(string(mounts), string(groups))
	if path == "" {
		return ""
	}
	left, _ := filepath.Glob(filepath.Join(path, cgroupPrefix+"*"))
	for _, name := range left {
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > cgroupAge {
			_ = removeCgroup(name)
		}
	}
	return path
})

// cgroupPath returns the folder of a process's group from its mountinfo and cgroup files.
func cgroupPath(mounts, groups string) string {
	group, ok := "", false
	for line := range strings.Lines(groups) {
		if rest, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); is {
			group, ok = rest, true
		}
	}
	for line := range strings.Lines(mounts) {
		// 30 23 0:26 ROOT POINT rw,nosuid shared:4 - cgroup2 cgroup2 rw
		before, after, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if !ok || !strings.HasPrefix(after, "cgroup2 ") || len(fields) < 5 || strings.Contains(group, "/..") {
			continue
		}
		below, err := filepath.Rel(fields[3], group)
		if err != nil || strings.HasPrefix(below, "..") || strings.Contains(fields[4], `\`) {
			continue
		}
		return filepath.Join(fields[4], below)
	}
	return ""
}
