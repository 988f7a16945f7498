package claude_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/tape"
)

// sdkVersion is the version of the official SDK with the texts in sdkTexts.
const sdkVersion = "0.3.325"

// recordMembers are the kinds of records in sdk.jsonl with their members; "?" marks those that
// a record may lack.
var recordMembers = map[string]string{
	"message": "message", "end": "", "error": "error", "sync_throw": "label error", "driver_error": "error stack", "driver_done": "",
	"call": "label result? error?", "note": "text? a? new_exists?", "stderr": "data",
	"hook": "name input toolUseID? aborted", "hook_return": "name value", "hook_signal_aborted": "name", "hook_throw": "name error?",
	"canUseTool": "tool input options", "canUseTool_return": "value?", "canUseTool_signal_aborted": "tool",
	"tool_call": "name args extraKeys meta?", "elicitation": "request optKeys", "store_append": "key entries", "store_append_fail": "key n",
	"raw_out": "type subtype?", "raw_exit": "code signal",
}

// sdkOutput is sdk.jsonl: the official SDK's results for its caller.
type sdkOutput struct {
	*recording
	lines []string
}

// checkRecords compares everything in sdk.jsonl but the messages: a record has the members of
// its kind, records are in the order of their times, and their values occur in the recording.
// Times cannot be checked more exactly.
func (r sdkOutput) checkRecords() error {
	all := r.known(-1)
	after := 0.0
	for i, line := range r.lines {
		var rec map[string]any
		_ = json.Unmarshal([]byte(line), &rec) // cannot fail: ReadRecording has decoded it
		kind, _ := rec["kind"].(string)
		at, ok := rec["t_ms"].(float64)
		delete(rec, "kind")
		delete(rec, "t_ms")
		if !ok || at < after || (i == len(r.lines)-1) != (kind == "driver_done") {
			return fmt.Errorf("sdk.jsonl, line %d: not in the order of time: %.200s", i+1, line)
		}
		after = at
		members, ok := recordMembers[kind]
		if !ok {
			return fmt.Errorf("sdk.jsonl, line %d: there is no record of the kind %q", i+1, kind)
		}
		for name := range strings.FieldsSeq(members) {
			name, optional := strings.CutSuffix(name, "?")
			v, ok := rec[name]
			delete(rec, name)
			if !ok && !optional {
				return fmt.Errorf("sdk.jsonl, line %d: %s has no %s", i+1, kind, name)
			}
			if !ok || kind == "message" || kind == "raw_out" || r.Meta.SDKVersion != sdkVersion {
				continue
			}
			at := all.missing(name, name, v)
			if at != "" && kind == "call" && !needsName(v) {
				at = r.known(i).missing(name, name, v) // functions on sessions: they confirm each other's outcomes
			}
			if at != "" && !(kind == "call" && needsName(v)) {
				return fmt.Errorf("sdk.jsonl, line %d: %s of %s is not in the recording: %.200s", i+1, at, kind, line)
			}
		}
		for name := range rec {
			return fmt.Errorf("sdk.jsonl, line %d: %s has the member %s", i+1, kind, name)
		}
	}
	return nil
}

// known returns the values of the recording: the input, output, arguments and exit status of
// its processes, and the actions of the caller. If outcome is not negative, it includes the
// outcomes of calls except for this one.
func (r sdkOutput) known(outcome int) *known {
	all := newKnown()
	add := func(lines ...string) {
		for _, line := range lines {
			all.texts = append(all.texts, line)
			all.add(value([]byte(line)))
		}
	}
	all.add(map[string]any{"signal": nil, "aborted": false})
	for _, p := range r.Processes {
		add(p.Stdout...)
		add(p.Stdin...)
		add(p.Argv...)
		add(p.Stderr)
		code := float64(p.Exit.Code)
		all.add([]any{fmt.Sprint(code), map[string]any{"code": code, "exitCode": code}})
		if p.Exit.Signal != nil {
			all.add(map[string]any{"signal": *p.Exit.Signal})
		}
	}
	for _, name := range []string{"caller.json", "meta.json"} {
		text, err := os.ReadFile(filepath.Join(r.Dir, name))
		if err == nil {
			add(string(text))
		}
	}
	for i, rec := range r.SDK {
		if outcome >= 0 && rec.Kind == "call" && i != outcome {
			add(r.lines[i])
		}
		all.add(rec.Label)
	}
	return all
}

