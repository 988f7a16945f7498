package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/internal/random"
)

// cgroup is a control group of version 2 that holds a supervisor and everything below it. No process can leave
// it, so that it ends all of them also when the supervisor was killed.
type cgroup struct {
	path string
	dir  *os.File
}

const (
	cgroupPrefix = "parley-"
	// cgroupTime bounds how long processes that were killed may take to leave their group.
	cgroupTime = 5 * time.Second
	// cgroupAge is how old a group is when it counts as left behind: a younger one may have no process yet.
	cgroupAge = time.Minute
)

// newCgroup makes a group below that of this process. It returns nil where the system has no such groups or does
// not let this process make one.
func newCgroup() *cgroup {
	parent := ownCgroup()
	if parent == "" {
		return nil
	}
	g := &cgroup{path: filepath.Join(parent, fmt.Sprint(cgroupPrefix, os.Getpid(), "-", random.Hex(4)))}
	if err := os.Mkdir(g.path, 0o755); err != nil {
		return nil
	}
	_, err := os.Stat(filepath.Join(g.path, "cgroup.kill")) // since Linux 5.14
	if err == nil {
		g.dir, err = os.Open(g.path)
	}
	if err != nil {
		_ = os.Remove(g.path)
		return nil
	}
	return g
}

// end kills every process of the group and removes it. What a device holds keeps the group, which a later
// process removes.
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

// removeCgroup removes a group and those that its processes have made in it. It fails while one has a process.
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

// ownCgroup returns the folder of the group of this process, "" if there is none. The first call removes groups
// without a process that others have left.
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

// cgroupPath finds the folder of a process's group in the texts of its mountinfo and cgroup files.
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
