//go:build unix

package host

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/spawn"
)

// A checkpoint never goes back, and the files of an agent have exactly the records after it.
func TestCheckpoint_older(t *testing.T) {
	h := newFakeHost(t, Options{}, echo)
	p := spawnAgent(t, h.connect(), spawn.Command{Path: "x"}, AgentOptions{})
	wantNext(t, p, "output hello\n")
	for _, id := range []string{"a", "b"} {
		_, err := p.Write(within(t), id, []byte(id+"\n"))
		must(t, err)
		wantNext(t, p, "input "+id+" "+id+"\n")
		wantNext(t, p, "output got "+id+"\n")
	}
	must(t, p.Checkpoint(within(t), 3, []byte("new")))
	if err := p.Checkpoint(within(t), 2, []byte("old")); err == nil {
		t.Error("a checkpoint before the last one is taken")
	}
	dead, err := readAgent(filepath.Join(h.dir, agentsName, fmt.Sprint(p.Agent().Number)))
	must(t, err)
	if dead.Checkpoint != 3 || string(dead.State) != "new" {
		t.Errorf("the files have a checkpoint at %d with %q, want 3 with new", dead.Checkpoint, dead.State)
	}
	var numbers []uint64
	for r, err := range dead.Records() {
		must(t, err)
		numbers = append(numbers, r.Number)
	}
	if fmt.Sprint(numbers) != "[4 5]" {
		t.Errorf("the files have the records %d, want 4 and 5", numbers)
	}
}
