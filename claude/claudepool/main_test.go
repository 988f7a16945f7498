package claudepool_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

func TestMain(m *testing.M) {
	claudetest.RunProgram(map[string]claudetest.Program{"hello": cliHello})
	e2e.VerifyMain(m)
}

func cliHello(cli *claudetest.CLI) int {
	if _, err := cli.Handshake(); err != nil {
		return 1
	}
	for {
		m, err := cli.Prompt()
		if err != nil {
			return 0
		}
		cli.Turn("you said " + m.Text())
	}
}
