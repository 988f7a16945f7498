package box

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// attemptVar contains the name of the attempt that this process makes, worldVar the world as JSON.
const (
	attemptVar = "BOX_TEST_ATTEMPT"
	worldVar   = "BOX_TEST_WORLD"
)

// marker is in every secret of the world.
const marker = "box-test-secret-7d1f"

// world holds the files, processes and sockets outside of the test's box.
type world struct {
	Work, Sibling, Secret, Login, Data, DataFile, Shared string
	Socket, DataSocket, Abstract, TCP                    string
	PID                                                  int
	SharedMemory                                         int
	Door                                                 int // a port inside that leads to a socket outside
}

// attempt tries to leave the box. It returns nil if it has succeeded.
type attempt func(w world) error

// attemptMain makes one attempt if this process was started for it. It prints "out" if the attempt
// succeeded, and otherwise the reason.
func attemptMain() {
	name := os.Getenv(attemptVar)
	if name == "" {
		return
	}
	var w world
	err := json.Unmarshal([]byte(os.Getenv(worldVar)), &w)
	if err != nil || attempts[name].try == nil {
		fmt.Println("invalid:", name, err)
		os.Exit(2)
	}
	if err := attempts[name].try(w); err != nil {
		fmt.Println("held:", err)
	} else {
		fmt.Println("out")
	}
	os.Exit(0)
}

// reads tries to read a secret.
func reads(path func(w world) string) attempt {
	return func(w world) error { return readSecret(path(w)) }
}

func readSecret(path string) error {
	data, err := os.ReadFile(path)
	if err == nil && !bytes.Contains(data, []byte(marker)) {
		err = fmt.Errorf("%s has no secret", path)
	}
	return err
}

// writes tries to open a file for writing. It changes nothing.
func writes(path func(w world) string) attempt {
	return func(w world) error {
		f, err := os.OpenFile(path(w), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		return f.Close()
	}
}

// connects tries to connect to something outside.
func connects(network string, address func(w world) string) attempt {
	return func(w world) error {
		c, err := net.DialTimeout(network, address(w), 5*time.Second)
		if err != nil {
			return err
		}
		return c.Close()
	}
}

func always(s string) func(world) string { return func(world) string { return s } }

// throughLink makes a symbolic link in the working directory and reads through it.
func throughLink(target func(w world) string, rest string) attempt {
	return func(w world) error {
		link := filepath.Join(w.Work, "link-"+filepath.Base(target(w)))
		defer os.Remove(link)
		if err := os.Symlink(target(w), link); err != nil {
			return err
		}
		return readSecret(filepath.Join(link, rest))
	}
}

func hardLink(w world) error {
	link := filepath.Join(w.Work, "hard")
	defer os.Remove(link)
	if err := os.Link(w.Secret, link); err != nil {
		return err
	}
	return readSecret(link)
}

// findSecret searches the files of a directory of /proc for the secret.
func findSecret(file string) attempt {
	return func(world) error {
		paths, _ := filepath.Glob("/proc/[0-9]*/" + file) // the pattern is valid
		for _, path := range paths {
			if path != fmt.Sprintf("/proc/%d/%s", os.Getpid(), file) && readSecret(path) == nil {
				return nil
			}
		}
		return errors.New("no process has the secret")
	}
}

// seesProcess looks for the test's process.
func seesProcess(w world) error {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", w.PID))
	if err == nil && !bytes.Contains(line, []byte(".test")) {
		err = errors.New("the id is that of another process")
	}
	return err
}

func ptraces(w world) error {
	if err := syscall.PtraceAttach(w.PID); err != nil {
		return err
	}
	return syscall.PtraceDetach(w.PID)
}

// systemCalls lists numbers that package syscall lacks.
var systemCalls = map[string]struct{ setns, nameToHandle, openByHandle uintptr }{"amd64": {308, 303, 304}, "arm64": {268, 264, 265}}

// entersNamespace joins a namespace of the test's process, or of the first process that is not in a box.
func entersNamespace(w world) error {
	for _, pid := range []int{w.PID, 1} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
		if err != nil {
			continue
		}
		defer f.Close()
		if _, _, errno := syscall.RawSyscall(systemCalls[runtime.GOARCH].setns, f.Fd(), 0, 0); errno == 0 {
			return nil
		}
	}
	return errors.New("no namespace can be entered")
}

