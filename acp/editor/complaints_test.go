package editor_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/checkout"
)

// TestComplaints checks that each test named in acp/COMPLAINTS.md exists.
func TestComplaints(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(checkout.Root(), "acp", "COMPLAINTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| (\\d+) .* \\| (open|`(\\S+) (Test\\w+)`) \\|$")
	rows := row.FindAllStringSubmatch(string(data), -1)
	if n := strings.Count(string(data), "\n| "); len(rows) != n-2 { // without the header rows
		t.Errorf("%d of %d rows name a test or are open", len(rows), n-2)
	}
	for _, r := range rows {
		if r[2] != "open" && !hasTest(t, r[3], r[4]) {
			t.Errorf("%s: there is no %s in %s", r[1], r[4], r[3])
		}
	}
}

// hasTest reports whether a package has a test with this name.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(checkout.Root(), filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "func "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
