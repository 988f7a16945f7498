package proc

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/spawn"
)

// A descriptor that this process inherited, or that C code opened, has no close-on-exec
// flag. The child does not inherit it, and it stays open here; the flag of a low number
// is unchanged.
func TestLocal_noDescriptorsButThree(t *testing.T) {
	census(t)
	secret, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	for _, fd := range []int{40, mostClosed, mostClosed + 1, 255, mostDescriptors + 4} {
		err := syscall.Dup3(int(secret.Fd()), fd, 0)
		if fd > mostDescriptors && errors.Is(err, syscall.EBADF) {
			t.Logf("the limit of this process forbids descriptor %d", fd)
			continue
		}
		if err != nil {
			t.Fatalf("descriptor %d: %v", fd, err)
		}
		defer syscall.Close(fd)
		if closesOnExec(fd) {
			t.Fatalf("descriptor %d is close-on-exec: the test shows nothing", fd)
		}
	}
	s := start(t, spawn.Command{Path: "/bin/cat"}, Options{})
	roundTrip(t, s, bufio.NewReader(s.Stdout())) // descriptors of the loader are closed
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.PID()))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, link := range links {
		got = append(got, filepath.Base(link))
	}
	if slices.Sort(got); strings.Join(got, " ") != "0 1 2" {
		t.Errorf("the child has the descriptors %v", got)
	}
	for _, fd := range []int{40, mostClosed} {
		if closesOnExec(fd) {
			t.Errorf("descriptor %d of this process was changed", fd)
		}
	}
	if _, err := os.Stat("/proc/self/fd/255"); err != nil {
		t.Errorf("a high descriptor of this process was closed: %v", err)
	}
}
