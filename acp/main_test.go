package acp_test

import (
	"os"
	"testing"

	"github.com/seed7221b0f9/parley/internal/e2e"
)

func TestMain(m *testing.M) {
	code := e2e.Verify(m)
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}
