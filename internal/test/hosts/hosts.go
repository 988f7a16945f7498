// Package hosts finds hosts of agents that tests have left running.
package hosts

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// patience limits the time in which a host ends by itself: without an owner and agents it waits for ten
// seconds.
const patience = 20 * time.Second

// Left returns an error if hosts are running that use this test's program, on a system that lists
// processes. Hosts of other programs, such as concurrent tests, do not count. name is the zeroth
// argument of a host.
func Left(name string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		pids := of(name, self)
		if len(pids) == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the tests have left hosts running: %d", pids)
		}
	}
}

// of returns the ids of the hosts that run a program.
func of(host, program string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline") // none on another system
	for _, name := range names {
		command, err := os.ReadFile(name)
		if err != nil || !bytes.HasPrefix(command, []byte(host+"\x00")) {
			continue
		}
		dir := filepath.Dir(name)
		if exe, err := os.Readlink(filepath.Join(dir, "exe")); err != nil || exe != program {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
