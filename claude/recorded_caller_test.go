package claude_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/tape"
)

// ownRecording returns a recording of the project.
func ownRecording(t *testing.T, name string) *recording {
	t.Helper()
	rec, err := readRecording(filepath.Join("..", "testdata", "wire", name), nil)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestCallSteps changes the caller's steps of a recording and checks the effect.
func TestCallSteps(t *testing.T) {
	closing := recordedStep{Do: "close", When: recordedWhen{Event: "message", Type: "result", Nth: 1, DelayMS: 300}}
	for _, tc := range []struct {
		name, recording string
		change          func(*recordedCall)
		via             callAPI
		kinds           []string
		left            bool
	}{
		{
			name: "as recorded", recording: "simple-string", change: func(*recordedCall) {},
			via: viaQuery, kinds: []string{"system/init", "assistant", "result"},
		},
		{
			name: "leaving the loop", recording: "simple-string", via: viaQuery, left: true,
			change: func(c *recordedCall) {
				c.Steps = []recordedStep{{Do: "stop_reading", When: recordedWhen{Event: "message", Type: "assistant", Nth: 1}}}
			},
			kinds: []string{"system/init", "assistant"},
		},
		{
			name: "a prompt with a handle", recording: "simple-string", via: viaConnect,
			change: func(c *recordedCall) { c.Steps = []recordedStep{closing} },
			kinds:  []string{"system/init", "assistant", "result"},
		},
		{
			name: "started ahead", recording: "simple-string", via: viaPrewarm,
			change: func(c *recordedCall) { c.API = "startup" },
			kinds:  []string{"system/init", "assistant", "result"},
		},
		{
			name: "started ahead with a handle", recording: "simple-string", via: viaConnect,
			change: func(c *recordedCall) { c.API, c.Steps = "startup", []recordedStep{closing} },
			kinds:  []string{"system/init", "assistant", "result"},
		},
		{
			name: "a stream, started ahead", recording: "streaming-end-early", via: viaPrewarm,
			change: func(c *recordedCall) { c.API = "startup" },
			kinds:  []string{"system/init", "assistant", "result"},
		},
		{
			name: "a stream", recording: "streaming-end-early", change: func(*recordedCall) {},
			via: viaQueryStream, kinds: []string{"system/init", "assistant", "result"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rec := ownRecording(t, tc.recording)
			call := &rec.Caller.Calls[0]
			tc.change(call)
			run := playCall(t, rec, call)
			var kinds []string
			for _, m := range run.Messages {
				kinds = append(kinds, message.Kind(m))
			}
			if run.Via != tc.via || !reflect.DeepEqual(kinds, tc.kinds) || run.Left != tc.left || run.Err != nil {
				t.Errorf("%s gave %q, left %v, error %v", run.Via, kinds, run.Left, run.Err)
			}
		})
	}
}

// playCall plays a recording to a call.
func playCall(t *testing.T, rec *recording, call *recordedCall) (run *callRun) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		opts, err := call.ClaudeOptions(callSetup{Environ: map[string]string{}})
		if err != nil {
			t.Fatal(err)
		}
		opts.Spawner = tape.NewPlayer(rec.Processes["."], call.Hints())
		run = call.Run(t.Context(), opts, nil)
	})
	return run
}

// TestCallOutcomes: control steps have outcomes, even if their moment never comes.
func TestCallOutcomes(t *testing.T) {
	rec := ownRecording(t, "control-misc")
	call := &rec.Caller.Calls[0]
	call.Steps = append(call.Steps, recordedStep{Do: "control", Label: "late", Request: json.RawMessage(`{"subtype":"interrupt"}`),
		When: recordedWhen{Event: "message", Type: "result", Nth: 7}})
	run := playCall(t, rec, call)
	if n := len(run.Calls); n != 12 || run.Calls[n-1].Err == nil || run.Calls[0].Err != nil {
		t.Errorf("outcomes: %+v", run.Calls)
	}
	if want := []int{len(call.Steps) - 1}; !reflect.DeepEqual(run.NotDone, want) {
		t.Errorf("not done: %v, want %v", run.NotDone, want)
	}
}

