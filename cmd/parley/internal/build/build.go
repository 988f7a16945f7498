// Package build identifies the program: version, commit and build tools.
package build

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
)

// Info identifies a build of the program.
type Info struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`   // empty if unknown
	Modified bool   `json:"modified,omitempty"` // the source differed from the commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// Running returns the running build, with the values stamped by the linker.
func Running(version, commit string) Info {
	info, _ := debug.ReadBuildInfo() // nil without modules
	return stamped(version, commit, info)
}

// stamped prefers the stamped values over those that the Go tool recorded.
func stamped(version, commit string, info *debug.BuildInfo) Info {
	b := Info{Version: version, Commit: commit, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
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

// String returns the text that parley --version prints after the name.
func (b Info) String() string {
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

// Print writes the build as a line of text or as JSON.
func (b Info) Print(w io.Writer, asJSON bool) error {
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
