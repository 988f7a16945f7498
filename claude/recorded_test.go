package claude_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/internal/tape"
)

// The files recorded_*_test.go repeat recorded dialogues between the official SDK and the real CLI: they
// read a recording and repeat the caller's actions with package claude. TestRecordings plays the part of
// the CLI, TestLive runs the real CLI.

// recording is one recorded scenario: an SDK that talks to the real CLI, or, if
// Caller is nil, input that was written by hand. It is read-only.
type recording struct {
	Name string
	Dir  string
	// Caller holds the actions of the SDK's caller.
	Caller *recordedCaller
	Meta   recordingMeta
	// SDK holds the SDK's results for its caller, in order.
	SDK []sdkRecord
	// Processes are the CLIs that were started: ".", "spawn2", and so on.
	Processes map[string]*tape.Process
}

// recordingMeta holds the members of meta.json that a run needs.
type recordingMeta struct {
	Note       string            `json:"note"`
	EnvExtra   map[string]string `json:"env_extra"`
	Raw        bool              `json:"raw"`
	Args       []string          `json:"args"`
	SDKVersion string            `json:"sdk_version"`
}

// recordedCaller is caller.json: all actions of the SDK's caller.
type recordedCaller struct {
	Calls []recordedCall `json:"calls"`
	Store *recordedStore `json:"store"`
	// IDs are options of later calls with values from the messages of earlier ones.
	IDs          callIDs         `json:"ids"`
	BetweenCalls betweenCalls    `json:"between_calls"`
	After        []recordedAfter `json:"after"`
	Killed       *recordedKill   `json:"killed"`
}

// recordedCall is one call of query or startup.
type recordedCall struct {
	API     string                     `json:"api"`
	Spawn   *string                    `json:"spawn"` // nil: no process was started
	CLI     string                     `json:"cli"`   // set: no real CLI
	Prompt  *string                    `json:"prompt"`
	Options map[string]json.RawMessage `json:"options"`
	Steps   []recordedStep             `json:"steps"`
	Answers []recordedAnswer           `json:"answers"`
}

// recordedStep is an action of the caller during a call.
type recordedStep struct {
	Do       string          `json:"do"` // send, end_input, control, add_tool, close, abort, stop_reading
	When     recordedWhen    `json:"when"`
	Line     int             `json:"line"`
	Message  json.RawMessage `json:"message"`
	Request  json.RawMessage `json:"request"`
	Accessor string          `json:"accessor"`
	Label    string          `json:"label"`
	// IDs are members of Request with values from the run.
	IDs map[string]string `json:"ids"`
	// SDKServers are the in-process MCP servers of a Request that sets servers.
	SDKServers map[string]json.RawMessage `json:"sdk_servers"`
	// Server and Tool belong to the step add_tool.
	Server string          `json:"server"`
	Tool   json.RawMessage `json:"tool"`
}

// recordedWhen is the moment of a step.
type recordedWhen struct {
	Event     string  `json:"event"` // before_start, start, message, callback, step_done
	Type      string  `json:"type"`
	EventType string  `json:"event_type"`
	Nth       int     `json:"nth"`
	DelayMS   float64 `json:"delay_ms"`
}

// recordedAnswer is one invocation of a callback and its result.
type recordedAnswer struct {
	Line               int             `json:"line"`
	AnswerLine         int             `json:"answer_line"`
	CancelledByLine    int             `json:"cancelled_by_line"`
	Subtype            string          `json:"subtype"`
	ToolUseID          string          `json:"tool_use_id"`
	CallbackID         string          `json:"callback_id"`
	HookEventName      string          `json:"hook_event_name"`
	Server             string          `json:"server"`
	Tool               string          `json:"tool"`
	Return             json.RawMessage `json:"return"`
	Throw              *string         `json:"throw"`
	DelayMS            float64         `json:"delay_ms"`
	DelayAfterCancelMS *float64        `json:"delay_after_cancel_ms"`
	Notify             json.RawMessage `json:"notify"`
	NotCalled          json.RawMessage `json:"not_called"`
}

// recordedStore is the session store of a recording.
type recordedStore struct {
	Kind        string   `json:"kind"`
	AppendFails *string  `json:"append_fails"` // what every append fails with
	Methods     []string `json:"methods"`
}

// recordedAfter is a function of the SDK that was called after the last call.
type recordedAfter struct {
	Fn   string          `json:"fn"`
	Args json.RawMessage `json:"args"`
}

// recordedKill describes how the CLI was killed from outside.
type recordedKill struct {
	Signal string `json:"signal"`
	On     string `json:"on_first_stdout_line_containing"`
}

// sdkRecord is one result of the SDK for its caller: a message, the outcome of a control request, an end.
type sdkRecord struct {
	Kind    string          `json:"kind"`
	Message json.RawMessage `json:"message"`
	Text    string          `json:"text"` // of a note
	Label   string          `json:"label"`
	Result  json.RawMessage `json:"result"`
	Error   *sdkError       `json:"error"`
	Key     json.RawMessage `json:"key"`
	Entries []any           `json:"entries"`
	N       int             `json:"n"`
	// For a process without an SDK: the type of a line, and its exit code.
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Code    *int   `json:"code"`
}

