package editor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// mapAll returns the updates for events as JSON.
func mapAll(t *testing.T, m *Mapper, events ...event.Event) (list []string) {
	t.Helper()
	for _, ev := range events {
		for _, u := range m.Event(ev) {
			text, err := json.Marshal(u.SessionUpdate)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, u.Subagent+" "+string(text))
		}
	}
	return list
}

func say(message, parent, text string) *event.TextDelta {
	return &event.TextDelta{Header: event.Header{MessageID: message, ParentToolUseID: parent}, Text: text}
}

// TestMapper_parents checks that events of a subagent do not change the state of the main thread, and reverse.
func TestMapper_parents(t *testing.T) {
	from := int64(0)
	const cutOff = "was cut off"
	bash := func(id, parent string) *event.ToolStart {
		return &event.ToolStart{Header: event.Header{MessageID: "m", ParentToolUseID: parent}, ToolUseID: id, Name: "Bash"}
	}
	agent := &event.ToolStart{Header: event.Header{MessageID: "m0"}, ToolUseID: "t", Name: "Agent"}
	for _, tt := range []struct {
		name         string
		events       []event.Event
		want, absent string
	}{
		{"the answer is abandoned", []event.Event{&event.MessageComplete{AbandonedFrom: &from}, &event.MessageStart{}}, cutOff, ""},
		{"a subagent goes on meanwhile", []event.Event{&event.MessageComplete{AbandonedFrom: &from}, &event.MessageStart{Header: event.Header{ParentToolUseID: "t"}}}, "", cutOff},
		{"a subagent goes on meanwhile, then the answer", []event.Event{&event.MessageComplete{AbandonedFrom: &from}, &event.MessageStart{Header: event.Header{ParentToolUseID: "t"}}, &event.MessageStart{}}, cutOff, ""},
		{"a subagent's answer is abandoned", []event.Event{&event.MessageComplete{Header: event.Header{ParentToolUseID: "t"}, AbandonedFrom: &from}, &event.MessageStart{}}, "", cutOff},
		{"the message of a call ends", []event.Event{agent, bash("1", "t"), &event.MessageComplete{Header: event.Header{MessageID: "m", ParentToolUseID: "t"}}}, `"toolCallId":"1","status":"in_progress"`, ""},
		{"a message with the same id ends", []event.Event{agent, bash("1", "t"), &event.MessageComplete{Header: event.Header{MessageID: "m"}}}, "", `"in_progress"`},
		{"the turn ends", []event.Event{bash("1", ""), &event.ResultMessage{}}, `"toolCallId":"1","status":"failed"`, ""},
		{"the turn ends before a subagent", []event.Event{agent, bash("1", "t"), &event.ResultMessage{}}, "", `"toolCallId":"1","status":"failed"`},
		{"the plan of a subagent", []event.Event{&event.Plan{Header: event.Header{ParentToolUseID: "t"}, Entries: []event.PlanEntry{{Content: "x"}}}}, "", `"plan"`},
	} {
		got := strings.ReplaceAll(strings.Join(mapAll(t, &Mapper{}, tt.events...), "\n"), `"_meta":{"claudeCode":{"parentToolUseId":"t","toolName":"Bash"}},`, "")
		if !strings.Contains(got, tt.want) || tt.absent != "" && strings.Contains(got, tt.absent) {
			t.Errorf("%s: the updates are %s, want %q and not %q", tt.name, got, tt.want, tt.absent)
		}
	}
}

