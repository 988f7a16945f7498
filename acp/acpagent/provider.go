// Package acpagent is the provider for agents that speak the Agent Client Protocol, such as
// Gemini CLI: anything that an editor can run as an agent.
//
// Each session has its own process. Parley offers files in the session's directories and terminals to an agent on this
// machine. The agent itself asks for permission to use them.
package acpagent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/spawn"
)

// Provider starts sessions of one agent. Its fields must be set before its first use and not
// changed later; its methods may be called from any goroutine.
type Provider struct {
	// Command is the agent's program, which is searched in PATH, and its arguments.
	Command []string
	// As is the part of the provider's name after "acp:". The default is the name of the program,
	// or of the script or package that an interpreter such as node or npx runs.
	As string
	// Env is added to the environment of the agent, as KEY=value.
	Env []string
	// LoginCommand is the command for logging in, for an agent that reports none.
	LoginCommand []string
	// Version is the version of this program that is reported to the agent.
	Version string
	// Spawner runs the program; nil runs it on this machine.
	Spawner spawn.Spawner
	// Supervisor is the path of a parley command. On Linux the agent then runs below a small parley
	// process, which ends all descendants of the agent when the agent ends, even if this process is
	// killed. Without it, this package finds leftover processes by their process group, their
	// parent and a mark in their environment: a process in another session with an empty
	// environment (env -i setsid) outlives the agent. KeepChildren spares processes outside of the
	// agent's process group, and disables the supervisor. Neither has an effect with a Spawner.
	Supervisor   string
	KeepChildren bool
	// Logger receives the agent's standard error and unknown messages; nil discards them.
	Logger *slog.Logger
	// Dial, if set, connects to an agent instead of running Command. Closing the writer must end
	// the agent. The reader is closed after it; its Close may wait until the agent has ended.
	Dial func(ctx context.Context, opts agent.Options) (io.ReadCloser, io.WriteCloser, error)
	// RegistryDir is a directory that records the running processes, so that Sweep can end processes of a server that
	// crashed; empty disables the records.
	RegistryDir string
	// Local reports that the agent of Dial or of a Spawner runs on this machine as this user. It is
	// then offered files and terminals, like an agent that this package starts itself.
	Local bool

	registry agentkit.Registry
}

var (
	_ agent.Resumer = (*Provider)(nil)
	_ agent.Sweeper = (*Provider)(nil)
	_ agent.Adopter = (*Provider)(nil)
	_ agent.Hosted  = (*Session)(nil)
)

// Name returns "acp:" and the agent's name: As, or the name derived from its command.
func (p *Provider) Name() string {
	return "acp:" + cmp.Or(p.As, commandName(p.Command))
}

// Open starts an agent with a new session, whose id the agent chooses. The context bounds the start only. If the agent
// requires a login first, the error is a [*LoginError].
func (p *Provider) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	return p.session(ctx, opts, func(s *Session, servers []acp.MCPServer) error {
		var answer acp.NewSessionResponse
		request := &acp.NewSessionRequest{CWD: s.dir, MCPServers: servers, AdditionalDirectories: opts.AdditionalDirectories}
		err := s.callThen(ctx, acp.MethodSessionNew, request, &answer, func() { s.opened(&answer) })
		return errors.Join(err, named(err, answer.SessionID))
	})
}

// Resume starts an agent that continues a session. If the agent can only load sessions, the
// replayed messages are omitted from the events.
func (p *Provider) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	return p.session(ctx, opts, func(s *Session, servers []acp.MCPServer) error {
		has := s.hello.AgentCapabilities.Or(acp.AgentCapabilities{})
		session := s.sessionCapabilities()
		var answer continued
		var err error
		begin := func() { s.continued(id, opts.Fork, &answer) }
		switch {
		case opts.Fork && session.Fork.IsSet():
			err = s.callThen(ctx, acp.MethodSessionFork, &acp.ForkSessionRequest{SessionID: acp.SessionID(id), CWD: s.dir, MCPServers: servers}, &answer, begin)
			err = errors.Join(err, named(err, answer.SessionID))
		case opts.Fork:
			err = fmt.Errorf("%w: the agent cannot copy sessions", agent.ErrUnsupported)
		case session.Resume.IsSet():
			err = s.callThen(ctx, acp.MethodSessionResume, &acp.ResumeSessionRequest{SessionID: acp.SessionID(id), CWD: s.dir, MCPServers: servers}, &answer, begin)
		case has.LoadSession.Or(false):
			err = s.callThen(ctx, acp.MethodSessionLoad, &acp.LoadSessionRequest{SessionID: acp.SessionID(id), CWD: s.dir, MCPServers: servers}, &answer, begin)
		default:
			err = fmt.Errorf("%w: the agent cannot continue sessions", agent.ErrUnsupported)
		}
		if e, ok := errors.AsType[*jsonrpc.Error](err); ok && (e.Code == jsonrpc.CodeInternal || e.Code == jsonrpc.CodeInvalidParams) {
			err = fmt.Errorf("%w: %w", agent.ErrNotFound, err) // agents also report a lost session like this
		}
		return err
	})
}

