package claude_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// TestControlCalls compares every typed request with the expected line, and its
// result with a plain decoding of the answer.
func TestControlCalls(t *testing.T) {
	for _, call := range slices.Concat(controlCalls...) {
		t.Run(call.name, func(t *testing.T) {
			got, request, err := call.run(t, success(call.answer))
			if err != nil || request != call.request {
				t.Fatalf("%v\nwrote %s\nwant  %s", err, request, call.request)
			}
			call.check(t, 0, got, call.answer)
		})
	}
}

// run makes the call; response is the CLI's response without its request id.
func (call controlCall) run(t *testing.T, response string) (got any, request string, err error) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(line string) {
			if cli.answerInitialize(line) {
				return
			}
			var in struct {
				RequestID string          `json:"request_id"`
				Request   json.RawMessage `json:"request"`
			}
			if err := json.Unmarshal([]byte(line), &in); err != nil {
				t.Error(err)
			}
			request = string(in.Request)
			cli.say(`{"type":"control_response","response":{"request_id":"` + in.RequestID + `",` + response[1:] + `}`)
		}
		client := cli.connect(cli.options())
		defer client.Close()
		got, err = call.call(t.Context(), client)
	})
	return got, request, err
}

func success(body string) string {
	if body == "" {
		return `{"subtype":"success"}`
	}
	return `{"subtype":"success","response":` + body + `}`
}

// check compares the result of a call with the answer.
func (call controlCall) check(t *testing.T, line int, got any, body string) {
	if call.want != nil {
		if body == call.answer && got != call.want {
			t.Errorf("got %v, want %v", got, call.want)
		}
		return
	}
	if got == nil || body == "" {
		return
	}
	var plain map[string]any
	if err := json.Unmarshal([]byte(body), &plain); err != nil {
		t.Fatal(err)
	}
	c := comparer{t: t, line: line}
	if call.member == "" {
		c.object(call.name, reflect.ValueOf(got).Elem(), plain)
		if raw := got.(interface{ Raw() message.JSON }).Raw(); string(raw) != body {
			t.Errorf("Raw is %s", raw)
		}
		return
	}
	want, ok := plain[call.member]
	if !ok || len(plain) != 1 {
		t.Errorf("line %d: %s is not all of %.100s", line, call.member, body)
	}
	c.value(call.name, reflect.ValueOf(got), want)
}

func (call controlCall) subtype() string {
	var r struct {
		Subtype string `json:"subtype"`
	}
	_ = json.Unmarshal([]byte(call.request), &r)
	return r.Subtype
}

// untyped are the subtypes in recordings without a method: the handshake, messages of
// in-process servers, and requests that the CLI does not know.
var untyped = []string{"initialize", "mcp_message", "no_such_subtype", ""}

// TestRecordedAnswers passes every recorded answer to its typed request.
func TestRecordedAnswers(t *testing.T) {
	bySubtype := map[string]controlCall{}
	for _, call := range slices.Concat(controlCalls...) {
		if _, ok := bySubtype[call.subtype()]; !ok {
			bySubtype[call.subtype()] = call
		}
	}
	for _, name := range scenarios(t) {
		t.Run(name, func(t *testing.T) {
			requests := recordedRequests(t, name)
			for i, line := range stdoutLines(t, name) {
				subtype, ok := requests[answered(line)]
				if !ok || slices.Contains(untyped, subtype) {
					continue
				}
				call, ok := bySubtype[subtype]
				if !ok {
					t.Errorf("line %d: no method for %s", i+1, subtype)
					continue
				}
				call.replay(t, i+1, line)
			}
		})
	}
}

// answered returns the id of the request that a line answers.
func answered(line string) string {
	var m struct {
		Type     string `json:"type"`
		Response struct {
			RequestID string `json:"request_id"`
		} `json:"response"`
	}
	if json.Unmarshal([]byte(line), &m) != nil || m.Type != "control_response" {
		return ""
	}
	return m.Response.RequestID
}

