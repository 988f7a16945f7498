package editor

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// Options configures an agent that speaks the protocol. Provider is required; all other fields have
// defaults.
type Options struct {
	// Provider starts the sessions.
	Provider agent.Provider
	// Name, Title and Version identify the agent to the client.
	Name, Title, Version string
	// Session holds the options of all sessions, except the working directory, the id and the settings that a client
	// requests for each session.
	Session agent.Options
	// PrewarmDir is the directory for which a session is opened at initialize, so that session/new for it returns
	// without delay; empty disables this.
	PrewarmDir string
	// ClientFiles synchronizes the files that the agent's tools use with the buffers of a client
	// that has fs/read_text_file and fs/write_text_file: the client saves unsaved text before a
	// tool uses a file, and gets the text that a tool has written. The provider must support
	// [agent.Options].Files. Without such a provider or client, tools use only the disk.
	ClientFiles bool
	// Remote means that the sessions run on another machine, or that the clients may not access
	// this machine's files: the provider checks the directories.
	Remote bool
	// AuthMethods are the login methods that are offered to clients with terminals.
	AuthMethods []acp.AuthMethod
	// BackgroundWait is how long the answer to a prompt waits for commands in the background that its turn has started,
	// so that the agent's message about their end is part of a turn; 0 means 10 seconds, a negative value disables the
	// wait. The answer always waits for subagents in the background.
	BackgroundWait time.Duration
	// CancelWait is the time within which a cancelled turn must end before its agent is stopped; 0
	// means 30 seconds.
	CancelWait time.Duration
	// Rest is called when neither the client nor an agent has sent a message for RestAfter (default 500 ms), for
	// example to return memory to the system. Messages wait until it returns. It may be nil.
	Rest      func()
	RestAfter time.Duration
	// Logger receives errors that are not sent to clients; nil discards them.
	Logger *slog.Logger
	// Sent is called with every line before it is written. It must not block.
	Sent func(line []byte)
}

const (
	defaultBackgroundWait = 10 * time.Second
	defaultCancelWait     = 30 * time.Second
	// maxMessage limits a message of the client, in bytes. The limit over HTTP is the same.
	maxMessage = 16 << 20
	// drainWait limits how long Serve waits for handlers after the client has disconnected.
	drainWait = time.Minute
	// finishTime limits how long requests other than prompts are answered after the client has closed its end.
	finishTime = 5 * time.Second
)

// server is one connection to a client.
type server struct {
	opts Options
	conn *jsonrpc.Conn
	ctx  context.Context // ends with the connection
	stop context.CancelFunc
	work sync.WaitGroup // goroutines that sessions have started

	mu       sync.Mutex
	client   *acp.ClientCapabilities // nil before initialize
	version  int64                   // the negotiated version of the protocol
	sessions map[string]*session
	arrived  map[*jsonrpc.Message]*prompt // prompts whose handler has not begun
	warm     *warm
	closing  bool
	opening  chan struct{} // closed when an initialize was handled; nil before it arrives
	ready    bool          // opening is closed

	idle idleTimer
}

// Serve speaks the protocol with a client over r and w until the client closes its end or ctx ends. All agents have
// ended when it returns. The error is the reason for the end of the connection; the end of r is not an error. A message
// over 16 MiB is answered with an error and skipped.
func Serve(ctx context.Context, r io.Reader, w io.WriteCloser, opts Options) error {
	if opts.Provider == nil {
		return errors.New("acp: no provider")
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s := &server{opts: opts, sessions: map[string]*session{}, arrived: map[*jsonrpc.Message]*prompt{}}
	s.idle.call, s.idle.after = opts.Rest, opts.RestAfter
	if s.idle.after <= 0 {
		s.idle.after = defaultRestAfter
	}
	defer s.idle.end()
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer s.stop()
	ready := make(chan struct{})
	s.conn = jsonrpc.New(r, w, jsonrpc.Options{
		Handle:  func(ctx context.Context, m *jsonrpc.Message) (any, error) { <-ready; return s.handle(ctx, m) },
		Notify:  func(ctx context.Context, m *jsonrpc.Message) { <-ready; s.notified(m) },
		Observe: func(m *jsonrpc.Message) { <-ready; s.idle.stir(); s.observe(m) },
		Stray: func(line string, _ *jsonrpc.Message, err error) {
			opts.Logger.Warn("acp: unknown line", "line", clip(line), "err", err)
		},
		Panicked: func(method string, v any, stack []byte) {
			opts.Logger.Error("acp: panic", "method", method, "value", v, "stack", string(stack))
		},
		Sent:         opts.Sent,
		CancelMethod: acp.MethodCancelRequest,
		AnswerStray:  true,
		MaxLine:      maxMessage,
		MaxBuffered:  s.maxBuffered(),
		FinishTime:   finishTime,
		Endless:      func(m *jsonrpc.Message) bool { return m.Method == acp.MethodSessionPrompt },
	})
	close(ready)
	select {
	case <-s.conn.Done():
	case <-ctx.Done():
	}
	return s.shutdown(ctx)
}

// remoteBuffered limits the bytes of a remote client that wait to be handled.
const remoteBuffered = 32 << 20

func (s *server) maxBuffered() int {
	if s.opts.Remote {
		return remoteBuffered
	}
	return 0 // the default
}

func clip(line string) string { return line[:min(len(line), 200)] }

// shutdown ends all sessions at once and waits for them.
func (s *server) shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	var all []*session
	for _, one := range s.sessions {
		all = append(all, one)
	}
	spare := s.warm
	s.warm = nil
	s.mu.Unlock()
	s.stop()
	var closing sync.WaitGroup
	for _, one := range all {
		closing.Go(one.close)
	}
	if spare != nil {
		closing.Go(spare.close)
	}
	closing.Wait()
	s.conn.Close()
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainWait)
	defer cancel()
	err := s.conn.Wait(wait)
	s.work.Wait()
	if why := s.conn.Err(); err == nil && why != nil && !errors.Is(why, io.EOF) && !errors.Is(why, jsonrpc.ErrClosed) {
		err = why
	}
	return errors.Join(err, ctx.Err())
}