// TestMapper_turns checks that a turn leaves nothing to the next one.
func TestMapper_turns(t *testing.T) {
	m := &Mapper{}
	mapAll(t, m, say("m", "", "text"),
		&event.AssistantMessage{Header: event.Header{UUID: "u", MessageID: "n"}, Error: "rate_limit", Blocks: []event.IndexedBlock{{Index: 1, Block: event.TextContent("API Error")}}},
		&event.ToolStart{ToolUseID: "1", Name: "Bash"}, &event.ResultMessage{IsError: true, Result: "API Error"})
	if _, err := m.Stop(); err == nil || !strings.Contains(string(err.Data), "rate_limit") {
		t.Errorf("the turn ends with %v, want the kind rate_limit", err)
	}
	if len(m.streamed) > 0 || len(m.order) > 0 || len(m.tools) > 0 || m.held != "" {
		t.Errorf("after the turn %d streamed blocks, %d open of %d calls and the text %q are kept", len(m.streamed), len(m.order), len(m.tools), m.held)
	}
	mapAll(t, m, &event.ResultMessage{IsError: true, Result: "other"})
	if _, err := m.Stop(); err == nil || err.Data != nil {
		t.Errorf("the next turn ends with %v and %s, want an error without a kind", err, err.Data)
	}
	mapAll(t, m, &event.ResultMessage{})
	if reason, err := m.Stop(); err != nil || reason != acp.StopReasonEndTurn {
		t.Errorf("a turn after it ends with %q, %v, want end_turn", reason, err)
	}
}

// TestMapper_usage checks that each change of the figures is reported once, and only changes.
func TestMapper_usage(t *testing.T) {
	n := func(i int64) *int64 { return &i }
	f := func(x float64) *float64 { return &x }
	m := &Mapper{}
	for i, step := range []struct {
		ev   event.Event
		want string
	}{
		{&event.Usage{ContextTokens: n(1)}, ""},
		{&event.Usage{ContextWindow: n(100)}, `{"sessionUpdate":"usage_update","used":1,"size":100}`},
		{&event.Usage{ContextTokens: n(1), ContextWindow: n(100)}, ""},
		{&event.Usage{ContextTokens: n(2)}, `{"sessionUpdate":"usage_update","used":2,"size":100}`},
		{&event.Usage{ContextWindow: n(200)}, `{"sessionUpdate":"usage_update","used":2,"size":200}`},
		{&event.Usage{CostUSD: f(0.5)}, `{"sessionUpdate":"usage_update","used":2,"size":200,"cost":{"amount":0.5,"currency":"USD"}}`},
		{&event.Usage{CostUSD: f(0.5)}, ""},
		{&event.ResultMessage{TotalCostUSD: f(0.75)}, `{"sessionUpdate":"usage_update","used":2,"size":200,"cost":{"amount":0.75,"currency":"USD"}}`},
		{&event.ResultMessage{}, ""},
	} {
		got := strings.TrimSpace(strings.Join(mapAll(t, m, step.ev), "|"))
		if got != step.want && !(step.want != "" && sameJSON(t, got, step.want)) {
			t.Errorf("step %d: the update is %s, want %s", i, got, step.want)
		}
	}
}

// TestMapper_reports checks that a server that fails to start is reported once.
func TestMapper_reports(t *testing.T) {
	down := []event.MCPServer{{Name: "a", Status: "failed", Error: "why"}, {Name: "b", Status: "connected"}}
	for _, replay := range []bool{false, true} {
		m := &Mapper{Features: Features{Notices: true}, Replay: replay}
		got := mapAll(t, m, &event.SystemInit{MCPServers: down}, &event.SystemInit{MCPServers: down}, &event.SessionInfo{MCPServers: down})
		want := 1
		if replay {
			want = 0
		}
		if len(got) != want || want == 1 && (!strings.Contains(got[0], `\"a\"`) || !strings.Contains(got[0], "why")) {
			t.Errorf("with replay %v a server is reported with %q, want %d notices", replay, got, want)
		}
	}
}

