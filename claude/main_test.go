package claude_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

func TestMain(m *testing.M) {
	claudetest.RunProgram(losslessPrograms)
	e2e.VerifyMain(m)
}
