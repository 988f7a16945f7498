package supervise

import (
	"os"
	"slices"
	"testing"
)

func TestParseStat(t *testing.T) {
	stat := "42 (a) R 1 (b)) S 7 9 9 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 12345 99 0"
	got, ok := parseStat(42, []byte(stat))
	if want := (Process{42, 7, 9, "12345", 'S'}); !ok || got != want {
		t.Errorf("parseStat: %+v, %v", got, ok)
	}
	for _, bad := range []string{"", "42", "42 (x) S 1 2"} {
		if got, ok := parseStat(42, []byte(bad)); ok {
			t.Errorf("parseStat(%q): %+v", bad, got)
		}
	}
}

// TestBelow: the descendants are listed parents first, with processes in other sessions and orphans
// of the process group.
func TestBelow(t *testing.T) {
	table := []Process{
		{PID: 30, Parent: 20, Group: 30}, {PID: 20, Parent: 10, Group: 20}, {PID: 10, Parent: 1, Group: 10},
		{PID: 11, Parent: 1, Group: 10}, {PID: 31, Parent: 11, Group: 31}, {PID: 99, Parent: 1, Group: 99},
	}
	var got []int
	for _, e := range Below(Tree(10), map[int]bool{10: true}, table) {
		got = append(got, e.PID)
	}
	if want := []int{11, 20, 31, 30}; !slices.Equal(got, want) {
		t.Errorf("descendants %v, want %v", got, want)
	}
}

// A process id that was reused is not held, so the new process gets no signal.
func TestHold_otherProcess(t *testing.T) {
	self, ok := Read(os.Getpid())
	if !ok {
		t.Fatal("this process is not found")
	}
	if handle := self.hold(); handle == nil {
		t.Error("this process is not held")
	} else if err := handle.Release(); err != nil {
		t.Error(err)
	}
	other := self
	other.Started += "0"
	if handle := other.hold(); handle != nil {
		t.Error("another process with the same id is held")
	}
}