// sdkError is an error of the official SDK.
type sdkError struct {
	Message    string `json:"message"`
	ErrorClass string `json:"errorClass"` // empty for errors without a class
	ErrorCode  string `json:"errorCode"`
	ExitCode   *int   `json:"exitCode"`
	Signal     string `json:"signal"`
}

// readRecording reads the recording in a directory. rewrite, which may be nil, changes caller.json before
// it is decoded, to replace paths of another machine.
func readRecording(dir string, rewrite func(string) string) (*recording, error) {
	r := &recording{Name: filepath.Base(dir), Dir: dir, Processes: map[string]*tape.Process{}}
	if err := tape.ReadJSON(filepath.Join(dir, "meta.json"), &r.Meta, nil); err != nil {
		return nil, err
	}
	r.Caller = &recordedCaller{}
	if err := tape.ReadJSON(filepath.Join(dir, "caller.json"), r.Caller, rewrite); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		r.Caller = nil
	}
	lines, err := tape.ReadLines(filepath.Join(dir, "sdk.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		var rec sdkRecord
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			return nil, fmt.Errorf("%s: sdk.jsonl: %w", r.Name, err)
		}
		r.SDK = append(r.SDK, rec)
	}
	spawns, err := fs.Glob(os.DirFS(dir), "spawn*") // the directory name is not a pattern
	if err != nil {
		return nil, err
	}
	for i := range spawns {
		spawns[i] = filepath.Join(dir, spawns[i])
	}
	for _, d := range append([]string{dir}, spawns...) {
		p, err := tape.ReadProcess(d)
		if errors.Is(err, fs.ErrNotExist) {
			continue // no process was started
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		name := "."
		if d != dir {
			name = filepath.Base(d)
		}
		r.Processes[name] = p
	}
	return r, r.checkProcesses()
}

// checkProcesses reports a process that is missing.
func (r *recording) checkProcesses() error {
	names := []string{"."}
	if r.Caller != nil {
		names = nil
		for _, c := range r.Caller.Calls {
			if c.Spawn != nil {
				names = append(names, *c.Spawn)
			}
		}
	}
	for _, name := range names {
		if r.Processes[name] == nil {
			return fmt.Errorf("%s: the files of process %q are missing", r.Name, name)
		}
	}
	return nil
}

// callEnds are the kinds of record that end a call.
var callEnds = []string{"end", "error", "sync_throw", "driver_error"}

// callRecords holds the SDK's results of one call: its messages and its end, which is nil if the caller
// stopped before the end.
type callRecords struct {
	Messages []json.RawMessage
	End      *sdkRecord
}

// Records divides the messages and ends of a recording among its calls.
func (r *recording) Records() []callRecords {
	out := make([]callRecords, len(r.Caller.Calls))
	i := 0
	for _, rec := range r.SDK {
		if i >= len(out) {
			break
		}
		switch {
		case rec.Kind == "note" && strings.HasPrefix(rec.Text, "---"):
			if out[i].Messages != nil { // the caller stopped reading the previous call
				i++
			}
		case rec.Kind == "message":
			out[i].Messages = append(out[i].Messages, rec.Message)
		case slices.Contains(callEnds, rec.Kind):
			out[i].End = &rec
			i++
		}
	}
	return out
}

// CallOutcomes returns the recorded outcomes of control steps, by label in their order; those of functions
// called after the calls are among them.
func (r *recording) CallOutcomes() map[string][]sdkRecord {
	out := map[string][]sdkRecord{}
	for _, rec := range r.SDK {
		if rec.Kind == "call" {
			out[rec.Label] = append(out[rec.Label], rec)
		}
	}
	return out
}

// Callbacks names the options of the call that make the CLI call the caller
// back, in-process MCP servers included.
func (c *recordedCall) Callbacks() []string {
	var names []string
	for name := range callbackOptions {
		if _, ok := c.Options[name]; ok {
			names = append(names, name)
		}
	}
	var servers map[string]struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(c.Options["mcpServers"], &servers)
	for name, s := range servers {
		if s.Type == "sdk" {
			names = append(names, "mcpServers."+name)
		}
	}
	for _, s := range c.Steps {
		if s.Do == "add_tool" {
			names = append(names, s.Do)
		}
	}
	slices.Sort(names)
	return names
}

// Has reports whether the call has a step of one of the given kinds.
func (c *recordedCall) Has(kinds ...string) bool {
	return slices.ContainsFunc(c.Steps, func(s recordedStep) bool { return slices.Contains(kinds, s.Do) })
}

// Hints returns the information about the caller's side of the call that a player needs.
func (c *recordedCall) Hints() tape.Hints {
	h := tape.Hints{EndsInput: c.Has("close", "abort", "stop_reading"), Optional: map[int]bool{}}
	for _, a := range c.Answers {
		if a.CancelledByLine > 0 {
			h.Optional[a.AnswerLine] = true
		}
	}
	return h
}
