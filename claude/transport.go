package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed7221b0f9/parley/internal/deadline"
	"github.com/seed7221b0f9/parley/internal/ndjson"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

// Transport connects to a CLI. The default starts a process; others may reach
// one over a network, play a recording, or wrap another Transport.
type Transport interface {
	// Connect opens one connection. The context applies only to connecting.
	Connect(ctx context.Context) (Conn, error)
}

// Conn is a connection to one CLI: a line of JSON at a time, both ways.
type Conn interface {
	// Read returns the next line, without its line feed. It is called by one goroutine. After
	// the last line it returns io.EOF for a clean exit of the CLI, an *ExitError for any
	// other exit, or the error that broke the connection. It returns soon after Close.
	Read(ctx context.Context) (json.RawMessage, error)
	// Write writes one line. It must be safe for concurrent use.
	Write(ctx context.Context, line json.RawMessage) error
	// CloseWrite ends the input of the CLI, which then finishes and exits. It may be called
	// several times.
	CloseWrite() error
	// Close ends the CLI with all its processes and waits for that. It may be called several
	// times, at any time.
	Close() error
}

// LocalSpawner starts the CLI as a child of this process, in a new process group. It is the
// default, and exported so that other spawners can wrap it.
var LocalSpawner = proc.Local

// wire is a Conn that returns its lines without a copy.
type wire interface {
	Conn
	readLine(ctx context.Context) (ndjson.Line, error)
	// reads returns a number that is equal for lines that arrived together.
	reads() int
}

// partsConn is a Conn that writes a line in parts.
type partsConn interface {
	writeParts(ctx context.Context, parts iter.Seq[[]byte]) error
}

// asWire makes a wire of any Conn.
func asWire(c Conn) wire {
	if w, ok := c.(wire); ok {
		return w
	}
	return foreignConn{c, new(int)}
}

type foreignConn struct {
	Conn
	n *int
}

func (c foreignConn) reads() int { return *c.n }

func (c foreignConn) readLine(ctx context.Context) (ndjson.Line, error) {
	raw, err := c.Read(ctx)
	*c.n++
	return ndjson.Line{Text: string(raw), Size: len(raw)}, err
}

// processTransport is the default Transport.
type processTransport struct {
	launch *launch
	trace  *tracer
	guard  *sessionGuard
}

// ProcessTransport returns the default [Transport]: it finds the CLI, starts it with the
// arguments and the environment of opts, and uses its standard input and output. It is
// exported so that other transports can wrap it.
func ProcessTransport(opts *Options) Transport {
	return &optionsTransport{opts: opts.Clone()}
}

// optionsTransport creates a processTransport for each connection.
type optionsTransport struct{ opts *Options }

func (t *optionsTransport) Connect(ctx context.Context) (Conn, error) {
	l, err := newLaunch(t.opts)
	if err != nil {
		return nil, err
	}
	return (&processTransport{launch: l, trace: &tracer{closed: true}, guard: newSessionGuard(l)}).Connect(ctx)
}

func (t *processTransport) Connect(ctx context.Context) (Conn, error) {
	unisolate, err := t.launch.isolate()
	if err != nil {
		return nil, err
	}
	unrestore, err := t.launch.restore(ctx, t.guard)
	if err != nil {
		t.guard.release()
		unisolate()
		return nil, err
	}
	tmp := scratch{dir: t.launch.tempDir()}
	if t.launch.here() {
		tmp.owner = t.launch.User
	}
	cleanup := func() { tmp.remove(); t.guard.release(); unrestore(); unisolate() }
	sup, path, lines, err := t.start(ctx, &tmp)
	if err != nil {
		cleanup()
		return nil, err
	}
	conn := newProcessConn(sup, t.launch, cleanup)
	conn.path = path
	return withLines(conn, lines, t.launch), nil
}

// start starts the CLI and returns the path of the program, and the process if it runs under a
// host.
func (t *processTransport) start(ctx context.Context, tmp *scratch) (*proc.Supervisor, string, spawn.LineProcess, error) {
	cmd, err := t.launch.command(tmp)
	if err != nil {
		return nil, "", nil, err
	}
	span := t.trace.spawn(cmd)
	var lines spawn.LineProcess
	sup, err := proc.Start(ctx, cmd, t.procOptions(proc.NoteLines(t.launch.supervised(), &lines)))
	pid := 0
	if err != nil {
		err = spawnError(cmd, err)
	} else {
		pid = sup.PID()
	}
	span(pid, err)
	t.trace.debug(t.launch.logger(), "claude: starting the CLI", "path", cmd.Path, "args", cmd.Args, "dir", cmd.Dir, "env", cmd.Env, "pid", pid, "error", err)
	return sup, cmd.Path, lines, err
}

func (t *processTransport) procOptions(s spawn.Spawner) proc.Options {
	l := t.launch
	return proc.Options{Spawner: s, Local: l.local(), OnStderr: t.trace.stderr(l.Stderr), CloseGrace: l.CloseGrace, TermGrace: l.TermGrace, KillGrace: l.KillGrace}
}

// command returns the command of this launch.
func (l *launch) command(tmp *scratch) (spawn.Command, error) {
	env := l.environ()
	path, err := l.findCLI(env)
	if err != nil {
		return spawn.Command{}, err
	}
	args, err := l.args(tmp)
	if err != nil {
		return spawn.Command{}, err
	}
	args = append(slices.Clone(l.ExecutableArgs), args...)
	if isScript(path) {
		args = slices.Concat(l.ExecutableArgs, []string{path}, args[len(l.ExecutableArgs):])
		path, err = l.findExecutable(env)
	}
	return spawn.Command{Path: path, Args: args, Dir: l.Dir, Env: env, User: l.User, Files: slices.Clone(tmp.paths)}, err
}