// named returns an error if the answer to a request for a new session has no id.
func named(err error, id acp.SessionID) error {
	if err == nil && id == "" {
		return errors.New("the agent's answer is invalid: it names no session")
	}
	return nil
}

// continued is the answer to session/fork, session/resume and session/load. Only that to
// session/fork has a session id.
type continued struct {
	SessionID     acp.SessionID
	Modes         acp.Optional[acp.SessionModeState]
	ConfigOptions acp.Optional[[]acp.SessionConfigOption]
	members       map[string]json.RawMessage
}

// UnmarshalJSON decodes the answer, which is null from some agents.
func (c *continued) UnmarshalJSON(text []byte) error {
	type plain continued
	if err := json.Unmarshal(text, (*plain)(c)); err != nil {
		return err
	}
	return json.Unmarshal(text, &c.members)
}

// session starts an agent, opens a session with start, and applies the options.
func (p *Provider) session(ctx context.Context, opts agent.Options, start func(s *Session, servers []acp.MCPServer) error) (agent.Session, error) {
	servers, err := clientServers(opts.MCPServers)
	if err != nil {
		return nil, err
	}
	s, err := p.connect(ctx, opts)
	if err != nil {
		return nil, err
	}
	if err = start(s, servers); err == nil {
		err = s.choose(ctx, opts)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s.offering(), nil
}

// offering returns the session as a type that has only the optional methods that its agent
// supports.
func (s *Session) offering() agent.Session {
	if s.hasModels() {
		return &modelled{s}
	}
	return s
}

// directory returns the directory of a session.
func directory(opts agent.Options) (string, error) {
	if opts.Dir != "" {
		return opts.Dir, nil
	}
	return os.Getwd()
}

// connect starts the agent and initializes the connection.
func (p *Provider) connect(ctx context.Context, opts agent.Options) (*Session, error) {
	dir, err := directory(opts)
	if err != nil {
		return nil, err
	}
	s := newSession(p, dir, opts)
	lines, r, w, err := p.start(ctx, s, opts)
	if err != nil {
		return nil, err
	}
	s.connect(lines, agent.Adoption{}, r, w)
	if err := s.greet(ctx); err != nil {
		closed := s.Close()
		return nil, errors.Join(s.ended(err), closed)
	}
	return s, nil
}

// connect connects to an agent: over its numbered lines if a host keeps them, else over its plain
// output.
func (s *Session) connect(lines spawn.LineProcess, a agent.Adoption, r io.Reader, w io.WriteCloser) {
	opts := jsonrpc.Options{
		Handle: s.handle, Notify: s.notified, CancelMethod: acp.MethodCancelRequest, Written: s.sent, Stray: s.stray, Embedded: true,
	}
	if lines != nil {
		s.hosted, s.terminals.restored = agentkit.NewHosted(a), make(chan struct{})
		s.conn = jsonrpc.NewLines(s.lines(lines, a.Last), w, opts)
		s.work.Go(s.restoreTerminals)
	} else {
		s.conn = jsonrpc.New(r, w, opts)
	}
	close(s.connected)
	go s.watch()
}

// greet initializes the connection. It offers files and terminals only to an agent on this machine,
// and only terminals that can outlive this process to an agent under a host.
func (s *Session) greet(ctx context.Context) error {
	client := acp.ClientCapabilities{
		Elicitation: acp.Some(acp.ElicitationCapabilities{Form: acp.Some(acp.ElicitationFormCapabilities{}), URL: acp.Some(acp.ElicitationURLCapabilities{})}),
		Session:     acp.Some(acp.ClientSessionCapabilities{Notices: acp.Some(acp.NoticeCapabilities{}), Compaction: acp.Some(acp.CompactionCapabilities{})}),
		Auth:        acp.Some(acp.AuthCapabilities{Terminal: acp.Some(true)}),
	}
	if s.isLocal() && s.files != nil { // without unsaved texts the agent's own file access is better: Gemini CLI creates no files through a client
		client.Fs = acp.Some(acp.FileSystemCapabilities{ReadTextFile: acp.Some(true), WriteTextFile: acp.Some(true)})
	}
	if s.isLocal() && (s.hosted == nil || s.keeper != nil) {
		client.Terminal = acp.Some(true)
	}
	request := &acp.InitializeRequest{
		ProtocolVersion: 1, ClientInfo: acp.Some(acp.Implementation{Name: "parley", Version: s.provider.Version}), ClientCapabilities: acp.Some(client),
	}
	if err := s.call(ctx, acp.MethodInitialize, request, &s.hello); err != nil {
		return err
	}
	if s.hello.ProtocolVersion != 1 {
		return fmt.Errorf("%w: the agent speaks version %d of the protocol", agent.ErrUnsupported, s.hello.ProtocolVersion)
	}
	return nil
}

func (p *Provider) log() *slog.Logger {
	if p.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return p.Logger
}
