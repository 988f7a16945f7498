package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/internal/clipath"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// SDKPath returns the module of the official TypeScript SDK that is installed with the
// pinned CLI, and the node that runs it.
func SDKPath() (node, module string, err error) {
	cli, err := clipath.Cached()
	if err != nil {
		return "", "", err
	}
	module = filepath.Join(filepath.Dir(filepath.Dir(cli)), "claude-agent-sdk", "sdk.mjs")
	if err := clipath.CheckFile(module); err != nil {
		return "", "", fmt.Errorf("the official SDK is not installed, run make test, or scripts/install-cli: %w", err)
	}
	node, err = exec.LookPath("node")
	if err != nil {
		return "", "", err
	}
	return node, module, nil
}

// SDK returns node and the module of the official TypeScript SDK. Without them the test is
// skipped, and the reason printed; it fails where CI=true.
func SDK(tb testing.TB) (node, module string) {
	tb.Helper()
	short.Skip(tb, "the official SDK")
	node, module, err := SDKPath()
	switch {
	case err == nil:
		return node, module
	case os.Getenv("CI") == "true":
		tb.Fatalf("this test needs the official SDK: %v", err)
	default:
		tb.Skipf("this test needs the official SDK: %v", err)
	}
	return "", ""
}
