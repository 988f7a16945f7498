// Package acpagent is the provider for agents that speak the Agent Client Protocol, such as
// Gemini CLI: anything that an editor can run as an agent.
//
// Each session has a process of its own. The agent uses its own tools; it is offered neither
// files nor terminals of this program.
package acpagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

// Provider starts sessions of one agent. Its fields are set before use and not changed; its
// methods may be called from any goroutine.
type Provider struct {
	// Command is the agent's program, which is looked for in PATH, and its arguments.
	Command []string
	// As is the provider's name after "acp:"; empty is the base name of the program.
	As string
	// Version is what this program reports to the agent about itself.
	Version string
	// Spawner runs the program; nil runs it on this machine.
	Spawner spawn.Spawner
	// Supervisor is the path of a parley command. On Linux the agent then runs below a small process of it,
	// which ends everything that the agent has started when the agent ends, also when this process is
	// killed. Without one, what the agent has left is found by its process group, by its parent and by a
	// mark in its environment: a process in another session with an empty environment (env -i setsid)
	// outlives the agent. KeepChildren leaves alone what is not in the agent's process group; there is no
	// supervisor then. Neither has an effect with a Spawner.
	Supervisor   string
	KeepChildren bool
	// Logger gets the agent's standard error and what is not understood; nil discards it.
	Logger *slog.Logger
	// Dial, where it is set, connects to an agent instead of running Command. Closing the
	// writer ends the agent; the reader is closed after it and may wait there until the agent is gone.
	Dial func(ctx context.Context, opts agent.Options) (io.ReadCloser, io.WriteCloser, error)
}

var _ agent.Resumer = (*Provider)(nil)

// Name returns acp: followed by the agent's name, which is As or the name of its program.
func (p *Provider) Name() string {
	name := p.As
	if name == "" && len(p.Command) > 0 {
		name = strings.TrimSuffix(filepath.Base(p.Command[0]), ".exe")
	}
	return "acp:" + name
}

// Open starts an agent with a new session, whose id the agent chooses. The context bounds the
// start only.
func (p *Provider) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	s, err := p.connect(ctx, opts)
	if err != nil {
		return nil, err
	}
	servers, err := clientServers(opts.MCPServers)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	var answer acp.NewSessionResponse
	request := &acp.NewSessionRequest{CWD: s.dir, MCPServers: servers, AdditionalDirectories: opts.AdditionalDirectories}
	if err := s.call(ctx, acp.MethodSessionNew, request, &answer); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.begin(string(answer.SessionID), answer.Modes, answer.ConfigOptions)
	return p.ready(ctx, s, opts)
}

// Resume starts an agent that continues a session. An agent that can only load a session replays
// its messages, which are left out of the events.
func (p *Provider) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	s, err := p.connect(ctx, opts)
	if err != nil {
		return nil, err
	}
	servers, err := clientServers(opts.MCPServers)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	session := s.caps.SessionCapabilities.Or(acp.SessionCapabilities{})
	switch {
	case opts.Fork && session.Fork.IsSet():
		var answer acp.ForkSessionResponse
		err = s.call(ctx, acp.MethodSessionFork, &acp.ForkSessionRequest{SessionID: acp.SessionID(id), CWD: s.dir, MCPServers: servers}, &answer)
		s.begin(string(answer.SessionID), answer.Modes, answer.ConfigOptions)
	case opts.Fork:
		err = fmt.Errorf("%w: the agent cannot copy sessions", agent.ErrUnsupported)
	case session.Resume.IsSet():
		var answer acp.ResumeSessionResponse
		err = s.call(ctx, acp.MethodSessionResume, &acp.ResumeSessionRequest{SessionID: acp.SessionID(id), CWD: s.dir, MCPServers: servers}, &answer)
		s.begin(id, answer.Modes, answer.ConfigOptions)
	case s.caps.LoadSession.Or(false):
		var answer acp.LoadSessionResponse
		err = s.call(ctx, acp.MethodSessionLoad, &acp.LoadSessionRequest{SessionID: acp.SessionID(id), CWD: s.dir, MCPServers: servers}, &answer)
		s.begin(id, answer.Modes, answer.ConfigOptions)
	default:
		err = fmt.Errorf("%w: the agent cannot continue sessions", agent.ErrUnsupported)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return p.ready(ctx, s, opts)
}