// checkOutput compares sdk.jsonl with the CLI's output: each message of the official SDK is a
// decoded line of the output, in this order. Without an SDK it compares the types of the lines
// and the exit code.
func checkOutput(rec *recording) error {
	lines, err := tape.ReadLines(filepath.Join(rec.Dir, "sdk.jsonl"))
	if err != nil {
		return err
	}
	r := sdkOutput{rec, lines}
	if err := r.checkRecords(); err != nil {
		return err
	}
	lines = nil
	for _, name := range slices.Sorted(maps.Keys(r.Processes)) {
		lines = append(lines, r.Processes[name].Stdout...)
	}
	if r.Caller == nil {
		return r.checkRaw(lines)
	}
	var values []any
	for _, line := range lines {
		if m, err := message.Decode([]byte(strings.TrimSpace(line))); err == nil {
			values = append(values, value(m.Raw()))
		}
	}
	for i, rec := range r.SDK {
		if rec.Kind != "message" {
			continue
		}
		want := value(rec.Message)
		if m, ok := want.(map[string]any); ok && m["subtype"] == "mirror_error" {
			continue // made by the SDK
		}
		n := slices.IndexFunc(values, func(v any) bool { return reflect.DeepEqual(v, want) })
		if n < 0 {
			return fmt.Errorf("sdk.jsonl, line %d: not in the CLI's output, or not in this order: %.200s", i+1, rec.Message)
		}
		values = values[n+1:]
	}
	return nil
}

// rawType is the type of a line, or of the driver's record of it.
type rawType struct{ Type, Subtype string }

func (r sdkOutput) checkRaw(lines []string) error {
	var got, want []rawType
	for _, line := range lines {
		var l struct {
			rawType
			Request, Response rawType
		}
		if json.Unmarshal([]byte(line), &l) != nil {
			continue
		}
		switch l.Type {
		case "control_request":
			l.Subtype = l.Request.Subtype
		case "control_response":
			l.Subtype = l.Response.Subtype
		}
		got = append(got, l.rawType)
	}
	for _, rec := range r.SDK {
		switch rec.Kind {
		case "raw_out":
			want = append(want, rawType{rec.Type, rec.Subtype})
		case "raw_exit":
			if exit := r.Processes["."].Exit; rec.Code != nil && exit.Signal == nil && *rec.Code != exit.Code {
				return fmt.Errorf("sdk.jsonl: exit code %d, exit.json has %d", *rec.Code, exit.Code)
			}
		}
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("sdk.jsonl: the types of the lines are %v, those of the output are %v", want, got)
	}
	return nil
}

// TestCheckOutput_notices changes single values of the official SDK's output.
func TestCheckOutput_notices(t *testing.T) {
	for _, change := range [][3]string{
		{"simple-string", "Hello from fake", "Hello from faKe"}, {"simple-string", `"kind":"end"`, `"kind":"ene"`}, {"simple-string", `"t_ms":`, `"t_mz":`},
		{"simple-string", `"driver_done"`, `"driver_dome"`}, {"hook-pre-deny", `"hook_event_name":"PreToolUse"`, `"hook_event_name":"PreToolUsf"`},
		{"hook-pre-deny", `"aborted":false`, `"aborted":true`}, {"can-allow-updated-input", `"addRules"`, `"bddRules"`},
		{"can-allow-updated-input", `"behavior":"allow"`, `"behavior":"allox"`}, {"api-400", `"errorClass":"error_result"`, `"errorClass":"error_resulu"`},
		{"api-400", "an error result: API", "an error result: APJ"}, {"cli-exits-3", `"exitCode":3`, `"exitCode":4`}, {"cli-exits-3", "fatal things", "fatal thinks"},
		{"mcp-text", `"sendRequest"`, `"sendRequesd"`}, {"introspection", `"builtin":true`, `"builtin":false`}, {"raw-sigterm", `"code":143`, `"code":142`},
		{"raw-sigterm", `"signal":null`, `"signal":1`}, {"raw-sigterm", `"type":"system"`, `"type":"systen"`}, {"session-functions", `"summary":"first"`, `"summary":"firsu"`},
	} {
		dir := filepath.Join(t.TempDir(), change[0])
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "testdata", "wire", change[0]))); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "sdk.jsonl")
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), change[1], change[2], 1)
		if changed == string(text) {
			t.Fatalf("%s has no %s", change[0], change[1])
		}
		if err := os.WriteFile(name, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		rec, err := readRecording(dir, nil)
		if err == nil {
			err = checkOutput(rec)
		}
		if err == nil {
			t.Errorf("%q goes unnoticed", change)
		}
	}
}
