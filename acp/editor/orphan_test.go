package editor_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
)

// forgetful is a provider of agents that die when they receive a prompt, before they store it.
// After the given number of deaths they work normally.
type forgetful struct {
	*agenttest.Provider
	deaths atomic.Int32
}

func (f *forgetful) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	s, err := f.Provider.Open(ctx, opts)
	return &forgetfulSession{s, f}, err
}

func (f *forgetful) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	s, err := f.Provider.Resume(ctx, id, opts)
	if err != nil {
		return nil, err
	}
	return &forgetfulSession{s, f}, nil
}

type forgetfulSession struct {
	agent.Session
	of *forgetful
}

func (s *forgetfulSession) Send(ctx context.Context, in agent.Input) error {
	if s.of.deaths.Add(-1) < 0 {
		return s.Session.Send(ctx, in)
	}
	s.of.Session(s.ID()).Kill()
	return nil
}

// unwritten is a provider of agents that store no prompts.
type unwritten struct{ *agenttest.Provider }

func (unwritten) Delivered(context.Context, string, string) (agent.Delivery, error) {
	return agent.DeliveryUnknown, nil
}

// TestPromptIsNotLost kills the agent after it has received the prompt and before it stores it. The
// prompt is sent again, once; if it is lost again, the error reports that.
func TestPromptIsNotLost(t *testing.T) {
	t.Run("nothing came of it", func(t *testing.T) {
		p := &forgetful{Provider: &agenttest.Provider{Dir: t.TempDir()}}
		e := dial(t, p, editor.Options{})
		p.deaths.Store(1)
		if got := e.prompt("say hello")(); got != "end_turn" {
			t.Errorf("the prompt ended with %s", got)
		}
		e.awaitText("hello")
		if n := p.Opened(); n != 2 {
			t.Errorf("%d agents were started, want 2", n)
		}
		p.deaths.Store(2)
		if got := e.prompt("say hello")(); !strings.HasPrefix(got, "error ") || !strings.Contains(got, "send it again") {
			t.Errorf("a prompt that two agents died of ended with %s", got)
		}
		if got := e.prompt("say again")(); got != "end_turn" {
			t.Errorf("the prompt after that ended with %s", got)
		}
	})
	t.Run("something was said", func(t *testing.T) {
		p := unwritten{&agenttest.Provider{Dir: t.TempDir()}}
		e := dial(t, p, editor.Options{})
		if got := e.prompt("cut 3")(); !strings.HasPrefix(got, "error ") || !strings.Contains(got, "send it again") {
			t.Errorf("the prompt ended with %s", got)
		}
		if n := p.Opened(); n != 1 {
			t.Errorf("%d agents were started: the prompt was sent again", n)
		}
	})
	t.Run("it was written down", func(t *testing.T) {
		p := &agenttest.Provider{Dir: t.TempDir()}
		e := dial(t, p, editor.Options{})
		if got := e.prompt("die")(); !strings.HasPrefix(got, "error ") || !strings.Contains(got, "next prompt continues") {
			t.Errorf("the prompt ended with %s", got)
		}
	})
}

// TestKilledAtOnce kills the real CLI right after a prompt was sent, when the CLI may or may not
// have stored it. The response to the client must match the content of the session.
func TestKilledAtOnce(t *testing.T) {
	t.Parallel()
	begin(t)
	text := `{"protocol":1,"settle_ms":0,
"api":{"replies":[{"blocks":[{"text":"First."}]},{"blocks":[{"text":"Second."}]},{"blocks":[{"text":"Third."}]},{"blocks":[{"text":"Third."}]}]},
"steps":[
{"do":"request","as":"i","method":"initialize","params":{"protocolVersion":1}},
{"do":"request","as":"s","method":"session/new","params":{"cwd":"${cwd}","mcpServers":[]}},
{"do":"request","as":"p1","method":"session/prompt","params":{"sessionId":"${s.sessionId}","prompt":[{"type":"text","text":"One"}]}},
{"do":"start","as":"p2","method":"session/prompt","params":{"sessionId":"${s.sessionId}","prompt":[{"type":"text","text":"Two"}]}},
{"do":"killcli"},
{"do":"await","as":"p2"},
{"do":"restart"},
{"do":"request","as":"i2","method":"initialize","params":{"protocolVersion":1}},
{"do":"request","as":"l","method":"session/load","params":{"sessionId":"${s.sessionId}","cwd":"${cwd}","mcpServers":[]}}]}`
	var script recordedScript
	if err := json.Unmarshal([]byte(text), &script); err != nil {
		t.Fatal(err)
	}
	result, err := runner(t).Run(t.Context(), "killed_at_once", script)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr(result))
	}
	checkLines(t, result.Timeline)
	view := Fold(result.Timeline, Clean(result.Dir))
	var second Outcome
	prompts := 0
	for _, o := range view.Outcomes {
		if o.Method == "session/prompt" {
			if prompts++; prompts == 2 {
				second = o
			}
		}
	}
	loaded := 0
	for _, i := range view.Sessions[len(view.Sessions)-1].Items {
		if i.Type == "user" && i.Text == "Two" {
			loaded++
		}
	}
	want := map[string]int{"end_turn": 1, "agent_exited": 1, "prompt_lost": 0}
	told := second.End
	if strings.HasPrefix(told, "error ") {
		told = second.Kind
	}
	if n, ok := want[told]; !ok || n != loaded {
		t.Errorf("the client was told %+v, and the session has the prompt %d times:\n%s", second, loaded, view)
	}
	t.Logf("the client was told %s", told)
}