// TestCallOptions gives every option of the TypeScript SDK.
func TestCallOptions(t *testing.T) {
	store := newMemoryStore(nil).With()
	var call recordedCall
	if err := json.Unmarshal([]byte(allOptions), &call.Options); err != nil {
		t.Fatal(err)
	}
	got, err := call.ClaudeOptions(callSetup{
		Environ: map[string]string{"A": "1", "B": "2"}, Store: store, Stderr: func(string) {}, Answers: newCallAnswers(&call),
	})
	if err != nil {
		t.Fatal(err)
	}
	// The official SDK does not have these, or the run sets them.
	own := []string{"User", "Isolation", "Transport", "Spawner", "AllSkills", "StrictLines", "MaxLine", "MaxBuffered", "Trace", "Logger", "Deadlines",
		"OnQuestion", "OnPlan", "Guard", "MaxAbsence", "RequireMCP", "SessionLock", "Tenant", "Admission", "Weight", "Registry", "Supervisor", "KeepChildren"}
	v := reflect.ValueOf(*got)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if v.Field(i).IsZero() && !slices.Contains(own, name) {
			t.Errorf("%s is not set", name)
		}
	}
	if got.Env["A"] != "3" || got.Env["B"] != "" || !got.CleanEnv || got.LoadTimeout != 1500*time.Millisecond || *got.TaskBudget != 5 {
		t.Errorf("options: %+v", got)
	}
	if len(got.MCPServers) != 2 || got.MCPServers["s"].Server == nil || string(got.Sandbox.Other["newer"]) != "1" {
		t.Errorf("servers %v, sandbox %v", got.MCPServers, got.Sandbox)
	}
	if names := call.Callbacks(); len(names) != 6 {
		t.Errorf("callbacks: %q", names)
	}
	call.Options["noSuchOption"] = json.RawMessage("1")
	if _, err := call.ClaudeOptions(callSetup{}); err == nil {
		t.Error("an option that nobody knows is no error")
	}
}

const allOptions = `{
	"abortController":"@abort","additionalDirectories":["a"],"projectConfigRoot":"r","agent":"g","agents":{"h":{"description":"d","prompt":"p"}},
	"allowedTools":["Bash"],"disallowedTools":["Read"],"tools":["Bash"],"toolAliases":{"a":"b"},"toolConfig":{"askUserQuestion":{"previewFormat":"html"}},
	"canUseTool":"@callback","permissionPromptToolName":"t","permissionPrompts":"none","permissionMode":"plan","allowDangerouslySkipPermissions":true,
	"planModeInstructions":"p","continue":true,"resume":"r","forkSession":true,"resumeSessionAt":"u","resumeDropsTurn":"","sessionId":"s","persistSession":false,
	"sessionStore":"@store","sessionStoreFlush":"eager","loadTimeoutMs":1500,"title":"t","cwd":"d","env":{"replace":true,"set":{"A":"3"},"unset":["B"]},
	"extraArgs":{"x":null},"executable":"bun","executableArgs":["-e"],"pathToClaudeCodeExecutable":"c","model":"m","fallbackModel":"f","betas":["b"],
	"effort":"low","thinking":{"type":"enabled","budgetTokens":5,"display":"omitted"},"maxThinkingTokens":0,"maxTurns":1,"maxBudgetUsd":0,"taskBudget":{"total":5},
	"outputFormat":{"type":"json_schema","schema":{"type":"object"}},"systemPrompt":{"type":"preset","preset":"claude_code","append":"x"},
	"mcpServers":{"e":{"command":"x"},"s":{"type":"sdk","name":"s"}},"strictMcpConfig":true,"hooks":{},"onElicitation":"@callback","onUserDialog":"@callback",
	"supportedDialogKinds":["x"],"perTaskStopAffordance":true,"includePartialMessages":true,"includeHookEvents":true,"forwardSubagentText":true,
	"promptSuggestions":true,"agentProgressSummaries":true,"verbatimPrompts":true,"settings":{"a":1},"sandbox":{"enabled":true,"newer":1},
	"managedSettings":{"a":1},"settingSources":[],"skills":["s"],"plugins":[{"type":"local","path":"p"}],"pluginDelivery":"initialize",
	"enableFileCheckpointing":true,"debug":true,"debugFile":"f","stderr":"@callback"}`