// isScript reports whether a CLI needs a JavaScript runtime to run it.
func isScript(path string) bool {
	return slices.Contains([]string{".js", ".mjs", ".ts", ".tsx", ".jsx"}, filepath.Ext(path))
}

func (l *launch) findExecutable(env []string) (string, error) {
	name := cmp.Or(l.Executable, "node")
	if !l.here() {
		return name, nil
	}
	path, err := proc.Find(name, env)
	if err != nil {
		return "", fmt.Errorf("claude: the CLI is a script and needs %s: %w", name, err)
	}
	return path, nil
}

func (l *launch) findCLI(env []string) (string, error) {
	if !l.here() {
		// The path is for another machine and cannot be checked here.
		if l.CLIPath != "" {
			return l.CLIPath, nil
		}
		return "claude", nil
	}
	path, err := proc.Find(l.CLIPath, env)
	if nf, ok := errors.AsType[*proc.NotFoundError](err); ok {
		return "", &CLINotFoundError{Tried: nf.Tried, err: err}
	}
	return path, err
}

func spawnError(cmd spawn.Command, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &SpawnError{Path: cmd.Path, Dir: cmd.Dir, Err: err}
}

// processConn is the connection to a process.
type processConn struct {
	sup    *proc.Supervisor
	path   string // the path of the program
	reader *ndjson.Reader
	writer *ndjson.Writer

	reading atomic.Bool
	ended   chan struct{} // closed when the last line has been read
	// exitTime is from the end of the output to the exit; 0 means no bound.
	exitTime  time.Duration
	writeTime time.Duration // Options.WriteTimeout

	once    sync.Once
	cleanup func() // called once, when the process has ended
}

// tailTime limits how long Close leaves the remaining output of an ended process to its
// reader.
const tailTime = time.Second

func newProcessConn(sup *proc.Supervisor, l *launch, cleanup func()) *processConn {
	return &processConn{
		sup:      sup,
		reader:   ndjson.NewReader(sup.Stdout(), l.MaxLine),
		writer:   ndjson.NewWriter(sup.Stdin(), deadline.Or(l.WriteTimeout, defaultWrite)),
		ended:    make(chan struct{}),
		exitTime: deadline.Or(l.ExitTimeout, defaultExit), writeTime: l.WriteTimeout,

		cleanup: sync.OnceFunc(cleanup),
	}
}

func (c *processConn) Read(ctx context.Context) (json.RawMessage, error) {
	line, err := c.readLine(ctx)
	return json.RawMessage(line.Text), err
}

func (c *processConn) readLine(context.Context) (ndjson.Line, error) {
	c.reading.Store(true)
	line, err := c.reader.Next()
	if err != nil {
		err = c.ending(err)
	}
	return line, err
}

// ending returns the error that follows the last line of a process, given the error of reading.
func (c *processConn) ending(err error) error {
	c.once.Do(func() { close(c.ended) })
	// The output has ended; the exit status is the last result.
	if stalled := c.awaitExit(); stalled != nil {
		return stalled
	}
	exit := c.sup.Exit()
	if exit.Err != nil || exit.Code != 0 || exit.Signal != "" {
		return &ExitError{Code: exit.Code, Signal: exit.Signal, Stderr: exit.Stderr, Err: exit.Err,
			Foreign: exit.Foreign, OutOfMemory: exit.OutOfMemory}
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	return io.EOF
}

// awaitExit waits for the exit of a process after the end of its output, and stops it after
// exitTime.
func (c *processConn) awaitExit() error {
	if c.exitTime <= 0 {
		<-c.sup.Done()
		return nil
	}
	limit := time.NewTimer(c.exitTime)
	defer limit.Stop()
	select {
	case <-c.sup.Done():
		return nil
	case <-limit.C:
	}
	if err := c.sup.Stop(); err != nil {
		return &ExitError{Code: -1, Stderr: c.sup.Stderr(), Err: err}
	}
	return &StalledError{Phase: phaseExit, Since: c.exitTime}
}

func (c *processConn) Write(ctx context.Context, line json.RawMessage) error {
	return closedWrite(c.writer.WriteLine(ctx, line))
}

func (c *processConn) writeParts(ctx context.Context, parts iter.Seq[[]byte]) error {
	return closedWrite(c.writer.WriteParts(ctx, parts))
}

// closedWrite returns the error of a write in the terms of this package.
func closedWrite(err error) error {
	if errors.Is(err, ndjson.ErrClosed) {
		return ErrClosed
	}
	return err
}

func (c *processConn) reads() int { return c.reader.Reads() }

func (c *processConn) pid() int { return c.sup.PID() }

func (c *processConn) stderr() string { return c.sup.Stderr() }

func (c *processConn) CloseWrite() error {
	// Lines that are being written are finished first. This cannot block forever: a line has
	// its deadline, and Close ends the process.
	return c.writer.CloseAfterWrites(context.Background())
}

// terminate ends the process without the grace after the end of its input. Close continues
// from there.
func (c *processConn) terminate() {
	_ = c.sup.Terminate() // Close reports it
}

func (c *processConn) Close() error {
	stopErr := c.sup.Stop()
	c.writer.Close()
	if c.reading.Load() {
		tail := time.NewTimer(tailTime)
		defer tail.Stop()
		select {
		case <-c.ended:
		case <-tail.C:
		}
	}
	err := errors.Join(stopErr, c.sup.Close())
	c.cleanup()
	return err
}
