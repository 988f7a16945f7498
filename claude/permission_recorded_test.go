package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/tape"
)

// TestRecordedPermissions replays the CLI's recorded requests with the recorded
// results of the callbacks, and compares the answers with those of the official SDK. Two
// differences are allowed: an Allow always includes the input, which older CLIs require,
// and results that the types of this package cannot express are skipped.
func TestRecordedPermissions(t *testing.T) {
	compared := map[string]int{}
	for _, name := range scenarios(t) {
		rec, err := readRecording(filepath.Join(corpus(t), name), nil)
		if err != nil {
			t.Fatal(err)
		}
		if rec.Caller == nil {
			continue
		}
		for _, call := range rec.Caller.Calls {
			for _, a := range call.Answers {
				if call.Spawn == nil || a.CancelledByLine > 0 || !slices.Contains([]string{"can_use_tool", "elicitation"}, a.Subtype) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					compared[a.Subtype]++
					compareRecordedAnswer(t, rec.Processes[*call.Spawn], a, call.Options["onElicitation"] != nil)
				})
			}
		}
	}
	if compared["can_use_tool"] == 0 || compared["elicitation"] == 0 {
		t.Errorf("compared %v", compared)
	}
}

func compareRecordedAnswer(t *testing.T, p *tape.Process, a recordedAnswer, elicits bool) {
	var asked struct {
		RequestID string       `json:"request_id"`
		Request   message.JSON `json:"request"`
	}
	if err := json.Unmarshal([]byte(p.Stdout[a.Line-1]), &asked); err != nil {
		t.Fatal(err)
	}
	opts := recordedCallbacks(t, a, elicits)
	if opts == nil {
		t.Log("no type of this package says such a thing")
		return
	}
	withOptions(t, opts, func(t *testing.T, cli *memCLI, _ *claude.Client) {
		cli.say(p.Stdout[a.Line-1])
		got := cli.answered(asked.RequestID)
		if a.AnswerLine == 0 {
			if got != "" {
				t.Errorf("answered %s, the official SDK did not", got)
			}
			return
		}
		var official struct {
			Response struct {
				Response map[string]any `json:"response"`
				Error    string         `json:"error"`
			} `json:"response"`
		}
		if err := json.Unmarshal([]byte(p.Stdin[a.AnswerLine-1]), &official); err != nil {
			t.Fatal(err)
		}
		want := official.Response
		if want.Error != "" {
			if got != "error: "+want.Error {
				t.Errorf("got %s, want the error %s", got, want.Error)
			}
			return
		}
		if _, has := want.Response["updatedInput"]; !has && want.Response["behavior"] == "allow" {
			want.Response["updatedInput"] = input(t, asked.Request)
		}
		if diff := cmp.Diff(any(want.Response), message.JSON(got).Value()); diff != "" {
			t.Errorf("answer (-official +ours):\n%s", diff)
		}
	})
}

// input returns the tool input of a request.
func input(t *testing.T, request message.JSON) any {
	t.Helper()
	var fields struct {
		Input message.JSON `json:"input"`
	}
	if err := request.Decode(&fields); err != nil {
		t.Fatal(err)
	}
	return fields.Input.Value()
}

// recordedCallbacks returns callbacks that repeat the recorded results, or nil if they
// cannot.
func recordedCallbacks(t *testing.T, a recordedAnswer, elicits bool) *claude.Options {
	t.Helper()
	failure := error(nil)
	switch {
	case a.Throw != nil:
		failure = errors.New(*a.Throw)
	case a.Return == nil || string(a.Return) == "null":
		failure = claude.ErrAnswerLater
	}
	if a.Subtype == "elicitation" {
		if !elicits {
			return &claude.Options{}
		}
		result := &claude.ElicitationResult{}
		if failure == nil {
			if err := json.Unmarshal(a.Return, result); err != nil {
				t.Fatal(err)
			}
		}
		return &claude.Options{OnElicitation: func(context.Context, *claude.ElicitationRequest) (*claude.ElicitationResult, error) {
			return result, failure
		}}
	}
	result := claude.PermissionResult(nil)
	if failure == nil {
		if result = recordedResult(t, a.Return); result == nil {
			return nil
		}
	}
	return allowing(result, failure)
}

// recordedResult converts a recorded result to a type of this package; nil stays nil.
func recordedResult(t *testing.T, text json.RawMessage) claude.PermissionResult {
	t.Helper()
	var r struct {
		Behavior               string
		Message                string
		Interrupt              bool
		UpdatedInput           message.JSON
		UpdatedPermissions     []message.PermissionUpdate
		DecisionClassification claude.DecisionClassification
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	switch r.Behavior {
	case "allow":
		return &claude.Allow{UpdatedInput: r.UpdatedInput, UpdatedPermissions: r.UpdatedPermissions, Classification: r.DecisionClassification}
	case "deny":
		return &claude.Deny{Message: r.Message, Interrupt: r.Interrupt, Classification: r.DecisionClassification}
	}
	return nil
}
