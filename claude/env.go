package claude

import (
	"maps"
	"os"
	"slices"
	"strings"
)

// Version is the version of this package. The CLI receives it in its environment, in the
// variable CLAUDE_AGENT_SDK_VERSION.
const Version = "0.1.0"

// removed are variables that would change the CLI's behavior and are never passed on: the
// mark of a nested session, and the variables of Node and its debuggers.
var removed = []string{"CLAUDECODE", "NODE_OPTIONS", "DEBUG"}

// environ returns the CLI's whole environment.
func (l *launch) environ() []string {
	var env []string
	if !l.CleanEnv {
		env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
			k, _, ok := strings.Cut(kv, "=")
			_, own := l.Env[k]
			return !ok || k == "" || own || slices.Contains(removed, k)
		})
	}
	for _, k := range slices.Sorted(maps.Keys(l.Env)) {
		if !slices.Contains(removed, k) {
			env = append(env, k+"="+l.Env[k])
		}
	}
	// The CLI accepts only three values that mark a session run by a program; this is the
	// neutral one.
	env = setDefault(env, "CLAUDE_CODE_ENTRYPOINT", "sdk-cli")
	env = setDefault(env, "CLAUDE_AGENT_SDK_VERSION", Version)
	// Makes the CLI report when it is idle, which decides when its input is closed.
	env = setDefault(env, "CLAUDE_CODE_SDK_READS_SESSION_STATE", "1")
	if l.EnableFileCheckpointing {
		env = set(env, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true")
	}
	if l.QuestionPreviewFormat != "" {
		env = set(env, "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT", l.QuestionPreviewFormat)
	}
	if l.Dir != "" && variable(env, "PWD") >= 0 {
		env = set(env, "PWD", l.Dir) // the inherited PWD is the caller's
	}
	return env
}

// variable returns the index of a variable, or -1.
func variable(env []string, name string) int {
	return slices.IndexFunc(env, func(kv string) bool {
		return len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name
	})
}

func setDefault(env []string, name, value string) []string {
	if variable(env, name) >= 0 {
		return env
	}
	return append(env, name+"="+value)
}

func set(env []string, name, value string) []string {
	if i := variable(env, name); i >= 0 {
		env[i] = name + "=" + value
		return env
	}
	return append(env, name+"="+value)
}

// Environ returns the environment of a CLI started with these options, as strings of the form
// key=value.
func (o *Options) Environ() []string { return unchecked(o).environ() }
