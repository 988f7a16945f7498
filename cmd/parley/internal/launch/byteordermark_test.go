package launch

import (
	"os"
	"path/filepath"
	"testing"
)

// TestByteOrderMark reads files of flags with a byte order mark at their start.
func TestByteOrderMark(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.json")
	if err := os.WriteFile(file, []byte("\ufeff"+`{"mcpServers":{"x":{"command":"y"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := parse(t, "--mcp-config", file); err != nil {
		t.Error(err)
	}
	if o, err := parse(t, "--json-schema", "@"+file); err != nil || o.JSONSchema[0] != '{' {
		t.Errorf("--json-schema: %v", err)
	}
}