// TestSystemPromptOption has the forms of a system prompt.
func TestSystemPromptOption(t *testing.T) {
	yes := true
	for text, want := range map[string]claude.SystemPrompt{
		`"s"`:       claude.PromptText("s"),
		`["a","b"]`: claude.PromptParts{"a", "b"},
		`{"type":"custom","prompt":"a","snapshot":true}`: &claude.PromptCustom{Parts: []string{"a"}, Snapshot: &yes},
		`{"type":"custom","prompt":["a","b"]}`:           &claude.PromptCustom{Parts: []string{"a", "b"}},
		`{"type":"preset","preset":"claude_code"}`:       &claude.PromptPreset{},
		`{"type":"file","path":"f"}`:                     claude.PromptFile("f"),
	} {
		call := recordedCall{Options: map[string]json.RawMessage{"systemPrompt": json.RawMessage(text)}}
		got, err := call.ClaudeOptions(callSetup{})
		if err != nil || !reflect.DeepEqual(got.SystemPrompt, want) {
			t.Errorf("%s: %#v, %v; want err == nil and reflect.DeepEqual(got.SystemPrompt, want)", text, got.SystemPrompt, err)
		}
	}
}

func TestLookupID(t *testing.T) {
	var messages []message.Message
	for _, line := range []string{
		`{"type":"system","subtype":"init","session_id":"s1","uuid":"u1"}`,
		`{"type":"system","subtype":"task_started","task_id":"t1","session_id":"s1"}`,
		`{"type":"assistant","uuid":"u2","message":{"id":"m1"}}`,
		`{"type":"system","subtype":"task_started","task_id":"t2","session_id":"s2"}`,
	} {
		m, err := message.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, m)
	}
	for where, want := range map[string]string{
		"task_id of the first system/task_started":  "t1",
		"task_id of the second system/task_started": "t2",
		"session_id of the first call's messages":   "s1",
		"uuid of the first assistant":               "u2",
		"id of the last assistant message":          "m1",
		"task_id of the third system/task_started":  "",
		"no description":                            "",
	} {
		if got := lookupID(where, messages); got != want {
			t.Errorf("%s: %q, want %q", where, got, want)
		}
	}
}

// The caller's actions between calls, and the ids that it takes over, have several forms.
func TestCallerForms(t *testing.T) {
	calls := `"calls":[{"options":{}},{"options":{"resume":"a"}},{"options":{"resume":"b","sessionId":"c"}}]`
	tests := []struct {
		text   string
		before []string
		ids    []map[string]string
	}{
		{`"between_calls":"wipe","ids":{"resume":"x"}`, []string{"", "wipe", "wipe"}, []map[string]string{{}, {"resume": "x"}, {"resume": "x"}}},
		{`"between_calls":["wipe",null],"ids":{"2":{"resume":"x"},"call 3":{"resume":"y","sessionId":"z"}}`, []string{"", "wipe", ""}, []map[string]string{{}, {"resume": "x"}, {"resume": "y", "sessionId": "z"}}},
		{`"between_calls":[null,"rm all"],"ids":[{"resume":"x"},{"resume":"y"}]`, []string{"", "", "rm all"}, []map[string]string{{}, {"resume": "x"}, {"resume": "y"}}},
		{`"between_calls":[{"do":"wipe"}],"ids":[{"call":3,"resume":"y"}]`, []string{"", `{"do":"wipe"}`, ""}, []map[string]string{{}, {}, {"resume": "y"}}},
		{`"ids":[{"call":3,"ids":{"resume":"y"}},{"call":3,"sessionId":"z"}]`, []string{"", "", ""}, []map[string]string{{}, {}, {"resume": "y", "sessionId": "z"}}},
	}
	for _, tt := range tests {
		var c recordedCaller
		if err := json.Unmarshal([]byte("{"+calls+","+tt.text+"}"), &c); err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		for i := range c.Calls {
			if got := c.BetweenCalls.Before(i); got != tt.before[i] {
				t.Errorf("%s: before call %d: %q", tt.text, i+1, got)
			}
			if got := c.IDs.Of(c.Calls, i); !reflect.DeepEqual(got, tt.ids[i]) {
				t.Errorf("%s: ids of call %d: %v", tt.text, i+1, got)
			}
		}
	}
	for _, text := range []string{`{"ids":{"resume":{"x":"y"}}}`, `{"ids":[{"call":"x"}]}`, `{"ids":[{"resume":1}]}`, `{"ids":7}`, `{"between_calls":7}`} {
		if err := json.Unmarshal([]byte(text), new(recordedCaller)); err == nil {
			t.Errorf("no error for %s", text)
		}
	}
}

