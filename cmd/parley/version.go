package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// version and commit are stamped by the linker, as scripts/dist does it. Without a stamp the
// version is that of the source, and the commit is what the Go tool has recorded.
var version, commit string

// build says what program this is.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`   // empty where it is not known
	Modified bool   `json:"modified,omitempty"` // the source was not that of the commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// thisBuild is the program that runs.
func thisBuild() build {
	info, _ := debug.ReadBuildInfo() // nil without modules
	return newBuild(version, commit, info)
}

// newBuild takes what was stamped first and then what the Go tool has recorded.
func newBuild(version, commit string, info *debug.BuildInfo) build {
	b := build{Version: version, Commit: commit, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if b.Version == "" {
		b.Version = claude.Version
	}
	if b.Commit != "" || info == nil {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String is what parley --version prints after the name.
func (b build) String() string {
	var parts []string
	if b.Commit != "" {
		short := b.Commit[:min(12, len(b.Commit))]
		if b.Modified {
			short += ", modified"
		}
		parts = append(parts, short)
	}
	parts = append(parts, fmt.Sprintf("%s %s/%s", b.Go, b.OS, b.Arch))
	return fmt.Sprintf("%s (%s)", b.Version, strings.Join(parts, ", "))
}

func newVersion() *cobra.Command {
	cmd := &cobra.Command{
		Use: "version [flags]", Short: "Print the version, the commit, and what it was built with", Args: term.NoArguments, DisableFlagsInUseLine: true,
		Example: "  parley version\n  parley version --json | jq -r .commit",
	}
	asJSON := cmd.Flags().Bool("json", false, "print a JSON object")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return printVersion(cmd.OutOrStdout(), thisBuild(), *asJSON)
	}
	return cmd
}

func printVersion(w io.Writer, b build, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintf(w, "parley %s\n", b)
		return err
	}
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", data)
	return err
}
