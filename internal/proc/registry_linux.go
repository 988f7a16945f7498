package proc

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/internal/supervise"
)

// bootID names this run of the system.
var bootID = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// describe is the record of a process that was started just now.
func describe(pid int, path string) Child {
	c := Child{PID: pid, Path: path}
	if e, ok := supervise.Read(pid); ok {
		c.Started, c.Boot = e.Started, bootID()
	}
	return c
}

// endTime bounds the end of a process that was killed.
const endTime = 5 * time.Second

// endOwned kills every process that has the mark of an owner or is one of children.
func endOwned(owner string, children []Child) ([]Child, error) {
	mark := ownerVariable + "=" + owner
	return endFound(func(p supervise.Process) bool { return isOneOf(p, children) || hasMark(p.PID, mark) })
}

// endFound kills the processes that match finds and their descendants, and waits for their end. All are stopped first, pass
// by pass, so that none starts another meanwhile.
func endFound(match func(supervise.Process) bool) (ended []Child, err error) {
	for _, f := range supervise.Freeze(match, map[int]bool{os.Getpid(): true}) {
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

// hasMark reports whether the environment of a process has an entry. That of another user cannot be read.
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

// awaitEnd waits until processes have ended. They are not children of this process, so that
// only looking helps.
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

// alive reports whether a process runs; one that only waits to be reaped does not.
func alive(c Child) bool {
	p, ok := supervise.Read(c.PID)
	return ok && p.Started == c.Started && p.State != 'Z' && syscall.Kill(c.PID, 0) != syscall.ESRCH
}
