package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestCgroupPath finds the group of a process by its mounts, in the forms of systemd, containers and mixed
// systems.
func TestCgroupPath(t *testing.T) {
	const (
		plain  = "24 30 0:22 / /proc rw - proc proc rw\n35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
		hybrid = "40 24 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n45 24 0:36 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
		below  = "35 24 0:30 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup rw\n"
	)
	for _, tt := range []struct{ name, mounts, groups, want string }{
		{"systemd", plain, "0::/system.slice/parley.service\n", "/sys/fs/cgroup/system.slice/parley.service"},
		{"mixed", hybrid, "4:memory:/a\n0::/\n", "/sys/fs/cgroup/unified"},
		{"container", below, "0::/docker/1/x\n", "/sys/fs/cgroup/x"},
		{"outside of the container's groups", below, "0::/user.slice\n", ""},
		{"outside of the namespace", plain, "0::/../x\n", ""},
		{"version 1 alone", "40 24 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", "4:memory:/a\n", ""},
		{"no group", plain, "4:memory:/a\n", ""},
		{"a folder with a space", `35 24 0:30 / /my\040groups rw - cgroup2 cgroup2 rw` + "\n", "0::/\n", ""},
		{"nothing", "", "", ""},
	} {
		if got := cgroupPath(tt.mounts, tt.groups); got != tt.want {
			t.Errorf("%s: cgroupPath(%q, %q) = %q, want %q", tt.name, tt.mounts, tt.groups, got, tt.want)
		}
	}
}

// TestCgroup_removed: a supervised process that has ended leaves no group.
func TestCgroup_removed(t *testing.T) {
	if os.Getenv(supervisedVar) == "" {
		t.Skip("there is no supervisor")
	}
	g := newCgroup()
	if g == nil {
		t.Skip("this process may make no control group")
	}
	nested := filepath.Join(g.path, "nested")
	if err := os.Mkdir(nested, 0o755); err != nil {
		t.Fatal(err)
	}
	g.end()
	if _, err := os.Stat(g.path); !os.IsNotExist(err) {
		t.Errorf("the group is left: %v", err)
	}
	s := start(t, behaviour("fail"), Options{})
	await(t, s.Done(), "the end")
	if left := cgroupsOf(t, os.Getpid()); len(left) > 0 {
		t.Errorf("groups are left: %q", left)
	}
}

// cgroupsOf returns the remaining groups of a process.
func cgroupsOf(t *testing.T, pid int) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(ownCgroup(), fmt.Sprint(cgroupPrefix, pid, "-*")))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestOwnedGroups checks that only groups that the owner has created since the boot count as its groups, because a path
// can be reused.
func TestOwnedGroups(t *testing.T) {
	owner := "4711-aa"
	group := func(name string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, "cgroup.kill"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, tt := range map[string]struct {
		child Child
		want  int
	}{
		"its own":            {Child{Boot: bootID(), Group: group("parley-4711-x")}, 1},
		"of another boot":    {Child{Boot: "another", Group: group("parley-4711-x")}, 0},
		"of another program": {Child{Boot: bootID(), Group: group("parley-47-x")}, 0},
		"of a longer id":     {Child{Boot: bootID(), Group: group("parley-47110-x")}, 0},
		"removed":            {Child{Boot: bootID(), Group: filepath.Join(t.TempDir(), "parley-4711-x")}, 0},
		"none":               {Child{Boot: bootID()}, 0},
	} {
		groups := ownedGroups(owner, []Child{tt.child})
		for _, g := range groups {
			g.dir.Close()
		}
		if len(groups) != tt.want {
			t.Errorf("%s: %d groups, want %d", name, len(groups), tt.want)
		}
	}
}
