package agentcheck_test

import (
	"context"
	"fmt"

	"github.com/seed7221b0f9/parley/agent/agentcheck"
	"github.com/seed7221b0f9/parley/agent/agenttest"
)

// This example runs the checks of a provider outside of a test.
func Example() {
	for _, c := range agentcheck.Checks()[:4] {
		r := c.Result(context.Background(), agentcheck.Subject{Provider: &agenttest.Provider{}, Prompts: agentcheck.Prompts{Say: "say hello there"}})
		fmt.Printf("%s %s: %q\n", r.Name, r.Status, r.Text)
	}
	// Output:
	// say ok: ""
	// partial ok: ""
	// twice ok: ""
	// allow skipped: "the subject has no prompt for allow"
}
