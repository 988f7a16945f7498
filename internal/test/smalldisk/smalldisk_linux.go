// Package smalldisk mounts small disks, for tests of programs on a full one.
package smalldisk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Disk is the directory of a disk.
type Disk string

// Mount mounts a disk of this size in MiB until the test ends. It skips the test if it has no
// permission to mount one.
func Mount(t testing.TB, mib int) Disk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a full disk takes root to mount a small one")
	}
	dir, err := os.MkdirTemp("", "disk")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", mib), "tmpfs", dir).CombinedOutput(); err != nil {
		_ = os.Remove(dir)
		t.Skipf("a small disk cannot be mounted: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
		_ = os.Remove(dir)
	})
	return Disk(dir)
}

// Fill leaves no room on the disk until free is called.
func (d Disk) Fill(t testing.TB) (free func()) {
	t.Helper()
	name := filepath.Join(string(d), "hog")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size >= 1; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return func() {
		t.Helper()
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}
