package repo

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestLinks fails if the product links package testing or test support. --agent sim and
// replay:DIR are product code.
func TestLinks(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"/cmd/parley").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 100 {
		t.Fatalf("go list printed %d packages", len(packages))
	}
	support := regexp.MustCompile(`^testing(/|$)|^github\.com/seed7221b0f9/parley/(.*/)?(\w+test|internal/test/.*|internal/tool/.*|bench.*)$`)
	for _, p := range packages {
		if support.MatchString(p) {
			t.Errorf("cmd/parley links %s", p)
		}
	}
}
