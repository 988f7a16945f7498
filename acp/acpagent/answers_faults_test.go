package acpagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/acp/acptest"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// badAnswers are invalid or failed answers to a request that opens a session or sends a prompt, as the rest of a line, each with the
// text that a person must get. An answer without a text is valid for requests without a result.
var badAnswers = []struct{ answer, words string }{
	{`"error":{"code":-32603,"message":"Internal error","data":{"details":"the disk is full"}}`, "the disk is full"},
	{`"error":{"code":-32603,"message":"Internal error","data":"as a text"}`, "as a text"},
	{`"error":{"code":401,"message":"{\"error\":{\"message\":\"the key is bad\"}}"}`, "the key is bad"},
	{`"error":{"code":-32000,"message":"Authentication required","data":null}`, "Authentication required"},
	{`"error":{"code":-32002,"message":"it is gone"}`, "it is gone"},
	{`"error":{"code":-32601,"message":"Method not found"}`, "Method not found"},
	{`"error":{"code":-32602,"message":"wrong parameters","data":[1]}`, "wrong parameters"},
	{`"error":{"code":"E_FAIL","message":"the code is a text"}`, "the code is a text"},
	{`"error":{"message":"there is no code"}`, "there is no code"},
	{`"error":"the error is a text"`, "the error is a text"},
	{`"error":{}`, "{}"},
	{`"error":{"code":-32603,"message":"both"},"result":{"stopReason":"end_turn"}`, "both"},
	{`"result":[]`, "invalid"}, {`"result":"text"`, "invalid"}, {`"result":7`, "invalid"},
	{`"result":{"stopReason":7,"sessionId":7}`, "invalid"},
	{`"result":null`, ""}, {`"result":{}`, ""}, {`"error":null`, ""}, {`"future":1`, ""},
}

// TestRecordings_badAnswers replaces an answer of each recorded agent by an error: the start fails or the turn ends, with the
// agent's message.
func TestRecordings_badAnswers(t *testing.T) {
	short.SkipQuick(t, "plays every recording")
	folders, err := filepath.Glob("../../testdata/acp-agents/*/meta.json")
	if err != nil || len(folders) == 0 {
		t.Fatal(err)
	}
	stride := short.Count(29, 7, 1)
	for at, meta := range folders {
		folder := filepath.Dir(meta)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			r, err := acptest.ReadRecording(folder, work)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range r.Agent(1).Exchanges {
				for j, bad := range badAnswers {
					opens := slices.Contains([]string{"session/new", "session/load", "session/resume", "session/fork"}, x.Method)
					if (at+i+j)%stride != 0 || !opens && x.Method != "session/prompt" || !x.Answered() {
						continue
					}
					a := r.Agent(1)
					a.Exchanges = append(a.Exchanges[:i:i], x.AnsweredWith(bad.answer))
					words := bad.words
					if words == "" && slices.Contains([]string{"session/new", "session/fork", "session/prompt"}, x.Method) {
						words = "invalid"
					}
					t.Run(fmt.Sprint(i, x.Method, bad.answer), func(t *testing.T) { answeredBadly(t, a, work, x.Method, words) })
				}
			}
		})
	}
}

// answeredBadly repeats the actions of the recorded client up to the replaced answer, which is the agent's
// last line.
func answeredBadly(t *testing.T, a *acptest.Agent, work, method, words string) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	waiting := make(chan string, 100)
	a.Waiting = func(method string) { waiting <- method }
	s, err := openBad(ctx, a, work, method)
	if method != "session/prompt" {
		if ctx.Err() != nil {
			t.Fatal("the start hangs")
		}
		if (words != "") != (err != nil) || !strings.Contains(fmt.Sprint(err), words) {
			t.Errorf("%s: %v, want %q", method, err, words)
		}
		if s != nil && s.Close() != nil {
			t.Error("the session cannot be closed")
		}
		return
	}
	if err != nil {
		return // the recorded client could not open a session either
	}
	defer interruptCut(ctx, s, waiting)()
	prompts := 0
	for _, x := range a.Exchanges {
		if x.Method == method {
			prompts++
		}
	}
	for i := range prompts {
		if err := s.Send(ctx, agent.Input{UUID: fmt.Sprint("u", i), Text: "go"}); err != nil {
			t.Fatal(err)
		}
	}
	results, last := endsOf(ctx, t, s, prompts)
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if results != prompts || last.IsError != (words != "") || !strings.Contains(last.Result, words) {
		t.Errorf("%d of %d turns ended, the last with %+v, want the words %q", results, prompts, last, words)
	}
}

// endsOf answers the requests of an agent until its turns have ended. It returns the number of
// turns and the last result.
func endsOf(ctx context.Context, t *testing.T, s agent.Session, prompts int) (results int, last *event.ResultMessage) {
	t.Helper()
	for ev, err := range s.Events(ctx) {
		if err != nil {
			if !errors.Is(err, agent.ErrClosed) {
				t.Error(err)
			}
			break
		}
		switch ev := ev.(type) {
		case *event.PermissionRequest:
			if len(ev.Choices) > 0 {
				_ = s.Answer(ctx, ev.RequestID, &agent.PermissionAnswer{Allow: ev.Choices[0].Behavior == event.ResolvedAllow, Choice: ev.Choices[0].ID}) // repeated when more details are known
			}
		case *event.ResultMessage:
			last = ev
			if results++; results == prompts {
				_ = s.Close() // the test reads the remaining events
			}
		}
	}
	return results, last
}

// openBad opens a session with the given method, or for a prompt with the agent's first method.
func openBad(ctx context.Context, a *acptest.Agent, work, method string) (agent.Session, error) {
	p := &acpagent.Provider{As: "recorded", Local: true, Dial: func(context.Context, agent.Options) (io.ReadCloser, io.WriteCloser, error) {
		r, w := a.Dial()
		return r, w, nil
	}}
	if method == "session/prompt" {
		return openCut(ctx, a, work)
	}
	id := "none"
	for _, x := range a.Exchanges {
		if x.Method == method && x.Match["sessionId"] != "" {
			_ = json.Unmarshal([]byte(x.Match["sessionId"]), &id) // the id of the last session
		}
	}
	opts := agent.Options{Dir: work, ModeUnchosen: true, Fork: method == "session/fork"}
	switch method {
	case "session/new":
		return p.Open(ctx, opts)
	case "session/load":
		_, err := p.Replay(ctx, id, opts)
		return nil, err
	}
	return p.Resume(ctx, id, opts)
}