func TestLookupCallID(t *testing.T) {
	var calls [][]message.Message
	for _, id := range []string{"s1", "s2", "s3"} {
		m, err := message.Decode([]byte(`{"type":"system","subtype":"init","session_id":"` + id + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, []message.Message{m})
	}
	for where, want := range map[string]string{
		"session_id of the first call's messages":    "s1",
		"session_id of the second call's messages":   "s2",
		"session_id of the previous call's messages": "s3",
		"session_id of the fourth call's messages":   "",
		"session_id of the second system/init":       "s2",
	} {
		if got := lookupCallID(where, calls); got != want {
			t.Errorf("%s: %q, want %q", where, got, want)
		}
	}
}

// TestReadRecordingErrors: an invalid recording is an error.
func TestReadRecordingErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := readRecording(dir, nil); err == nil {
		t.Error("an empty directory is a recording")
	}
	for name, text := range map[string]string{"meta.json": "{}", "caller.json": "{", "sdk.jsonl": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := readRecording(dir, nil); err == nil {
		t.Error("half a caller.json is one")
	}
}

// TestMemoryStoreMethods: a store has exactly the requested methods.
func TestMemoryStoreMethods(t *testing.T) {
	names := []string{"listSessions", "listSubkeys", "delete"}
	for bits := range 8 {
		var methods []string
		for i, name := range names {
			if bits&(1<<i) != 0 {
				methods = append(methods, name)
			}
		}
		m := newMemoryStore(nil)
		store := m.With(methods...)
		main := claude.SessionKey{ProjectKey: "p", SessionID: "s"}
		sub := claude.SessionKey{ProjectKey: "p", SessionID: "s", Subpath: "a/b"}
		for _, key := range []claude.SessionKey{main, sub} {
			if err := store.Append(t.Context(), key, []json.RawMessage{json.RawMessage("1")}); err != nil {
				t.Fatal(err)
			}
		}
		lister, lists := store.(claude.SessionLister)
		subkeys, hasSubkeys := store.(claude.SubkeyLister)
		deleter, deletes := store.(claude.SessionDeleter)
		if lists != slices.Contains(methods, names[0]) || hasSubkeys != slices.Contains(methods, names[1]) || deletes != slices.Contains(methods, names[2]) {
			t.Errorf("%q: %v %v %v; want lists == slices.Contains(methods, names[0]) and hasSubkeys == slices.Contains(methods, names[1]) and deletes == slices.Contains(methods, names[2])", methods, lists, hasSubkeys, deletes)
		}
		if lists {
			if l, err := lister.ListSessions(t.Context(), "p"); err != nil || len(l) != 1 || l[0].SessionID != "s" {
				t.Errorf("sessions %v, %v", l, err)
			}
		}
		if hasSubkeys {
			if l, err := subkeys.ListSubkeys(t.Context(), main); err != nil || len(l) != 1 || l[0] != "a/b" {
				t.Errorf("subkeys %v, %v", l, err)
			}
		}
		if deletes {
			if err := deleter.Delete(t.Context(), main); err != nil {
				t.Error(err)
			}
			if l, err := store.Load(t.Context(), sub); err != nil || l != nil {
				t.Errorf("behind the deletion: %s, %v", l, err)
			}
		}
	}
}
