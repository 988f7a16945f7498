package proc

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// NotFoundError is returned if the CLI is not found.
type NotFoundError struct {
	// Tried are the searched files, in order.
	Tried []string
	// Path is the requested path; empty if the usual places were searched.
	Path string
}

// Error returns a text with the searched places and the command that installs the CLI.
func (e *NotFoundError) Error() string {
	const help = "install it with `npm install -g @anthropic-ai/claude-code`, or name the claude program with PARLEY_CLI"
	if e.Path != "" {
		return "Claude Code CLI not found at " + e.Path + triedText(e.Tried, e.Path) + ": " + help
	}
	return "Claude Code CLI not found" + triedText(e.Tried, "") + ": " + help
}

// triedText omits a list that only repeats path.
func triedText(tried []string, path string) string {
	if len(tried) == 0 || len(tried) == 1 && tried[0] == path {
		return ""
	}
	return " (tried " + strings.Join(tried, ", ") + ")"
}

// Unwrap returns exec.ErrNotFound.
func (e *NotFoundError) Unwrap() error { return exec.ErrNotFound }

// Variable is the environment variable with the path of the CLI if the caller does not set it.
const Variable = "PARLEY_CLI"

// Find returns the path of the CLI; an empty path means the value of [Variable] in env.
//
// A path with a separator is returned unchanged if it exists; a bare name is searched in PATH. Without
// either, Find searches "claude" (on Windows "claude.exe") in PATH and then in the directories of
// installers. PATH and the home directory come from env, entries "KEY=value", never from this process.
// Relative entries of PATH are skipped: they would make the program depend on the working directory.
//
// The error is a *[NotFoundError], or a *[StartError] for a Windows batch file: cmd.exe would run it and
// interpret the arguments.
func Find(path string, env []string) (string, error) {
	f := finder{goos: runtime.GOOS, env: env, stat: os.Stat}
	return f.find(path)
}

// finder implements Find for any system and file system.
type finder struct {
	goos  string
	env   []string
	stat  func(string) (fs.FileInfo, error)
	tried []string
}

func (f *finder) find(path string) (string, error) {
	if path == "" {
		path = f.variable(Variable)
	}
	if f.windows() && isBatch(path) {
		return "", batchError(path)
	}
	if f.hasSeparator(path) {
		if _, err := f.stat(path); err != nil && !errors.Is(err, fs.ErrPermission) {
			return "", &NotFoundError{Tried: []string{path}, Path: path}
		}
		return path, nil
	}
	candidates := f.inPath(path)
	if path == "" {
		candidates = append(f.inPath(f.program()), f.knownPlaces()...)
	}
	for _, c := range candidates {
		if f.usable(c) {
			return c, nil
		}
	}
	return "", &NotFoundError{Tried: f.tried, Path: path}
}

func (f *finder) windows() bool { return f.goos == "windows" }

func (f *finder) program() string {
	if f.windows() {
		return "claude.exe"
	}
	return "claude"
}

func (f *finder) hasSeparator(path string) bool {
	if f.windows() {
		return strings.ContainsAny(path, `/\:`)
	}
	return strings.Contains(path, "/")
}

func (f *finder) inPath(name string) []string {
	if name == "" {
		return nil
	}
	sep := ":"
	if f.windows() {
		sep = ";"
	}
	var files []string
	for dir := range strings.SplitSeq(f.variable("PATH"), sep) {
		if f.absolute(dir) {
			files = append(files, f.join(dir, name))
		}
	}
	return files
}

// knownPlaces returns the paths at which installers put the CLI. On Windows there is only one: a Unix-like
// path would be resolved on the current drive, where any user may have put a file.
func (f *finder) knownPlaces() []string {
	if f.windows() {
		return f.inHome("USERPROFILE", `.local\bin\claude.exe`)
	}
	places := f.inHome("HOME", ".npm-global/bin/claude")
	places = append(places, "/usr/local/bin/claude")
	return append(places, f.inHome("HOME", ".local/bin/claude", "node_modules/.bin/claude",
		".yarn/bin/claude", ".claude/local/claude")...)
}

func (f *finder) inHome(variable string, files ...string) []string {
	home := f.variable(variable)
	if !f.absolute(home) {
		return nil
	}
	places := make([]string, len(files))
	for i, file := range files {
		places[i] = f.join(home, file)
	}
	return places
}

// usable reports whether path is an executable file, and records it for the error if not.
func (f *finder) usable(path string) bool {
	info, err := f.stat(path)
	switch {
	case f.windows() && isBatch(path), err != nil:
	case info.IsDir():
		path += " (a directory)"
	case !f.windows() && info.Mode().Perm()&0o111 == 0:
		path += " (not executable)"
	default:
		return true
	}
	if !slices.Contains(f.tried, path) { // PATH may contain a known place
		f.tried = append(f.tried, path)
	}
	return false
}

// variable returns the last value of key in env, as the started program would see it.
func (f *finder) variable(key string) string {
	var found string
	for _, entry := range f.env {
		k, v, _ := strings.Cut(entry, "=")
		if k == key || f.windows() && strings.EqualFold(k, key) {
			found = v
		}
	}
	return found
}

func (f *finder) absolute(path string) bool {
	if !f.windows() {
		return strings.HasPrefix(path, "/")
	}
	drive := len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
	return drive || strings.HasPrefix(path, `\\`)
}

func (f *finder) join(dir, file string) string {
	if f.windows() {
		return strings.TrimRight(dir, `\/`) + `\` + file
	}
	return filepath.Join(dir, file)
}

// isBatch reports whether Windows would treat a path as a batch file. Windows ignores dots and spaces at the
// end of a name, and a colon separates the name of a stream of the same file.
func isBatch(path string) bool {
	parts := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(`/\:`, r) })
	for _, part := range parts {
		part = strings.ToLower(strings.TrimRight(part, ". "))
		if strings.HasSuffix(part, ".bat") || strings.HasSuffix(part, ".cmd") {
			return true
		}
	}
	return false
}

func batchError(path string) error {
	return &StartError{Path: path, Reason: "a .bat or .cmd file is run by cmd.exe, which would interpret the arguments; " +
		"use the path of claude.exe"}
}
