package main

import (
	"regexp"
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flags with files as their values. The content of the first ones is read as text: TestByteOrderMark of the package that reads
// a file reads it with a byte order mark. NATS itself finds the credentials behind one, and the CLI reads its settings.
var (
	textFiles  = []string{"api-key-file", "config", "json-schema", "mcp-config", "nats-ca", "nats-credentials", "prices", "secret-key-file", "settings", "tls-cert", "tls-key", "token-file"}
	otherFiles = []string{"file", "format", "last", "output", "sandbox-network"}
)

// TestFileFlags finds each flag that names a file, so that none is without a test of byte order marks.
func TestFileFlags(t *testing.T) {
	code := 0
	word := regexp.MustCompile(`\bfile\b|certificate`)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if word.MatchString(f.Usage) && f.Value.Type() != "bool" && !slices.Contains(textFiles, f.Name) && !slices.Contains(otherFiles, f.Name) {
				t.Errorf("%s --%s: is its file a text of a person? (%s)", c.CommandPath(), f.Name, f.Usage)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&code))
}
