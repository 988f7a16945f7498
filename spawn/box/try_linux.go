package box

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// connectTime is the time limit of a connection, which a box refuses at once.
const connectTime = 5 * time.Second

// try runs a trial in the box and prints the result.
func try(in io.Reader, out io.Writer) int {
	var t Trial
	if err := json.NewDecoder(in).Decode(&t); err != nil {
		return failed
	}
	if err := json.NewEncoder(out).Encode(t.look()); err != nil {
		return failed
	}
	return 0
}

func (t *Trial) look() (s Seen) {
	for _, path := range t.Paths {
		if readable(path) {
			s.Readable = append(s.Readable, path)
		}
		if syscall.Access(path, 2) == nil && (readable(path) || !isDir(path)) { // W_OK; an empty directory was created by the box
			s.Writable = append(s.Writable, path)
		}
	}
	for _, path := range t.Sockets {
		if c, err := net.DialTimeout("unix", path, connectTime); err == nil {
			c.Close()
			s.Connected = append(s.Connected, path)
		}
	}
	all, err := net.Interfaces()
	if err != nil {
		s.Interfaces = []string{"unknown"}
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
			s.Interfaces = append(s.Interfaces, i.Name)
		}
	}
	list, _ := os.ReadDir("/proc") // empty if the directory cannot be read
	for _, e := range list {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != 1 && pid != os.Getpid() {
			s.Processes++
		}
	}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		s.Variables = append(s.Variables, name)
	}
	return s
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// readable reports whether a file can be opened, or a directory has entries.
func readable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if !isDir(path) {
		_, err := f.Read(make([]byte, 1))
		return err == nil
	}
	names, err := f.Readdirnames(1)
	return err == nil && len(names) > 0
}
