package acpagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

func TestMain(m *testing.M) { e2e.VerifyMain(m) }

// serve connects a provider of this package to an agent that package editor serves in this process.
func serve(t *testing.T, inner agent.Provider) *acpagent.Provider {
	t.Helper()
	return &acpagent.Provider{As: "test", Dial: func(context.Context, agent.Options) (io.ReadCloser, io.WriteCloser, error) {
		fromClient, toAgent := io.Pipe()
		fromAgent, toClient := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			// The error reports that the client has disconnected.
			_ = editor.Serve(context.Background(), fromClient, toClient, editor.Options{Provider: inner, Name: "test", Version: "1"})
			toClient.Close()
		}()
		t.Cleanup(func() {
			toAgent.Close()
			<-done
		})
		return &served{PipeReader: fromAgent, gone: done}, toAgent, nil
	}}
}

// served is the output of an agent in this process. Its Close waits for the agent, as for a process, because the session
// can be resumed only after that.
type served struct {
	*io.PipeReader
	gone <-chan struct{}
}

func (s *served) Close() error {
	err := s.PipeReader.Close()
	<-s.gone
	return err
}

// TestSuite runs the acceptance suite for providers over the protocol, with the scripted agent
// served by editor.Serve.
func TestSuite(t *testing.T) {
	agenttest.Run(t, func(t *testing.T) agenttest.Subject {
		p := serve(t, &agenttest.Provider{Dir: t.TempDir()})
		dial := p.Dial
		var output io.Closer
		p.Dial = func(ctx context.Context, opts agent.Options) (r io.ReadCloser, w io.WriteCloser, err error) {
			r, w, err = dial(ctx, opts)
			output = r
			return r, w, err
		}
		return agenttest.Subject{
			Provider: p, Options: agent.Options{Dir: t.TempDir()}, Kill: func(agent.Session) { output.(*served).PipeReader.Close() },
			Prompts: agenttest.Prompts{Say: "say hello there", Tool: "tool Bash", Plan: "plan", Elicit: "elicit", Wait: "wait"},
		}
	})
}

// TestModes opens sessions of agents that start like the recorded ones. A mode is sent only if
// someone chose it and the agent has it, and the option for modes is used if there are no session
// modes.
func TestModes(t *testing.T) {
	const (
		session = `"sessionId":"s"`
		modes   = session + `,"modes":{"currentModeId":"auto","availableModes":[{"id":"auto","name":"Auto"},{"id":"default","name":"Default"}]}`
		strange = session + `,"modes":{"currentModeId":"default","availableModes":[{"id":"agent","name":"Agent"}]}`
		option  = session + `,"configOptions":[{"id":"m","name":"Mode","category":"mode","type":"select","currentValue":"build","options":[{"value":"build","name":"b"},{"group":"g","name":"G","options":[{"value":"plan","name":"p"}]}]}]`
	)
	tests := []struct {
		name, answer string
		opts         agent.Options
		sent         string // the mode that is sent to the agent, if any
		failed       bool
	}{
		{"nobody chose", modes, agent.Options{Mode: "default", ModeUnchosen: true}, "", false},
		{"chosen", modes, agent.Options{Mode: "default"}, `session/set_mode {"sessionId":"s","modeId":"default"}`, false},
		{"current", modes, agent.Options{Mode: "auto"}, "", false},
		{"no modes", session, agent.Options{Mode: "default"}, "", false},
		{"not among them", session, agent.Options{Mode: "plan"}, "", true},
		{"default that is not listed", strange, agent.Options{Mode: "default", ModeUnchosen: true}, "", false},
		{"option", option, agent.Options{Mode: "default"}, "", false},
		{"option chosen", option, agent.Options{Mode: "plan"}, `session/set_config_option {"sessionId":"s","configId":"m","value":"plan"}`, false},
		{"option without it", option, agent.Options{Mode: "acceptEdits"}, "", true},
	}
	for _, test := range tests {
		sent := ""
		p := &acpagent.Provider{As: "x", Dial: func(context.Context, agent.Options) (io.ReadCloser, io.WriteCloser, error) {
			fromClient, toAgent := io.Pipe()
			fromAgent, toClient := io.Pipe()
			conn := jsonrpc.New(fromClient, toClient, jsonrpc.Options{Handle: func(_ context.Context, m *jsonrpc.Message) (any, error) {
				switch m.Method {
				case "initialize":
					return json.RawMessage(`{"protocolVersion":1}`), nil
				case "session/new":
					return json.RawMessage("{" + test.answer + "}"), nil
				}
				sent = m.Method + " " + m.Params
				return json.RawMessage(`{"configOptions":[]}`), nil
			}})
			go func() {
				<-conn.Done()
				toClient.Close()
			}()
			return fromAgent, toAgent, nil
		}}
		test.opts.Dir = t.TempDir()
		s, err := p.Open(t.Context(), test.opts)
		if (err != nil) != test.failed || sent != test.sent {
			t.Errorf("%s: sent %q, want %q; %v", test.name, sent, test.sent, err)
		}
		if err == nil {
			err = s.Close()
		}
		if err != nil && !test.failed {
			t.Errorf("%s: %v; want not (err != nil && !test.failed)", test.name, err)
		}
	}
}

