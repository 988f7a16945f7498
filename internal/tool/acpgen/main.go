// Acpgen generates the Go types of package acp from the schema of the Agent Client Protocol.
//
//	acpgen types SCHEMA FILE    write the types of a trimmed schema to a Go file
//	acpgen trim DIR TO          trim the schemas of the npm package in DIR and write them to TO
//	acpgen check DIR TO         fail if trim would change a file
//
// A trimmed schema has only the first sentence of each description and no white space. go
// generate runs types, which needs no network; scripts/lint runs check against the installed
// package.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "acpgen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: acpgen types SCHEMA FILE | trim DIR TO | check DIR TO")
	}
	switch args[0] {
	case "types":
		return types(args[1], args[2])
	case "trim", "check":
		return trimAll(args[1], args[2], args[0] == "check")
	}
	return fmt.Errorf("there is no command %q", args[0])
}

func types(schema, file string) error {
	text, err := os.ReadFile(schema)
	if err != nil {
		return err
	}
	source, err := generate(text)
	if err != nil {
		return err
	}
	return os.WriteFile(file, source, 0o644)
}

// schemas maps the files of the npm package to the names of their trimmed forms. The
// unstable ones include the stable ones.
var schemas = map[string]string{"schema/v1/schema.unstable.json": "schema/v1.json", "schema/v2/schema.unstable.json": "internal/draft2/schema/v2.json"}

func trimAll(dir, to string, check bool) error {
	for from, name := range schemas {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(from)))
		if err != nil {
			return err
		}
		trimmed, err := trim(text)
		if err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		file := filepath.Join(to, name)
		if !check {
			if err := os.WriteFile(file, trimmed, 0o644); err != nil {
				return err
			}
			continue
		}
		kept, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if !bytes.Equal(kept, trimmed) {
			return fmt.Errorf("%s is not the schema of the pinned package; run acpgen trim", file)
		}
	}
	return nil
}
