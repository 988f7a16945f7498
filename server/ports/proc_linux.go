package ports

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The size limits of the environment of a process, and of a table of sockets.
const (
	maxEnviron = 4 << 20
	maxTable   = 64 << 20
)

// look returns all listening sockets, and those of the agent with their processes.
func look(mark string) ([]listener, map[string]process, error) {
	if mark == "" {
		return nil, nil, ErrNotOwned
	}
	owners := sockets(descendants(processes(mark)))
	// The table is read last: a listener that was not seen with an owner is not owned.
	all, err := listeners("/proc/net/tcp", "/proc/net/tcp6")
	return all, owners, err
}

// processes returns the readable processes of the machine. A process is marked if its environment
// has the mark; this process never is.
func processes(mark string) []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // the readable part counts
	var all []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		if p, ok := parseStat(pid, stat); ok {
			p.marked = hasMark("/proc/"+name+"/environ", mark)
			all = append(all, p)
		}
	}
	return all
}

// parseStat parses "pid (name) state ppid …". The name may contain any text, including ") ".
func parseStat(pid int, stat []byte) (process, bool) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 2 || string(fields[0]) == "Z" {
		return process{}, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return process{pid: pid, parent: parent, name: visible(string(stat[open+1 : end]))}, err == nil
}

// visible removes control and other non-printable characters from a name.
func visible(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
}

func hasMark(environ, mark string) bool {
	f, err := os.Open(environ)
	if err != nil {
		return false // of another user
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEnviron))
	if err != nil {
		return false
	}
	want := []byte(Variable + "=" + mark)
	for entry := range bytes.SplitSeq(data, []byte{0}) {
		if bytes.Equal(entry, want) {
			return true
		}
	}
	return false
}

// sockets returns the sockets of processes by inode.
func sockets(all map[int]process) map[string]process {
	found := map[string]process{}
	for pid, p := range all {
		dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
		entries, _ := os.ReadDir(dir) // empty if it has exited, or changed its user
		for _, e := range entries {
			target, err := os.Readlink(filepath.Join(dir, e.Name()))
			if err != nil {
				continue
			}
			inode, ok := strings.CutPrefix(target, "socket:[")
			if !ok {
				continue
			}
			inode = strings.TrimSuffix(inode, "]")
			if old, ok := found[inode]; !ok || p.pid < old.pid {
				found[inode] = p
			}
		}
	}
	return found
}

// listeners reads the tables of sockets. A missing table, on a system without IPv6, is empty.
func listeners(tables ...string) ([]listener, error) {
	var all []listener
	for _, name := range tables {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		scanner := bufio.NewScanner(io.LimitReader(f, maxTable))
		for scanner.Scan() {
			if l, ok := parseListener(scanner.Text()); ok {
				all = append(all, l)
			}
		}
		if err := errors.Join(scanner.Err(), f.Close()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// listening is the state of a socket that listens.
const listening = "0A"

// littleEndian is the byte order of the machine and of the tables.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// parseListener parses a line of a table: "sl local_address rem_address st … inode …".
func parseListener(line string) (listener, bool) {
	f := strings.Fields(line)
	if len(f) < 10 || f[3] != listening {
		return listener{}, false
	}
	host, port, ok := strings.Cut(f[1], ":")
	raw, err := hex.DecodeString(host)
	number, err2 := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || err2 != nil || len(raw)%4 != 0 {
		return listener{}, false
	}
	for word := range slices.Chunk(raw, 4) { // each word has the byte order of the machine
		if littleEndian {
			slices.Reverse(word)
		}
	}
	addr, ok := netip.AddrFromSlice(raw)
	return listener{addr.Unmap(), int(number), f[9]}, ok
}