// TestResume_ways continues and copies sessions of agents with every set of capabilities. It checks that exactly one
// request is sent, the best that the agent supports, with the directory and the servers. If the agent does not support
// or refuses it, the result is an error and the agent ends.
func TestResume_ways(t *testing.T) {
	const common = ` {"sessionId":"old","cwd":"DIR","mcpServers":[{"name":"m","command":"c","args":["x"],"env":[]}]}`
	for _, tt := range []struct {
		name, caps string
		fork       bool
		sent, id   string
		err        error
	}{
		{"resume", `"loadSession":true,"sessionCapabilities":{"resume":{},"fork":{}}`, false, "session/resume" + common, "old", nil},
		{"load", `"loadSession":true`, false, `session/load {"mcpServers":[{"name":"m","command":"c","args":["x"],"env":[]}],"cwd":"DIR","sessionId":"old"}`, "old", nil},
		{"fork", `"loadSession":true,"sessionCapabilities":{"resume":{},"fork":{}}`, true, "session/fork" + common, "new", nil},
		{"no fork", `"loadSession":true,"sessionCapabilities":{"resume":{}}`, true, "", "", agent.ErrUnsupported},
		{"nothing", `"loadSession":false`, false, "", "", agent.ErrUnsupported},
		{"refused", `"sessionCapabilities":{"resume":{}}`, false, "session/resume" + common, "", agent.ErrNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sent := ""
			ended := make(chan struct{})
			p := &acpagent.Provider{As: "x", Dial: func(context.Context, agent.Options) (io.ReadCloser, io.WriteCloser, error) {
				fromClient, toAgent := io.Pipe()
				fromAgent, toClient := io.Pipe()
				conn := jsonrpc.New(fromClient, toClient, jsonrpc.Options{Handle: func(_ context.Context, m *jsonrpc.Message) (any, error) {
					if m.Method == "initialize" {
						return json.RawMessage(`{"protocolVersion":1,"agentCapabilities":{` + tt.caps + `}}`), nil
					}
					sent += m.Method + " " + m.Params
					if tt.err != nil {
						return nil, &jsonrpc.Error{Code: acp.CodeResourceNotFound, Message: "no"}
					}
					return json.RawMessage(`{"sessionId":"new"}`), nil
				}})
				go func() {
					<-conn.Done()
					toClient.Close()
					close(ended)
				}()
				return fromAgent, toAgent, nil
			}}
			dir := t.TempDir()
			s, err := p.Resume(t.Context(), "old", agent.Options{Dir: dir, Fork: tt.fork, MCPServers: json.RawMessage(`{"m":{"command":"c","args":["x"]}}`)})
			if !errors.Is(err, tt.err) {
				t.Errorf("Resume: %v, want %v", err, tt.err)
			}
			if got := strings.ReplaceAll(sent, dir, "DIR"); got != tt.sent {
				t.Errorf("the agent got %s, want %s", got, tt.sent)
			}
			if err == nil {
				if s.ID() != tt.id {
					t.Errorf("the session is %s, want %s", s.ID(), tt.id)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				t.Error("the agent still runs")
			}
		})
	}
}
