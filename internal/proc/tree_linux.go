package proc

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// killTree ends the group and every descendant, also those in sessions of their own. A process that dies
// loses its children to init, and with that the trace of them; so everything is stopped first, pass by
// pass until one finds nothing new, and killed when nothing can fork any more.
func (c *child) killTree() error {
	_ = c.signalGroup(syscall.SIGSTOP)
	frozen := freezeDescendants(c.tree.group)
	err := c.signalGroup(syscall.SIGKILL)
	for _, p := range frozen {
		_ = p.Kill() // One that is gone or not ours to kill does not stop the others.
		_ = p.Release()
	}
	return err
}

// freezeDescendants stops every process that descends from root or from a member of root's group, parents
// first. The handles it returns hold the processes even if their ids change hands.
func freezeDescendants(root int) []*os.Process {
	var frozen []*os.Process
	known := map[int]bool{root: true}
	for {
		found := newDescendants(root, known, processTable())
		if len(found) == 0 {
			return frozen
		}
		for _, e := range found {
			known[e.pid] = true
			if p := freeze(e); p != nil {
				frozen = append(frozen, p)
			}
		}
	}
}

// freeze stops the process that e describes, unless the id belongs to another one by now.
func freeze(e processEntry) *os.Process {
	p, err := os.FindProcess(e.pid)
	if err != nil {
		return nil
	}
	if now, ok := readProcess(e.pid); !ok || now.started != e.started {
		_ = p.Release()
		return nil
	}
	_ = p.Signal(syscall.SIGSTOP)
	return p
}

// newDescendants returns the descendants in table that are not known yet, parents before children.
func newDescendants(root int, known map[int]bool, table []processEntry) []processEntry {
	children := make(map[int][]processEntry)
	var level, found []processEntry
	for _, e := range table {
		children[e.parent] = append(children[e.parent], e)
		// A member whose parent has died is not a descendant by now; its own children are still
		// meant.
		if e.pid == root || e.group == root {
			level = append(level, e)
		}
	}
	seen := make(map[int]bool)
	for len(level) > 0 {
		var next []processEntry
		for _, e := range level {
			if seen[e.pid] {
				continue
			}
			seen[e.pid] = true
			if !known[e.pid] {
				found = append(found, e)
			}
			next = append(next, children[e.pid]...)
		}
		level = next
	}
	return found
}

// processEntry is what /proc says about a process. started tells it from another with the same id.
type processEntry struct {
	pid, parent, group int
	started            string
	state              byte
}

func processTable() []processEntry {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var table []processEntry
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if e, ok := readProcess(pid); ok {
			table = append(table, e)
		}
	}
	return table
}

func readProcess(pid int) (processEntry, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return processEntry{}, false
	}
	return parseStat(pid, stat)
}

// parseStat reads "pid (name) state ppid pgrp ...". The name may hold anything, also ") ".
func parseStat(pid int, stat []byte) (processEntry, bool) {
	const parent, group, started = 1, 2, 19 // counted after the name
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) <= started {
		return processEntry{}, false
	}
	e := processEntry{pid: pid, started: string(f[started]), state: f[0][0]}
	e.parent, _ = strconv.Atoi(string(f[parent]))
	e.group, _ = strconv.Atoi(string(f[group]))
	return e, true
}
