package claude_test

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
)

// known holds the values of a recording: the input and output of its processes, and the
// actions of its caller. Every value that the official SDK returned must be one of them.
type known struct {
	seed  maphash.Seed
	whole map[uint64]bool // objects, arrays, scalars, and members with their values
	texts []string        // whole files
}

func newKnown() *known { return &known{seed: maphash.MakeSeed(), whole: map[uint64]bool{}} }

// add adds a value and all values in it.
func (k *known) add(v any) {
	k.whole[k.hash(v, func(h uint64) { k.whole[h] = true })] = true
}

// hash returns the hash of a value. It calls each with the hashes of the values inside: of the
// members of an object with and without their names, of elements, and of JSON in a text.
func (k *known) hash(v any, each func(uint64)) uint64 {
	var sum uint64
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			h := k.hash(e, each)
			m := k.member(name, h)
			each(h)
			each(m)
			each(k.member(name, 0)) // the name alone
			sum += m                // in any order
		}
		return maphash.Comparable(k.seed, [2]any{"object", sum})
	case []any:
		for _, e := range v {
			h := k.hash(e, each)
			each(h)
			sum = maphash.Comparable(k.seed, [2]uint64{sum, h})
		}
		return maphash.Comparable(k.seed, [2]any{"array", sum})
	}
	return maphash.Comparable(k.seed, v)
}

// member returns the hash of a member from its name and the hash of its value. The SDK writes
// tool_use_id as toolUseID.
func (k *known) member(name string, h uint64) uint64 {
	return maphash.Comparable(k.seed, [2]any{strings.ToLower(strings.ReplaceAll(name, "_", "")), h})
}

// missing returns the path of the first value that is not known, or "". An object that the SDK
// composed needs only known members.
func (k *known) missing(path, name string, v any) string {
	h := k.hash(v, func(uint64) {})
	if k.whole[h] && !needsName(v) || k.whole[k.member(name, h)] || slices.Contains(madeMembers, name) {
		return ""
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if !k.whole[k.member(name, 0)] && !slices.Contains(sdkMembers, name) {
				return path + "." + name
			}
			if at := k.missing(path+"."+name, name, v[name]); at != "" {
				return at
			}
		}
		return ""
	case []any:
		for i, e := range v {
			if at := k.missing(fmt.Sprint(path, "[", i, "]"), name, e); at != "" {
				return at
			}
		}
		return ""
	case string:
		if k.isText(v) {
			return ""
		}
	}
	return path
}

// isText reports whether a text is a text of the SDK, filler, or a part of a known text.
func (k *known) isText(text string) bool {
	const words = "redacted text of the same length, "
	if slices.Contains(sdkTexts, text) || strings.HasPrefix(strings.Repeat(words, len(text)/len(words)+1), text) {
		return true
	}
	for _, form := range errorForms {
		rest, ok := strings.CutPrefix(text, form[0])
		if rest, cut := strings.CutSuffix(rest, form[1]); ok && cut {
			code, stderr, _ := strings.Cut(rest, ". stderr: ")
			return (k.whole[k.hash(code, nil)] || k.isText(code)) && (stderr == "" || k.isText(stderr))
		}
	}
	return len(text) > 8 && slices.ContainsFunc(k.texts, func(s string) bool { return strings.Contains(s, text) })
}

// needsName reports whether a value is too unspecific without the name of its member.
func needsName(v any) bool {
	switch v.(type) {
	case nil, bool, float64:
		return true
	}
	return false
}

// sdkMembers are the names of members in objects that the official SDK composes.
var sdkMembers = strings.Fields(`name message cls code errorClass errorCode exitCode signal telemetryMessage startupFailureReason suggestions serverName
	projectKey sessionId subpath createdAt customTitle fileSize firstPrompt gitBranch lastModified summary parent_agent_id parent_tool_use_id stop_details`)

// madeMembers are members with values that the official SDK, or the driver of the recording,
// generated. The recording does not determine them.
var madeMembers = []string{
	"new_exists", "n", "uuid", "createdAt", "fileSize", "lastModified", "timestamp", "output_tokens",
	"parent_agent_id", "parent_tool_use_id", "stop_details", "stop_sequence", "fallback_credit",
}

// errorForms are the texts before and after a text of the CLI in an error of the SDK.
var errorForms = [][2]string{
	{"Claude Code returned an error result: ", ""}, {"Claude Code process exited with code ", ""}, {"Claude Code process terminated by signal ", ""},
	{"Claude Code control request failed (", ")"}, {"--- ", ""},
}

// sdkTexts are the texts of the official SDK and of the driver.
var sdkTexts = []string{
	"Error", "ReferenceError", "_r", "ENOENT", "HEAD", "second query ---", "abort()", "close()", "continueAndResume", "bypassNoAllow",
	"pre", "post", "fail", "pr", "el", "elr", "ups", "stop", "sf", "display", "Query closed before response received",
	"signal", "sessionId", "_meta", "sendNotification", "sendRequest", "authInfo", "requestId", "requestInfo", "taskId", "taskStore", "taskRequestedTtl",
	"closeSSEStream", "closeStandaloneSSEStream",
	"Fallback model cannot be the same as the main model. Please specify a different model for fallbackModel option.",
	"Cannot use both a settings file path and the sandbox option. Include the sandbox configuration in your settings file instead.",
	"Unsupported plugin type: npm", "Renamed (fork)",
	"canUseTool callback cannot be used with permissionPromptToolName. Please use one or the other.",
	"sessionStore cannot be used with persistSession: false -- the storage adapter requires local writes to mirror from. To avoid keeping a local copy, " +
		"pass env: { ...process.env, CLAUDE_CONFIG_DIR: dir }, where dir is a new private directory such as fs.mkdtempSync(path.join(os.tmpdir(), 'claude-')), and delete dir when the query ends.",
	"supportedDialogKinds requires an onUserDialog callback -- declaring dialog kinds without a handler would park dialogs nothing can answer. " +
		"Provide onUserDialog, or omit supportedDialogKinds.",
	"Claude Code process aborted by user", "Operation aborted", "Claude Code returned an error result",
	"error_result", "process_exited_nonzero", "process_killed_by_signal", "aborted", "executable_not_found", "executable_launch_failed", "control_request_failed",
	"Claude Code native binary at claude exists but failed to launch. This usually means the binary does not match this system's libc — e.g. spawning a musl-linked " +
		"binary on a glibc Linux host fails because the musl dynamic loader (/lib/ld-musl-*) is missing. Specify a matching binary with options.pathToClaudeCodeExecutable.",
	"Claude Code native binary exists at the configured path but failed to launch (ENOENT)",
	"Claude Code native binary not found at /no/such/claude. Please ensure Claude Code is installed via native installer or specify a valid path with options.pathToClaudeCodeExecutable.",
	"Claude Code native binary not found at the configured path (ENOENT)",
}
