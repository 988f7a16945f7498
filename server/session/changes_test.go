package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
)

// TestScope checks which states of the files are compared.
func TestScope(t *testing.T) {
	c := &core{}
	for _, m := range []mark{{"t1", "a", "b"}, {"t2", "b", ""}, {"t3", "c", "d"}, {"t4", "d", ""}} {
		c.applyMark(m)
	}
	for _, test := range []struct {
		core  *core
		base  string
		scope api.WorkspaceScope
		want  string // the beginning of the message of a failure
	}{
		{&core{}, "", api.WorkspaceScope{}, `"" to "" false`}, // no change is possible
		{c, "", api.WorkspaceScope{}, `"a" to "" true`},
		{c, "base", api.WorkspaceScope{}, `"base" to "" true`},
		{c, "", api.WorkspaceScope{Against: "head"}, `"HEAD" to "" true`},
		{c, "", api.WorkspaceScope{Against: "tail"}, `against is "tail"`},
		{c, "", api.WorkspaceScope{Against: "head", Turn: "t1"}, "turn and against"},
		{c, "", api.WorkspaceScope{Turn: "t1"}, `"a" to "b" true`},
		{c, "", api.WorkspaceScope{Turn: "t2"}, `"b" to "c" true`}, // the server died during it
		{c, "", api.WorkspaceScope{Turn: "t4"}, `"d" to "" true`},  // it runs
		{c, "", api.WorkspaceScope{Turn: "t5"}, `what turn "t5"`},
	} {
		from, to, ok, err := test.core.scope(test.base, test.scope)
		got := fmt.Sprintf("%q to %q %v", from, to, ok)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%+v: %s, want %s", test.scope, got, test.want)
		}
	}
}

// TestApplyMark_most checks the number of turns that can be compared, and that the oldest is dropped.
func TestApplyMark_most(t *testing.T) {
	c := &core{}
	for i := range maxMarks + 1 {
		c.applyMark(mark{Turn: fmt.Sprint("t", i), Start: fmt.Sprint("s", i)})
	}
	c.applyMark(mark{Turn: "t1", Start: "s1", End: "e1"})
	if len(c.Marks) != maxMarks || c.Marks[0].Turn != "t1" || c.Marks[0].End != "e1" || c.Began != "s0" {
		t.Errorf("%d marks, the first %+v, began at %s; want %d, t1 to e1 and s0", len(c.Marks), c.Marks[0], c.Began, maxMarks)
	}
}