// hasDescriptors looks for inherited descriptors, such as the socket of a supervisor.
func hasDescriptors(world) error {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range list {
		target, _ := os.Readlink("/proc/self/fd/" + e.Name()) // one descriptor is closed already
		if e.Name() > "2" && (strings.HasPrefix(target, "socket:") || strings.HasPrefix(target, "pipe:") || strings.HasPrefix(target, "/")) && !strings.HasPrefix(target, "/proc/") {
			return nil
		}
	}
	return errors.New("only the standard streams are open")
}

func hasInterfaces(world) error {
	all, err := net.Interfaces()
	if err != nil {
		return err
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 {
			return nil
		}
	}
	return errors.New("there is only loopback")
}

// sendsOutside sends to an address of no machine, which requires a route.
func sendsOutside(world) error {
	c, err := net.Dial("udp", "192.0.2.1:53")
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write([]byte("x"))
	return err
}

func mounts(source, target, kind string, flags uintptr) attempt {
	return func(w world) error { return syscall.Mount(source, target, kind, flags, "") }
}

func unmounts(path func(w world) string, rest string) attempt {
	return func(w world) error {
		if err := syscall.Unmount(path(w), syscall.MNT_DETACH); err != nil {
			return err
		}
		return readSecret(filepath.Join(path(w), rest))
	}
}

// nested makes an attempt as root of another user namespace with its own mounts.
func nested(name string) attempt {
	return func(w world) error {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), attemptVar+"="+name)
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
		out, err := cmd.Output()
		if err == nil && strings.TrimSpace(string(out)) != "out" {
			err = errors.New("below: " + strings.TrimSpace(string(out)))
		}
		return err
	}
}

func makesDevice(w world) error {
	path := filepath.Join(w.Work, "device")
	defer os.Remove(path)
	if err := syscall.Mknod(path, syscall.S_IFCHR|0o666, 1<<8|5); err != nil { // /dev/zero
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// opensByHandle opens a file by its inode number, which bypasses all directories.
func opensByHandle(w world) error {
	dir, err := os.Open(w.Work)
	if err != nil {
		return err
	}
	defer dir.Close()
	handle := make([]byte, 8+128)
	*(*uint32)(unsafe.Pointer(&handle[0])) = 128
	var mount int32
	name := append([]byte(w.Work), 0)
	if _, _, errno := syscall.Syscall6(systemCalls[runtime.GOARCH].nameToHandle, ^uintptr(99), uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&handle[0])), uintptr(unsafe.Pointer(&mount)), 0, 0); errno != 0 {
		return errno
	}
	fd, _, errno := syscall.Syscall(systemCalls[runtime.GOARCH].openByHandle, dir.Fd(), uintptr(unsafe.Pointer(&handle[0])), syscall.O_RDONLY)
	if errno != 0 {
		return errno
	}
	return syscall.Close(int(fd))
}

// gainsRights looks for capabilities, and for programs that may grant them.
func gainsRights(field, none string) attempt {
	return func(world) error {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(status)) {
			if name, value, _ := strings.Cut(line, ":"); name == field && strings.TrimSpace(value) != none {
				return nil
			}
		}
		return errors.New("none")
	}
}

func changesUser(world) error {
	// RawSyscall: the process ends at once, and only one thread needs it.
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SETUID, uintptr(os.Getuid()+4711), 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func attachesMemory(w world) error {
	_, _, errno := syscall.Syscall(syscall.SYS_SHMAT, uintptr(w.SharedMemory), 0, syscall.O_RDONLY)
	if errno != 0 {
		return errno
	}
	return nil
}

// replacesDoor replaces the socket of a door.
func replacesDoor(w world) error {
	list, err := filepath.Glob(doorsPath + "/*/*")
	if err != nil || len(list) == 0 {
		return fmt.Errorf("no door: %w", err)
	}
	return os.Remove(list[0])
}

// opensTerminal opens the terminal of the login session, to which it could inject input.
func opensTerminal(world) error {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// looksAround checks that a directory shows nothing from outside of the box.
func looksAround(dir func(w world) string) attempt {
	return func(w world) error {
		list, err := os.ReadDir(dir(w))
		if err == nil && len(list) == 0 {
			err = errors.New("it is empty")
		}
		return err
	}
}

// looksAt checks that a file shows nothing from outside of the box.
func looksAt(path string) attempt {
	return func(world) error {
		data, err := os.ReadFile(path)
		if err == nil && len(data) == 0 {
			err = errors.New("it is empty")
		}
		return err
	}
}
