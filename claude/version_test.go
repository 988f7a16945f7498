package claude_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
)

// oldCLI is a CLI from before the protocol included versions.
const oldCLI = `#!/bin/sh
if [ "$1" = -v ] || [ "$1" = --version ]; then echo "1.0.88 (Claude Code)"; exit 0; fi
read -r init
id=$(printf '%s' "$init" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{}}}\n' "$id"
read -r prompt
echo '{"type":"system","subtype":"init","session_id":"s"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","num_turns":1,"session_id":"s"}'
while read -r line; do :; done
`

func TestOldCLIWarns(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skipf("the old CLI is a shell script: %v", err)
	}
	path := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(path, []byte(oldCLI), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func(*claude.Options) error{
		"Connect": func(o *claude.Options) error {
			c, err := claude.Connect(t.Context(), o)
			if err != nil {
				return err
			}
			c.CloseInput()
			return c.Wait()
		},
		"Run": func(o *claude.Options) error {
			_, err := claude.Run(t.Context(), "hello", o)
			return err
		},
	} {
		var log bytes.Buffer
		opts := &claude.Options{CLIPath: path, Logger: slog.New(slog.NewTextHandler(&log, nil))}
		if err := run(opts); err != nil {
			t.Fatalf("name is %v, err is %v; want err == nil", name, err)
		}
		if !strings.Contains(log.String(), "version=1.0.88") {
			t.Errorf("%s: no warning in %q", name, log.String())
		}
	}
}
