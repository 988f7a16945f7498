// Package parts reads which capabilities each provider has from docs/guide/any-agent.md, so that the acceptance suites
// check the page. It is test support.
package parts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/checkout"
)

// Of returns the names of the capabilities in the row of a provider.
func Of(tb testing.TB, provider string) []string {
	tb.Helper()
	page, err := os.ReadFile(filepath.Join(checkout.Root(), "docs", "guide", "any-agent.md"))
	if err != nil {
		tb.Fatal(err)
	}
	_, row, ok := strings.Cut(string(page), "\n| "+provider+" | ")
	row, _, end := strings.Cut(row, " |\n")
	if !ok || !end {
		tb.Fatalf("docs/guide/any-agent.md has no row of %s", provider)
	}
	return strings.Split(row, ", ")
}
