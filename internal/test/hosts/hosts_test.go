//go:build linux

package hosts

import (
	"os"
	"slices"
	"testing"

	"github.com/seed7221b0f9/parley/host"
)

func TestMain(m *testing.M) {
	host.Enter()
	os.Exit(m.Run())
}

// TestLeft checks that a running host is found, and that it is not found after its end.
func TestLeft(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := host.Start(t.Context(), dir, "", host.Options{}); err != nil {
		t.Fatal(err)
	}
	l, err := host.Dial(t.Context(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if pids := of(host.Name, self); !slices.Equal(pids, []int{l.Host().PID}) {
		t.Errorf("the hosts are %d, want %d", pids, l.Host().PID)
	}
	if pids := of(host.Name, "/bin/true"); len(pids) > 0 {
		t.Errorf("another program has the hosts %d", pids)
	}
	if err := l.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := Left(host.Name); err != nil {
		t.Error(err)
	}
}
