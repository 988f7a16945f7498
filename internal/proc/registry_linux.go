package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// bootID names this run of the system.
var bootID = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// describe is the record of a process that was started just now.
func describe(pid int, path string) Child {
	c := Child{PID: pid, Path: path}
	if e, ok := readProcess(pid); ok {
		c.Started, c.Boot = e.started, bootID()
	}
	return c
}

// endTime bounds the end of a process that was killed.
const endTime = 5 * time.Second

// endOwned kills every process that has the mark of an owner or is one of children. As in killTree all are
// stopped first, pass by pass, so that none starts another meanwhile.
func endOwned(owner string, children []Child) ([]Child, error) {
	var frozen []*os.Process
	var ended []Child
	known := map[int]bool{os.Getpid(): true}
	for found := true; found; {
		found = false
		for _, e := range processTable() {
			if known[e.pid] || !isOwned(e, owner, children) {
				continue
			}
			known[e.pid], found = true, true
			if p := freeze(e); p != nil {
				frozen = append(frozen, p)
				ended = append(ended, Child{PID: e.pid, Started: e.started, Boot: bootID(), Path: programOf(e.pid)})
			}
		}
	}
	for _, p := range frozen {
		_ = p.Kill() // one that is gone already does not matter
		_ = p.Release()
	}
	return ended, awaitEnd(ended)
}

func isOwned(e processEntry, owner string, children []Child) bool {
	for _, c := range children {
		if c.PID == e.pid && c.Started == e.started && c.Started != "" && c.Boot == bootID() {
			return true
		}
	}
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(e.pid) + "/environ")
	if err != nil {
		return false // of another user
	}
	mark := []byte(ownerVariable + "=" + owner)
	for kv := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.Equal(kv, mark) {
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
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(c.PID) + "/stat")
	if err != nil {
		return false
	}
	e, ok := parseStat(c.PID, stat)
	return ok && e.started == c.Started && e.state != 'Z' && syscall.Kill(c.PID, 0) != syscall.ESRCH
}
