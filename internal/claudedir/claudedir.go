// Package claudedir computes where the CLI keeps its sessions: the configuration
// directory, the name of a project's directory in it, and valid session ids. It reads no
// files.
package claudedir

import (
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// The environment variables that determine the location of sessions.
const (
	ConfigVariable  = "CLAUDE_CONFIG_DIR"
	ProjectVariable = "CLAUDE_CODE_PROJECT_DIR_NAME"
)

// Env returns the value of a variable, or "". os.Getenv is one.
type Env func(name string) string

// Environ returns the Env of a list like that of os.Environ. If a variable occurs twice,
// the last value counts, as for a process.
func Environ(list []string) Env {
	return func(name string) string {
		for _, kv := range slices.Backward(list) {
			if k, v, ok := strings.Cut(kv, "="); ok && k == name {
				return v
			}
		}
		return ""
	}
}

// Config returns the CLI's configuration directory in an environment: CLAUDE_CONFIG_DIR,
// else .claude in the user's home, in composed form (NFC) like the CLI.
func Config(env Env) string {
	dir := env(ConfigVariable)
	if dir == "" {
		dir = filepath.Join(env(homeVariable()), ".claude")
	}
	return norm.NFC.String(dir)
}

// Known reports whether an environment determines the configuration directory. Otherwise
// the CLI asks the system for the user's home.
func Known(env Env) bool { return env(ConfigVariable) != "" || env(homeVariable()) != "" }

func homeVariable() string {
	if runtime.GOOS == "windows" {
		return "USERPROFILE"
	}
	return "HOME"
}

// Projects returns the directory that holds the directories of projects.
func Projects(config string) string { return filepath.Join(config, "projects") }

var (
	projectName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	deviceName  = regexp.MustCompile(`^(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
)

// FixedProject returns the name under which the CLI keeps the sessions of all directories
// in an environment, or "" if each has its own key. CLAUDE_CODE_PROJECT_DIR_NAME counts
// only together with CLAUDE_CONFIG_DIR; a name that cannot be a directory's on every
// system is ignored.
func FixedProject(env Env) string {
	name := env(ProjectVariable)
	if env(ConfigVariable) == "" || !projectName.MatchString(name) || deviceName.MatchString(name) {
		return ""
	}
	return name
}

// Project returns the name of the directory that holds the sessions of dir in an
// environment; dir "" means the working directory.
func Project(env Env, dir string) string {
	if name := FixedProject(env); name != "" {
		return name
	}
	return ProjectKey(dir)
}
