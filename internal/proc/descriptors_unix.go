//go:build unix

package proc

import (
	"os"
	"strconv"
	"syscall"
)

// mostClosed is the highest descriptor that a child closes itself. Higher ones are marked close-on-exec in this
// process instead: a child closes every number up to the highest, so a descriptor 255 from a shell would cost
// each start 250 system calls.
const mostClosed = 63

// mostDescriptors limits the checked numbers if the system does not list open descriptors.
const mostDescriptors = 4096

// withoutInherited returns a list for exec.Cmd.ExtraFiles with which the child gets 0, 1 and 2 and no other
// descriptor. Those that Go opens are close-on-exec. Descriptors that this process inherited from its parent, or
// that C code opened, may not be: a nil entry closes one in the child and leaves it open here.
func withoutInherited() []*os.File {
	highest := 2
	for _, fd := range openDescriptors() {
		switch {
		case fd <= highest || closesOnExec(fd):
		case fd > mostClosed:
			syscall.CloseOnExec(fd)
		default:
			highest = fd
		}
	}
	return make([]*os.File, highest-2)
}

// openDescriptors lists the descriptors of this process. If the system has no list, it returns every possible
// number.
func openDescriptors() (list []int) {
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		if list = numbersIn(dir); len(list) > 0 {
			return list
		}
	}
	for fd := range mostDescriptors {
		list = append(list, fd)
	}
	return list
}

// numbersIn returns the names in a directory that are numbers. It delays every start, so it avoids os.ReadDir,
// which takes twice as long for a short directory.
func numbersIn(dir string) (list []int) {
	d, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(d)
	var buf [8 << 10]byte
	var space [64]string
	for {
		n, err := syscall.ReadDirent(d, buf[:])
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return list
		}
		_, _, names := syscall.ParseDirent(buf[:n], -1, space[:0])
		for _, name := range names {
			if fd, err := strconv.Atoi(name); err == nil {
				list = append(list, fd)
			}
		}
	}
}

// closesOnExec reports whether a descriptor is closed when a program is started, or not open at all.
func closesOnExec(fd int) bool {
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0)
	return errno != 0 || flags&syscall.FD_CLOEXEC != 0
}