func (call controlCall) replay(t *testing.T, n int, line string) {
	var m struct {
		Response map[string]json.RawMessage `json:"response"`
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatal(err)
	}
	text, failed := m.Response["error"]
	response := success(string(m.Response["response"]))
	if failed {
		response = `{"subtype":"error","error":` + string(text) + `}`
	}
	got, _, err := call.run(t, response)
	if failed {
		refused, ok := errors.AsType[*claude.ControlError](err)
		if want, _ := message.JSON(text).Value().(string); !ok || refused.Message != want || refused.Subtype != call.subtype() {
			t.Errorf("line %d: got %v, want %s", n, err, want)
		}
		return
	}
	if err != nil {
		t.Errorf("line %d: %v", n, err)
		return
	}
	call.check(t, n, got, string(m.Response["response"]))
}

// recordedRequests returns the subtypes of the requests of a scenario by their id.
func recordedRequests(t *testing.T, scenario string) map[string]string {
	requests := map[string]string{}
	dir := filepath.Join(corpus(t), scenario)
	spawned, err := filepath.Glob(filepath.Join(dir, "spawn*", "stdin.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(spawned, filepath.Join(dir, "stdin.jsonl")) {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // no process was started
		}
		for line := range strings.Lines(string(data)) {
			var l wireLine
			if json.Unmarshal([]byte(line), &l) == nil && l.Type == "control_request" && l.RequestID != "" {
				requests[l.RequestID] = l.Request.Subtype
			}
		}
	}
	return requests
}

func TestControlCallUnsupported(t *testing.T) {
	for _, call := range slices.Concat(controlCalls...) {
		_, _, err := call.run(t, `{"subtype":"error","error":"Unsupported control request subtype: x","error_code":"unsupported_request"}`)
		if refused, ok := errors.AsType[*claude.ControlError](err); !errors.Is(err, claude.ErrUnsupported) || !ok || refused.Subtype != call.subtype() {
			t.Errorf("%s: %v; want errors.Is(err, claude.ErrUnsupported) and ok and refused.Subtype == call.subtype()", call.name, err)
		}
	}
}

func TestReloadPluginsBusy(t *testing.T) {
	for _, call := range listCalls {
		if call.subtype() != "reload_plugins" {
			continue
		}
		_, _, err := call.run(t, `{"subtype":"error","error":"busy","error_code":"reload_plugins_busy"}`)
		if refused, ok := errors.AsType[*claude.ControlError](err); !errors.Is(err, claude.ErrSessionBusy) || !ok || refused.Message != "busy" {
			t.Error(err)
		}
	}
}

// TestAnswerOfOtherTypes: members of an unexpected type are only in Raw and do not
// affect other members.
func TestAnswerOfOtherTypes(t *testing.T) {
	call := controlCall{call: asks((*claude.Client).FetchBinaryVersion)}
	got, _, err := call.run(t, success(`{"version":7,"buildTime":"now","new":true}`))
	if v, ok := got.(*claude.BinaryVersion); err != nil || !ok || v.Version != "" || v.BuildTime != "now" || !strings.Contains(string(v.Raw()), `"new"`) {
		t.Errorf("got is %v, err is %v; want err == nil and ok and v.Version == \"\" and v.BuildTime == \"now\" and strings.Contains(string(v.Raw()), `\"new\"`)", got, err)
	}
	call = controlCall{call: asks((*claude.Client).FetchSessionCost)}
	for _, body := range []string{`[]`, `"x"`, `null`, `{}`, `{"text":{}}`} {
		if got, _, err := call.run(t, success(body)); err != nil || got != "" {
			t.Errorf("%s: %v %v; want err == nil and got == \"\"", body, got, err)
		}
	}
}

func TestFileContentsBytes(t *testing.T) {
	for want, f := range map[string]claude.FileContents{
		"ab":       {Contents: "ab"},
		"\xff\x00": {Contents: "/wA=", Encoding: "base64"},
	} {
		if got, err := f.Bytes(); err != nil || string(got) != want {
			t.Errorf("%q, %v; want err == nil and string(got) == want", got, err)
		}
	}
	broken := claude.FileContents{Contents: "?", Encoding: "base64"}
	if _, err := broken.Bytes(); err == nil {
		t.Error("no error for what is no base64")
	}
}

func TestMCPCallResultText(t *testing.T) {
	for content, want := range map[message.JSON]string{
		`"text"`: "text",
		`[{"type":"text","text":"a"},7,{"type":"image","data":"x"},{"type":"text","text":"b"}]`: "ab",
		`{}`: "", ``: "",
	} {
		if got := (&claude.MCPCallResult{Content: content}).Text(); got != want {
			t.Errorf("%s: %q; want got == want", content, got)
		}
	}
}