// TestMapper_diff checks which changes of a call are shown, and where.
func TestMapper_diff(t *testing.T) {
	hunk := event.Hunk{NewStart: 7, Lines: []string{" a", "-b", "+c", "", `\ No newline at end of file`}}
	first := event.Hunk{NewStart: 0, Lines: []string{"-b"}}
	for _, tt := range []struct {
		name  string
		files []event.FileChange
		want  string
	}{
		{"none", nil, ""},
		{"a change", []event.FileChange{{Path: "/f", Hunks: []event.Hunk{hunk}}}, `"content":[{"type":"diff","path":"/f","oldText":"a\nb","newText":"a\nc"}],"locations":[{"path":"/f","line":7}]`},
		{"all lines removed", []event.FileChange{{Path: "/f", Hunks: []event.Hunk{first}}}, `"content":[{"type":"diff","path":"/f","oldText":"b","newText":""}],"locations":[{"path":"/f","line":1}]`},
		{"a new file", []event.FileChange{{Path: "/f", Kind: event.ChangeAdd, Hunks: []event.Hunk{hunk}}}, ""},
		{"a change and a new file", []event.FileChange{{Path: "/g", Hunks: []event.Hunk{hunk}}, {Path: "/f", Kind: event.ChangeAdd, Hunks: []event.Hunk{hunk}}}, ""},
	} {
		m := &Mapper{}
		mapAll(t, m, &event.ToolStart{ToolUseID: "1", Name: "Edit"})
		got := strings.Join(mapAll(t, m, &event.TurnDiff{ToolUseID: "1", Files: tt.files}), "|")
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: the update is %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestMapper_asides checks that texts of subagents wait for the end of a message, each once, up to a limit.
func TestMapper_asides(t *testing.T) {
	m := &Mapper{}
	aside := func(i int) event.Event {
		return &event.AssistantMessage{Header: event.Header{UUID: fmt.Sprint("u", i), MessageID: fmt.Sprint("m", i), ParentToolUseID: "t"}, Blocks: []event.IndexedBlock{{Block: event.TextContent(fmt.Sprint("aside ", i, "."))}}}
	}
	mapAll(t, m, say("m", "", "main"))
	for i := range maxAsides {
		if got := mapAll(t, m, aside(i)); got != nil {
			t.Fatalf("text %d is shown in the middle of a message: %q", i, got)
		}
	}
	if got := mapAll(t, m, aside(maxAsides)); len(got) != 1 {
		t.Errorf("text %d is shown with %q, want at once, because too many wait", maxAsides, got)
	}
	for i, want := range []int{maxAsides, 0} {
		if got := mapAll(t, m, &event.MessageComplete{}); len(got) != want || want > 0 && (!strings.Contains(got[0], "aside 0.") || !strings.Contains(got[want-1], fmt.Sprint("aside ", maxAsides-1, "."))) {
			t.Errorf("end %d of a message shows %d texts, want %d in order", i, len(got), want)
		}
	}
}

// TestMapper_tasks checks which tasks run in the background, and that what is remembered about ended ones is limited.
func TestMapper_tasks(t *testing.T) {
	launched := func(id, name string, n int) []event.Event {
		return []event.Event{
			&event.ToolStart{ToolUseID: fmt.Sprint(id, n), Name: name}, &event.TaskStarted{TaskID: fmt.Sprint("task-", id, n), ToolUseID: fmt.Sprint(id, n), TaskType: map[string]string{"Agent": "local_agent"}[name]},
			&event.ToolComplete{ToolUseID: fmt.Sprint(id, n), Content: `""`, ToolUseResult: event.JSON(fmt.Sprintf(`{"backgroundTaskId":"task-%s%d"}`, id, n))},
		}
	}
	m := &Mapper{}
	mapAll(t, m, &event.ToolStart{ToolUseID: "f", Name: "Bash"}, &event.TaskStarted{TaskID: "task-f", ToolUseID: "f"})
	if n, sub := m.Background(); n != 0 || sub {
		t.Errorf("in the foreground %d tasks run, a subagent %v, want none", n, sub)
	}
	for i := range 8 { // the order of a map differs
		mapAll(t, m, launched("b", "Bash", i)...)
	}
	if n, sub := m.Background(); n != 8 || sub {
		t.Errorf("%d tasks run, a subagent %v, want 8 and none", n, sub)
	}
	mapAll(t, m, launched("a", "Agent", 0)...)
	for range 20 {
		if n, sub := m.Background(); n != 9 || !sub {
			t.Fatalf("%d tasks run, a subagent %v, want 9 and one", n, sub)
		}
	}
	m = &Mapper{}
	for i := range maxFinished + 1 {
		id := fmt.Sprint(i)
		mapAll(t, m, &event.ToolStart{ToolUseID: id, Name: "Bash"}, &event.TaskStarted{TaskID: id, ToolUseID: id}, &event.TaskNotification{TaskID: id, Status: "completed"})
	}
	if len(m.finished) != maxFinished {
		t.Errorf("%d ended tasks are remembered, want %d", len(m.finished), maxFinished)
	}
	mapAll(t, m, &event.ToolComplete{ToolUseID: "0", Content: `""`, ToolUseResult: `{"backgroundTaskId":"0"}`})
	if len(m.finished) != maxFinished-1 {
		t.Errorf("after the result of the call %d ended tasks are remembered, want %d", len(m.finished), maxFinished-1)
	}
}

// TestMapper_taskFor checks that only a running subagent has a task to stop.
func TestMapper_taskFor(t *testing.T) {
	m := &Mapper{Features: Features{Subagents: true}}
	mapAll(t, m, &event.ToolStart{ToolUseID: "t", Name: "Agent"}, &event.TaskStarted{TaskID: "child", ToolUseID: "t"})
	if got := m.taskFor("child"); got != "child" {
		t.Errorf("the running subagent has the task %q, want child", got)
	}
	if got := m.taskFor("other"); got != "" {
		t.Errorf("another session has the task %q, want none", got)
	}
	mapAll(t, m, &event.ToolComplete{ToolUseID: "t", Content: `"done"`})
	if got := m.taskFor("child"); got != "" {
		t.Errorf("the subagent that has ended has the task %q, want none", got)
	}
}

// TestOutput checks the limits of the output of a running command, and that its end is cut between two characters.
func TestOutput(t *testing.T) {
	for _, tt := range []struct{ before, piece, want int }{{0, maxOutput, maxOutput}, {0, maxOutput + 1, 0}, {maxOutput - 1, 1, maxOutput}, {maxOutput - 1, 2, maxOutput - 1}, {5, 0, 5}} {
		o := output{text: strings.Repeat("x", tt.before)}
		o.add(strings.Repeat("y", tt.piece))
		if len(o.text) != tt.want {
			t.Errorf("%d bytes and %d more are %d bytes, want %d", tt.before, tt.piece, len(o.text), tt.want)
		}
	}
	for _, letter := range []string{"a", "é", "界", "\U0001f600"} {
		for shift := range len(letter) {
			o := output{text: strings.Repeat(letter, maxTail+1) + strings.Repeat("z", shift)}
			tail := o.tail()
			if !utf8.ValidString(tail) || !strings.HasPrefix(tail, "…\n"+letter) || len(tail) > maxTail+len("…\n") || len(tail) < maxTail-len(letter) {
				t.Errorf("the end of a long text of %s is %.20q… of %d bytes, want whole characters and at most %d bytes", letter, tail, len(tail), maxTail)
			}
		}
	}
	if o := (output{text: strings.Repeat("a", maxTail)}); o.tail() != o.text {
		t.Errorf("a text of %d bytes is cut", maxTail)
	}
}

// TestLabel checks that only the first character of a label changes.
func TestLabel(t *testing.T) {
	for label, want := range map[string]string{"Allow ls": "Yes, and allow ls", "Ändern": "Yes, and ändern", "允许": "Yes, and 允许", "": "Yes, and don't ask again"} {
		if got := labelOf(label); got != want {
			t.Errorf("the label %q becomes %q, want %q", label, got, want)
		}
	}
	for text, want := range map[string]string{"high": "High", "österreich": "Österreich", "高": "高"} {
		if got := upperFirst(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func labelOf(text string) string { return label(&event.Suggestion{Label: text}) }

// TestPermission_shown checks what the client shows with a request for permission.
func TestPermission_shown(t *testing.T) {
	start := func(name, input string) *event.ToolStart {
		return &event.ToolStart{ToolUseID: "t", Name: name, Block: event.JSON(`{"type":"tool_use","id":"t","name":"` + name + `","input":` + input + `}`)}
	}
	for _, tt := range []struct {
		name         string
		before       event.Event
		ev           event.PermissionRequest
		want, absent []string
	}{
		{"a known call", start("Read", `{"file_path":"/d/a"}`), event.PermissionRequest{RequestID: "q", ToolUseID: "t", ToolName: "Read"}, []string{`"toolCallId":"t"`, `"path":"/d/a"`}, nil},
		{"no call", nil, event.PermissionRequest{RequestID: "q", ToolName: "Net"}, []string{`"toolCallId":"q"`, `"title":"Net"`}, nil},
		{"a blocked file", nil, event.PermissionRequest{RequestID: "q", ToolUseID: "t", BlockedPath: "/blocked"}, []string{`"path":"/blocked"`}, nil},
		{"a blocked file of a call with files", start("Read", `{"file_path":"/d/a"}`), event.PermissionRequest{RequestID: "q", ToolUseID: "t", BlockedPath: "/blocked"}, []string{`"path":"/d/a"`}, []string{"/blocked"}},
		{"a plan", nil, event.PermissionRequest{RequestID: "q", ToolUseID: "t", Kind: event.PermissionPlan, Input: `{"plan":"the plan"}`}, []string{"the plan"}, nil},
		{"content", nil, event.PermissionRequest{RequestID: "q", ToolUseID: "t", Content: `[{"type":"text","text":"given"}]`}, []string{"given"}, nil},
		{"content and the request", nil, event.PermissionRequest{RequestID: "q", ToolUseID: "t", Content: `[{"type":"text","text":"given"}]`, Request: `{"secret":1}`}, []string{"given", "secret"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, s, a := stage(t, `{}`)
				got := ""
				p.asked = func(_ context.Context, m *jsonrpc.Message) (any, error) {
					got = m.Params
					return selected(optionAllow), nil
				}
				if tt.before != nil {
					a.events <- tt.before
				}
				a.events <- &tt.ev
				synctest.Wait()
				for _, text := range tt.want {
					if !strings.Contains(got, text) {
						t.Errorf("the client is shown %s, want %s", got, text)
					}
				}
				for _, text := range tt.absent {
					if strings.Contains(got, text) {
						t.Errorf("the client is shown %s, without %s", got, text)
					}
				}
				s.close()
			})
		})
	}
}

// TestClientFiles_agreed checks which text counts as common to the buffer and the disk after a tool has written a file.
func TestClientFiles_agreed(t *testing.T) {
	for _, tt := range []struct{ name, buffer, disk, agreed string }{
		{"not touched", "saved", "of the tool", "of the tool"}, {"typed just the same", "of the tool", "of the tool", "of the tool"},
		{"typed", "typed", "of the tool", "saved"}, {"not text", "saved", "\xff\xfe", "saved"},
	} {
		p := newPeer(t)
		path := filepath.Join(t.TempDir(), "a.txt")
		if err := os.WriteFile(path, []byte(tt.disk), 0o600); err != nil {
			t.Fatal(err)
		}
		p.buffers[path] = tt.buffer
		f := &clientFiles{srv: p.srv, since: time.Now(), session: "s", agreed: map[string]textHash{path: hashOf("saved")}, inStep: map[string]textHash{path: hashOf("saved")}}
		f.After(t.Context(), path)
		if f.agreed[path] != hashOf(tt.agreed) || len(f.inStep) > 0 {
			t.Errorf("%s: the common text is not %q, or the step is kept: %d", tt.name, tt.agreed, len(f.inStep))
		}
		if got, want := p.buffers[path], tt.agreed; tt.agreed != "saved" && got != want || tt.agreed == "saved" && got != tt.buffer {
			t.Errorf("%s: the buffer is %q, want %q", tt.name, got, want)
		}
	}
}

// TestClientFiles_needs checks that a client's buffers are used only if the operator and both methods allow it.
func TestClientFiles_needs(t *testing.T) {
	for _, on := range []bool{false, true} {
		for caps, want := range map[string]bool{`{}`: false, `{"fs":{"readTextFile":true}}`: false, `{"fs":{"writeTextFile":true}}`: false, `{"fs":{"readTextFile":true,"writeTextFile":true}}`: true} {
			p := newPeer(t)
			p.srv.opts.ClientFiles = on
			if err := json.Unmarshal([]byte(caps), p.srv.client); err != nil {
				t.Fatal(err)
			}
			if got := p.srv.clientFiles() != nil; got != (on && want) {
				t.Errorf("with %s and the option %v buffers are used: %v, want %v", caps, on, got, on && want)
			}
		}
	}
}

// TestPromptInput checks each kind of block of a prompt: its form, and that embedded texts come last.
func TestPromptInput(t *testing.T) {
	text := func(s string) string { return `{"text":` + string(event.Quote(s)) + `,"type":"text"}` }
	for _, tt := range []struct {
		name, blocks string
		want         []string
		fails        bool
	}{
		{"nothing", `[]`, []string{text(noContent)}, false},
		{"empty text", `[{"type":"text","text":""}]`, []string{text(noContent)}, false},
		{"image", `[{"type":"image","data":"x","mimeType":"image/png"}]`, []string{`{"source":{"data":"x","media_type":"image/png","type":"base64"},"type":"image"}`}, false},
		{"image of the web", `[{"type":"image","data":"","mimeType":"image/png","uri":"https://i"}]`, []string{`{"source":{"type":"url","url":"https://i"},"type":"image"}`}, false},
		{"image with data of the web", `[{"type":"image","data":"x","mimeType":"image/png","uri":"http://i"}]`, []string{`{"source":{"data":"x","media_type":"image/png","type":"base64"},"type":"image"}`}, false},
		{"image of a file", `[{"type":"image","data":"","mimeType":"image/png","uri":"file:///i"}]`, []string{`{"source":{"data":"","media_type":"image/png","type":"base64"},"type":"image"}`}, false},
		{"audio", `[{"type":"audio","data":"x","mimeType":"audio/wav"}]`, nil, true},
		{"links", `[{"type":"resource_link","uri":"file:///d/a.go","name":"a"},{"type":"resource_link","uri":"https://w","name":"W"},{"type":"resource_link","uri":"https://w","name":"https://w"}]`, []string{text("[@a](file:///d/a.go)"), text("[W](https://w)"), text("https://w")}, false},
		{"embedded", `[{"type":"resource","resource":{"uri":"file:///d/a.go","text":"inside"}},{"type":"text","text":"after"}]`, []string{text("[@a.go](file:///d/a.go)"), text("after"), text("\n<context ref=\"file:///d/a.go\">\ninside\n</context>")}, false},
		{"embedded image", `[{"type":"resource","resource":{"uri":"u","blob":"x","mimeType":"image/gif"}}]`, []string{`{"source":{"data":"x","media_type":"image/gif","type":"base64"},"type":"image"}`}, false},
		{"embedded document", `[{"type":"resource","resource":{"uri":"u","blob":"x","mimeType":"application/pdf"}}]`, []string{`{"source":{"data":"x","media_type":"application/pdf","type":"base64"},"type":"document"}`}, false},
		{"embedded other", `[{"type":"resource","resource":{"uri":"u","blob":"x","mimeType":"application/zip"}}]`, nil, true},
	} {
		var blocks []acp.ContentBlock
		if err := json.Unmarshal([]byte(tt.blocks), &blocks); err != nil {
			t.Fatal(err)
		}
		list, err := promptInput(blocks)
		var got []string
		for _, raw := range list {
			got = append(got, string(raw))
		}
		if !slices.Equal(got, tt.want) || (err != nil) != tt.fails {
			t.Errorf("%s: the input is %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

// TestFormAnswers checks where each answer of a form goes.
func TestFormAnswers(t *testing.T) {
	one, many := event.Question{Question: "One?"}, event.Question{ID: "id", Question: "Many?", MultiSelect: true}
	for _, tt := range []struct {
		name, content, answers, notes string
	}{
		{"nothing", `{}`, `{}`, "map[]"}, {"no form", `7`, `{}`, "map[]"},
		{"chosen", `{"question_0":"A","question_1":["B","C"]}`, `{"One?":"A","id":"B, C"}`, "map[]"},
		{"typed", `{"question_0_custom":" x ","question_1_custom":"y"}`, `{"One?":"x","id":"y"}`, "map[]"},
		{"chosen and typed", `{"question_0":"A","question_0_custom":"x","question_1":["B"],"question_1_custom":"y"}`, `{"One?":"A","id":"B, y"}`, "map[One?:x]"},
		{"empty", `{"question_0":"","question_1":[],"question_0_custom":" "}`, `{}`, "map[]"},
	} {
		answers, notes := formAnswers([]event.Question{one, many}, json.RawMessage(tt.content))
		if string(answers) != tt.answers || fmt.Sprint(notes) != tt.notes {
			t.Errorf("%s: the answers are %s with the notes %v, want %s and %s", tt.name, answers, notes, tt.answers, tt.notes)
		}
	}
}
