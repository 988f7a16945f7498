package codextest_test

import (
	"fmt"
	"strings"

	"github.com/seed7221b0f9/parley/codex/codextest"
)

// This example writes the configuration of a scripted API; keys and tables of the caller are
// appended.
func ExampleConfig() {
	text := codextest.Config("http://127.0.0.1:8080/v1", "/src", "approval_policy = \"never\"\n[tui]\nanimations = false\n")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "base_url") || strings.HasPrefix(line, "approval") || strings.HasPrefix(line, "animations") {
			fmt.Print(line)
		}
	}
	// Output:
	// approval_policy = "never"
	// base_url = "http://127.0.0.1:8080/v1"
	// animations = false
}
