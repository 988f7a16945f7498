package e2e

import (
	"os"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// CLI returns the path of the agent CLI. Without one it skips the test with a reason; it
// fails the test with CI=true or if the file in PARLEY_CLI does not exist.
func CLI(tb testing.TB) string {
	tb.Helper()
	short.Skip(tb, "the agent CLI")
	path, err := CLIPath()
	switch {
	case err == nil:
		return path
	case os.Getenv("CI") == "true" || os.Getenv("PARLEY_CLI") != "":
		tb.Fatalf("this test needs the agent CLI: %v", err)
	default:
		tb.Skipf("this test needs the agent CLI: %v", err)
	}
	return ""
}
