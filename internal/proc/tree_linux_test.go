package proc

import (
	"bufio"
	"slices"
	"testing"
	"time"
)

// TestSessionsAreGone: Kill finds descendants that have left the group, also nested ones.
func TestSessionsAreGone(t *testing.T) {
	kill := map[string]func(*Supervisor) error{"Kill": (*Supervisor).Kill, "Close": (*Supervisor).Close}
	for name, end := range kill {
		t.Run(name, func(t *testing.T) {
			census(t)
			line := newLifeline(t)
			const short = 10 * time.Millisecond
			s := start(t, behaviour("deaf-family", line.env()), Options{CloseGrace: short, TermGrace: short})
			readLine(t, bufio.NewReader(s.Stdout()))
			line.holder(t)
			if err := end(s); err != nil {
				t.Fatal(err)
			}
			line.awaitDeath(t)
		})
	}
}

func TestParseStat(t *testing.T) {
	stat := "42 (a) R 1 (b)) S 7 9 9 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 12345 99 0"
	got, ok := parseStat(42, []byte(stat))
	if want := (processEntry{42, 7, 9, "12345", 'S'}); !ok || got != want {
		t.Errorf("parseStat: %+v, %v", got, ok)
	}
	for _, bad := range []string{"", "42", "42 (x) S 1 2"} {
		if got, ok := parseStat(42, []byte(bad)); ok {
			t.Errorf("parseStat(%q): %+v", bad, got)
		}
	}
}

// TestNewDescendants: parents first, through sessions, from orphaned members of the group too.
func TestNewDescendants(t *testing.T) {
	table := []processEntry{
		{pid: 30, parent: 20, group: 30}, {pid: 20, parent: 10, group: 20}, {pid: 10, parent: 1, group: 10},
		{pid: 11, parent: 1, group: 10}, {pid: 31, parent: 11, group: 31}, {pid: 99, parent: 1, group: 99},
	}
	var got []int
	for _, e := range newDescendants(10, map[int]bool{10: true}, table) {
		got = append(got, e.pid)
	}
	if want := []int{11, 20, 31, 30}; !slices.Equal(got, want) {
		t.Errorf("descendants %v, want %v", got, want)
	}
}
