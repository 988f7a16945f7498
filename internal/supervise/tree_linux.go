package supervise

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// Process is an entry of /proc. Started distinguishes it from another process with the same id.
type Process struct {
	PID, Parent, Group int
	Started            string
	State              byte
}

// Tree matches the process root and the members of its group. A member whose parent has died is no longer a
// descendant of root, but its children still belong to the tree.
func Tree(root int) func(Process) bool {
	return func(p Process) bool { return p.PID == root || p.Group == root }
}

// When a process dies, its children can no longer be traced to it. So all processes are stopped first, in passes
// until one finds no new process. They are killed when all are stopped and cannot fork.
func Freeze(match func(Process) bool, known map[int]bool) []*Frozen {
	var frozen []*Frozen
	for {
		found := Below(match, known, Table())
		if len(found) == 0 {
			return frozen
		}
		for _, p := range found {
			known[p.PID] = true
			if f := p.freeze(); f != nil {
				frozen = append(frozen, f)
			}
		}
	}
}

// Frozen is a stopped process. The handle refers to it even if its id is reused.
type Frozen struct {
	Process
	handle *os.Process
}

// End kills the process. It ignores a process that has ended or must not be signalled, so that the others still
// end.
func (f *Frozen) End() {
	_ = f.handle.Kill()
	_ = f.handle.Release()
}

// hold returns a handle of the process, or nil if another process has its id.
func (p Process) hold() *os.Process {
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return nil
	}
	if now, ok := Read(p.PID); !ok || now.Started != p.Started {
		_ = handle.Release()
		return nil
	}
	return handle
}

func (p Process) freeze() *Frozen {
	handle := p.hold()
	if handle == nil {
		return nil
	}
	_ = handle.Signal(syscall.SIGSTOP)
	return &Frozen{p, handle}
}

// Signal sends signals to the process, unless another process has its id.
func (p Process) Signal(signals ...syscall.Signal) {
	if handle := p.hold(); handle != nil {
		for _, sig := range signals {
			_ = handle.Signal(sig)
		}
		_ = handle.Release()
	}
}

// Below returns the processes in table that match selects and their descendants, except for those in known,
// parents before children.
func Below(match func(Process) bool, known map[int]bool, table []Process) []Process {
	children := make(map[int][]Process)
	var level, found []Process
	for _, p := range table {
		children[p.Parent] = append(children[p.Parent], p)
		if match(p) {
			level = append(level, p)
		}
	}
	seen := make(map[int]bool)
	for len(level) > 0 {
		var next []Process
		for _, p := range level {
			if seen[p.PID] {
				continue
			}
			seen[p.PID] = true
			if !known[p.PID] {
				found = append(found, p)
			}
			next = append(next, children[p.PID]...)
		}
		level = next
	}
	return found
}

// Table returns every process of the system.
func Table() []Process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var table []Process
	var buf [statSize]byte
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := read(pid, buf[:]); ok {
			table = append(table, p)
		}
	}
	return table
}

// Read returns a process by its id.
func Read(pid int) (Process, bool) {
	var buf [statSize]byte
	return read(pid, buf[:])
}

// statSize is more than the size of /proc/PID/stat: 52 numbers and a name of at most 64 bytes.
const statSize = 2 << 10

// read reads without os.ReadFile, which registers each file with the poller: a table needs hundreds of files.
func read(pid int, buf []byte) (Process, bool) {
	fd, err := syscall.Open("/proc/"+strconv.Itoa(pid)+"/stat", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return Process{}, false
	}
	defer syscall.Close(fd)
	for {
		n, err := syscall.Read(fd, buf)
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return Process{}, false // it has ended since
		}
		return parseStat(pid, buf[:n])
	}
}

// parseStat reads "pid (name) state ppid pgrp ...". The name may contain any characters, including ") ". It
// parses without packages strings and bytes, which would initialise the unicode tables before the supervisor.
func parseStat(pid int, stat []byte) (Process, bool) {
	const state, parent, group, started = 0, 1, 2, 19 // counted after the name
	end := len(stat)
	for end > 0 && stat[end-1] != ')' {
		end--
	}
	var fields [started + 1]string
	n := 0
	for i := end; i < len(stat) && n <= started; n++ {
		for i < len(stat) && (stat[i] == ' ' || stat[i] == '\n') {
			i++
		}
		begin := i
		for i < len(stat) && stat[i] != ' ' && stat[i] != '\n' {
			i++
		}
		fields[n] = string(stat[begin:i])
	}
	if end == 0 || fields[started] == "" {
		return Process{}, false
	}
	p := Process{PID: pid, Started: fields[started], State: fields[state][0]}
	p.Parent, _ = strconv.Atoi(fields[parent])
	p.Group, _ = strconv.Atoi(fields[group])
	return p, true
}

// AnyChild selects every child of this process.
const AnyChild = 0

// AwaitChild waits for the exit of a child without reaping it, and returns its id, or 0 if WNOHANG is among the
// options and no child has ended.
func AwaitChild(pid int, options uintptr) (int, error) {
	const (
		pAll, pPID = 0, 1
		wExited    = 0x4
		wNoWait    = 0x01000000
	)
	kind := uintptr(pPID)
	if pid == AnyChild {
		kind = pAll
	}
	// siginfo_t: 128 bytes. The first number, the signal, is 0 if no child has ended.
	var info [32]int32
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, kind, uintptr(pid),
			uintptr(unsafe.Pointer(&info)), wExited|wNoWait|options, 0, 0)
		switch {
		case errno == syscall.EINTR:
		case errno != 0:
			return 0, errno
		case info[0] == 0:
			return 0, nil
		default:
			return int(info[pidIndex]), nil
		}
	}
}

// pidIndex is the index of the process id in siginfo_t, in words: after three numbers, and padding if pointers
// have 64 bits.
const pidIndex = 3 + unsafe.Sizeof(uintptr(0))/8
