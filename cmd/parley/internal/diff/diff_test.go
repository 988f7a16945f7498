package diff_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/diff"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/server/api"
)

// The paths and modes of a diff are written as git writes them.
func TestText(t *testing.T) {
	got := diff.Text(api.WorkspaceDiffResult{Files: []api.WorkspaceFile{
		{Path: "b.txt", OldPath: "a.txt", Kind: "move", OldMode: "100644", NewMode: "100755"},
		{Path: "tab\there", Kind: "delete", OldMode: "100644", Hunks: []api.WorkspaceHunk{{ID: "h", OldStart: 1, OldLines: 1, NewStart: 0, NewLines: 0, Section: "func f()", Lines: []string{"-x"}}}},
		{Path: "c.bin", Kind: "update", OldMode: "100644", NewMode: "100644", Binary: true},
	}}, &term.Pen{})
	want := `diff --git a/a.txt b/b.txt
old mode 100644
new mode 100755
rename from a.txt
rename to b.txt
diff --git "a/tab\011here" "b/tab\011here"
deleted file mode 100644
--- "a/tab\011here"
+++ /dev/null
@@ -1 +0,0 @@ func f() [hunk h]
-x
diff --git a/c.bin b/c.bin
Binary files a/c.bin and b/c.bin differ
`
	if got != want {
		t.Errorf("the diff is\n%s\nwant\n%s", got, want)
	}
}
