package message

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestNames compares the table in the package comment with the decode tables: each wire
// name must be next to the Go name that it decodes into.
func TestNames(t *testing.T) {
	data, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[[2]string]bool{}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(strings.TrimPrefix(line, "//")); strings.HasPrefix(line, "//\t") && len(f) >= 2 {
			rows[[2]string{f[0], f[1]}] = true
		}
	}
	check := func(wire string, v any) {
		t.Helper()
		name := reflect.TypeOf(v).Elem().Name()
		if name == "ServerToolResult" {
			wire = "*_tool_result"
		}
		if !rows[[2]string{wire, name}] {
			t.Errorf("the table of doc.go does not say that %s is %s", wire, name)
		}
	}
	for wire, create := range messageTypes {
		check(wire, create())
	}
	for wire, create := range blockTypes {
		check(wire, create())
	}
	for wire, create := range eventTypes {
		check(wire, create())
	}
	for wire, create := range deltaTypes {
		check(wire, create())
	}
}
