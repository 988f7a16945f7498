package claude

import (
	"maps"
	"os"
	"slices"
	"strings"
)

// Version is the version of this package, as the CLI is told.
const Version = "0.1.0"

// notInherited are variables of the caller that would change the CLI: the mark
// of a session inside a session, and what Node and its debuggers read.
var notInherited = []string{"CLAUDECODE", "NODE_OPTIONS", "DEBUG"}

// environ is the CLI's whole environment.
func (o *Options) environ() []string {
	env := map[string]string{}
	if !o.CleanEnv {
		for _, kv := range os.Environ() {
			if k, v, ok := strings.Cut(kv, "="); ok && k != "" {
				env[k] = v
			}
		}
	}
	maps.Copy(env, o.Env)
	for _, k := range notInherited {
		if _, own := o.Env[k]; !own {
			delete(env, k)
		}
	}
	set := func(k, v string) {
		if _, ok := env[k]; !ok {
			env[k] = v
		}
	}
	// Of the values that mark a session as run by a program the CLI's own
	// lists know only three, and this is the neutral one.
	set("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")
	set("CLAUDE_AGENT_SDK_VERSION", Version)
	// Makes the CLI tell when it is idle, which decides when its input is closed.
	set("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1")
	if o.EnableFileCheckpointing {
		env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] = "true"
	}
	if o.QuestionPreviewFormat != "" {
		env["CLAUDE_CODE_QUESTION_PREVIEW_FORMAT"] = o.QuestionPreviewFormat
	}
	if _, ok := env["PWD"]; ok && o.Dir != "" {
		env["PWD"] = o.Dir // or it would name the caller's
	}
	list := make([]string, 0, len(env))
	for _, k := range slices.Sorted(maps.Keys(env)) {
		list = append(list, k+"="+env[k])
	}
	return list
}