// ready sets what the options ask for. The names of modes are the agent's own: one that nobody
// chose is not set, and "default" is the mode that it starts in unless it has one of that name.
func (p *Provider) ready(ctx context.Context, s *Session, opts agent.Options) (agent.Session, error) {
	isDefault := opts.ModeUnchosen || opts.Mode == "default" && !slices.Contains(s.modes, opts.Mode)
	if opts.Mode != "" && opts.Mode != s.mode && !isDefault {
		if err := s.SetMode(ctx, opts.Mode); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// connect starts the agent and says hello.
func (p *Provider) connect(ctx context.Context, opts agent.Options) (*Session, error) {
	dir := opts.Dir
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	s := newSession(p, dir, opts)
	r, w, err := p.start(ctx, s, opts)
	if err != nil {
		return nil, err
	}
	s.conn = jsonrpc.New(r, w, jsonrpc.Options{
		Handle: s.handle, Notify: s.notified, CancelMethod: acp.MethodCancelRequest, AnswerStray: true, Written: s.sent,
		Stray: func(line string, _ *jsonrpc.Message, err error) {
			p.log().Warn("acpagent: a line that is not understood", "line", line[:min(len(line), 200)], "err", err)
		},
	})
	go s.watch()
	var hello acp.InitializeResponse
	request := &acp.InitializeRequest{
		ProtocolVersion: 1, ClientInfo: acp.Some(acp.Implementation{Name: "parley", Version: p.Version}),
		ClientCapabilities: acp.Some(acp.ClientCapabilities{
			Elicitation: acp.Some(acp.ElicitationCapabilities{Form: acp.Some(acp.ElicitationFormCapabilities{}), URL: acp.Some(acp.ElicitationURLCapabilities{})}),
			Session:     acp.Some(acp.ClientSessionCapabilities{Notices: acp.Some(acp.NoticeCapabilities{}), Compaction: acp.Some(acp.CompactionCapabilities{})}),
		}),
	}
	if err := s.call(ctx, acp.MethodInitialize, request, &hello); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if hello.ProtocolVersion != 1 {
		return nil, errors.Join(fmt.Errorf("%w: the agent speaks version %d of the protocol", agent.ErrUnsupported, hello.ProtocolVersion), s.Close())
	}
	s.caps = hello.AgentCapabilities.Or(acp.AgentCapabilities{})
	return s, nil
}

func (p *Provider) log() *slog.Logger {
	if p.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return p.Logger
}

// start runs the agent's program.
func (p *Provider) start(ctx context.Context, s *Session, opts agent.Options) (io.Reader, io.WriteCloser, error) {
	if p.Dial != nil {
		return p.Dial(ctx, opts)
	}
	if len(p.Command) == 0 {
		return nil, nil, fmt.Errorf("%w: no command", agent.ErrInvalid)
	}
	path, err := exec.LookPath(p.Command[0])
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", agent.ErrNotInstalled, err)
	}
	env := opts.Env
	if env == nil {
		env = os.Environ()
	}
	sup, err := proc.Start(ctx, spawn.Command{Path: path, Args: p.Command[1:], Dir: s.dir, Env: env}, proc.Options{
		Spawner: p.Spawner, Local: proc.LocalOptions{Supervisor: p.Supervisor, KeepChildren: p.KeepChildren},
		OnStderr: func(line string) { p.log().Debug("acpagent: standard error", "line", line) },
	})
	if err != nil {
		return nil, nil, err
	}
	s.sup = sup
	return sup.Stdout(), sup.Stdin(), nil
}

// clientServers are MCP servers as a client passes them on.
func clientServers(raw json.RawMessage) ([]acp.MCPServer, error) {
	list := []acp.MCPServer{}
	if len(raw) == 0 {
		return list, nil
	}
	var byName map[string]struct {
		Type, Command, URL string
		Args               []string
		Env, Headers       map[string]string
	}
	if err := json.Unmarshal(raw, &byName); err != nil {
		return nil, fmt.Errorf("%w: the MCP servers: %w", agent.ErrInvalid, err)
	}
	for name, one := range byName {
		headers := []acp.HTTPHeader{}
		for k, v := range one.Headers {
			headers = append(headers, acp.HTTPHeader{Name: k, Value: v})
		}
		switch one.Type {
		case "http":
			list = append(list, acp.MCPServer{Type: acp.MCPServerIsHTTP, Value: &acp.MCPServerHTTP{Name: name, URL: one.URL, Headers: headers}})
		case "sse":
			list = append(list, acp.MCPServer{Type: acp.MCPServerIsSSE, Value: &acp.MCPServerSSE{Name: name, URL: one.URL, Headers: headers}})
		case "", "stdio":
			env := []acp.EnvVariable{}
			for k, v := range one.Env {
				env = append(env, acp.EnvVariable{Name: k, Value: v})
			}
			list = append(list, acp.MCPServer{Value: &acp.MCPServerStdio{Name: name, Command: one.Command, Args: append([]string{}, one.Args...), Env: env}})
		default:
			return nil, fmt.Errorf("%w: the MCP server %s has the type %q", agent.ErrInvalid, name, one.Type)
		}
	}
	return list, nil
}
