package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/internal/supervise"
	"github.com/seed7221b0f9/parley/spawn"
)

// bootID identifies the current boot of the system.
var bootID = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// describe returns the record of a process that was just started.
func describe(pid int, path string) Child {
	c := Child{PID: pid, Path: path}
	if e, ok := supervise.Read(pid); ok {
		c.Started, c.Boot = e.Started, bootID()
	}
	return c
}

// endTime limits the wait for the end of a killed process.
const endTime = 5 * time.Second

// endOwned kills every process that has the mark of an owner, is listed in children, or is in the control group of
// a listed one.
func endOwned(owner string, children []Child) ([]Child, error) {
	mark := ownerVariable + "=" + owner
	groups := ownedGroups(owner, children)
	members := map[int]bool{}
	for _, g := range groups {
		for _, pid := range g.members() {
			members[pid] = true
		}
	}
	match := func(p supervise.Process) bool { return members[p.PID] || isOneOf(p, children) || hasMark(p.PID, mark) }
	ended, err := endFound(match, map[int]bool{os.Getpid(): true})
	for _, g := range groups {
		g.end() // processes that have started in it since
	}
	return ended, err
}

// groupOf returns the folder of a process's control group, if any.
func groupOf(p spawn.Process) string {
	if c := localChild(p); c != nil && c.link != nil && c.link.group != nil {
		return c.link.group.path
	}
	return ""
}

// ownedGroups returns the existing control groups of children. The name of a group begins with the process id of its owner.
func ownedGroups(owner string, children []Child) (groups []*cgroup) {
	pid, _, _ := strings.Cut(owner, "-")
	for _, c := range children {
		if c.Boot != bootID() || !strings.HasPrefix(filepath.Base(c.Group), cgroupPrefix+pid+"-") {
			continue
		}
		if g, err := openCgroup(c.Group); err == nil {
			groups = append(groups, g)
		}
	}
	return groups
}

// endFound kills the processes that match selects and their descendants, except for those in spared, and waits for their
// end. It first stops all of them, in several passes, so that they cannot start new ones.
func endFound(match func(supervise.Process) bool, spared map[int]bool) (ended []Child, err error) {
	for _, f := range supervise.Freeze(match, spared) {
		ended = append(ended, Child{PID: f.PID, Started: f.Started, Boot: bootID(), Path: programOf(f.PID)})
		f.End()
	}
	return ended, awaitEnd(ended)
}

func isOneOf(p supervise.Process, children []Child) bool {
	return slices.ContainsFunc(children, func(c Child) bool {
		return c.PID == p.PID && c.Started == p.Started && c.Started != "" && c.Boot == bootID()
	})
}

// hasMark reports whether the environment of a process has an entry. The environment of another user's process cannot be
// read.
func hasMark(pid int, mark string) bool {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || !bytes.Contains(environ, []byte(mark)) {
		return false
	}
	for kv := range bytes.SplitSeq(environ, []byte{0}) {
		if string(kv) == mark {
			return true
		}
	}
	return false
}

func programOf(pid int) string {
	path, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	return path
}

// awaitEnd waits until processes have ended. They are not children of this process, so it polls.
func awaitEnd(children []Child) error {
	deadline := time.Now().Add(endTime)
	for _, c := range children {
		for alive(c) {
			if time.Now().After(deadline) {
				return fmt.Errorf("process %d has not ended within %v of being killed", c.PID, endTime)
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
	return nil
}

// alive reports whether a process is running; a zombie is not.
func alive(c Child) bool {
	p, ok := supervise.Read(c.PID)
	return ok && p.Started == c.Started && p.State != 'Z' && syscall.Kill(c.PID, 0) != syscall.ESRCH
}
