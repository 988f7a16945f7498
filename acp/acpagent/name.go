package acpagent

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// runners are programs that run another program, which their first argument names.
var runners = []string{"node", "nodejs", "bun", "bunx", "deno", "npx", "pnpx", "python", "python3", "uvx", "pipx", "env", "sh", "bash"}

// containers are names of files and folders that do not identify a program.
var containers = []string{"index", "main", "cli", "acp", "dist", "bin", "build", "lib", "out", "src", "."}

// commandName returns the name of the agent that a command runs.
func commandName(command []string) string {
	for i, word := range command {
		name := programName(word)
		if i+1 < len(command) && (slices.Contains(runners, name) || i > 0 && (strings.HasPrefix(word, "-") || strings.Contains(word, "="))) {
			continue
		}
		return name
	}
	return ""
}

// programName returns the name of a program, a script or a package.
func programName(word string) string {
	word = filepath.ToSlash(word)
	if _, module, ok := strings.Cut(word, "node_modules/"); ok && !strings.HasPrefix(module, ".bin/") {
		parts := strings.SplitN(module, "/", 3)
		if strings.HasPrefix(module, "@") && len(parts) > 1 {
			return parts[1]
		}
		return parts[0]
	}
	for {
		name := path.Base(word)
		if at := strings.LastIndexByte(name, '@'); at > 0 {
			name = name[:at] // without the version of a package
		}
		for _, ext := range []string{".exe", ".cmd", ".js", ".mjs", ".cjs", ".ts", ".py"} {
			name = strings.TrimSuffix(name, ext)
		}
		if up := path.Dir(word); slices.Contains(containers, name) && up != word && up != "." && up != "/" {
			word = up
			continue
		}
		return name
	}
}
