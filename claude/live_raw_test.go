package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/tape"
	"github.com/seed7221b0f9/parley/spawn"
)

// longPause is the minimum of an intended pause in a recording.
const longPause = 150 * time.Millisecond

// runRaw writes the recorded input of a recording without an SDK to the real CLI, each
// line after as much output as in the recording.
func (l *live) runRaw() {
	proc := l.rec.Processes["."]
	seen := &rawSpawner{args: proc.Argv, added: proc.Env.Added}
	for i, a := range seen.args {
		seen.args[i] = l.here(a)
	}
	opts := &claude.Options{CLIPath: l.cli, Dir: l.here(proc.Env.Cwd), Env: l.env, CleanEnv: true, Spawner: seen}
	ctx, cancel := context.WithTimeout(l.t.Context(), liveLimit)
	defer cancel()
	conn, err := claude.ProcessTransport(opts).Connect(ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	defer conn.Close()
	f := &feeder{live: l, proc: proc, conn: conn, seen: seen, changed: make(chan struct{}, 1), ended: make(chan struct{})}
	var reading sync.WaitGroup
	reading.Go(f.read)
	f.feed(ctx)
	select {
	case <-f.ended:
	case <-ctx.Done():
		l.t.Errorf("not over after %v", liveLimit)
	}
	conn.Close()
	reading.Wait()
	f.compare()
}

// rawSpawner starts the CLI with the recorded arguments.
type rawSpawner struct {
	args  []string
	added map[string]string
	proc  *rawProcess
}

// rawProcess keeps its standard input, to write incomplete lines.
type rawProcess struct {
	spawn.Process
	stdin io.WriteCloser
}

func (p *rawProcess) Stdin() io.WriteCloser {
	p.stdin = p.Process.Stdin()
	return p.stdin
}

func (s *rawSpawner) Spawn(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
	cmd.Args = s.args
	var env []string
	for _, kv := range cmd.Env {
		if !strings.HasPrefix(kv, "CLAUDE_CODE_SDK_READS_SESSION_STATE=") && !strings.HasPrefix(kv, "CLAUDE_AGENT_SDK_VERSION=") {
			env = append(env, kv)
		}
	}
	for k, v := range s.added {
		env = append(env, k+"="+v)
	}
	cmd.Env = env
	p, err := claude.LocalSpawner.Spawn(ctx, cmd)
	if err != nil {
		return nil, err
	}
	s.proc = &rawProcess{Process: p}
	return s.proc, nil
}

// feeder writes the recorded input.
type feeder struct {
	*live
	proc *tape.Process
	conn claude.Conn
	seen *rawSpawner

	mu      sync.Mutex
	lines   []json.RawMessage
	err     error
	changed chan struct{}
	ended   chan struct{}
}

func (f *feeder) read() {
	defer close(f.ended)
	for {
		line, err := f.conn.Read(context.Background())
		f.mu.Lock()
		if err != nil {
			f.err = err
			f.mu.Unlock()
			return
		}
		f.lines = append(f.lines, line)
		f.mu.Unlock()
		select {
		case f.changed <- struct{}{}:
		default:
		}
	}
}

// feed executes the timeline.
func (f *feeder) feed(ctx context.Context) {
	out, last := 0, 0.0
	for _, ev := range f.proc.Timeline {
		gap := time.Duration((ev.TMS - last) * float64(time.Millisecond))
		last = ev.TMS
		switch {
		case ev.Dir == "out" && ev.Ev == "line":
			out++
			continue
		case ev.Dir == "in" && ev.Ev == "line", ev.Dir == "in" && ev.Ev == "eof", ev.Ev == "signal", ev.Ev == "tee_sigkill":
		default:
			continue
		}
		if !f.await(ctx, out) || gap > longPause && !f.pause(ctx, gap) {
			return
		}
		switch ev.Ev {
		case "line":
			_ = f.conn.Write(ctx, f.line(f.proc.Stdin[ev.N-1])) // a dead CLI does not read it
		case "eof":
			if ev.PartialBytes > 0 { // a last line without its newline
				_, _ = io.WriteString(f.seen.proc.stdin, f.proc.Stdin[len(f.proc.Stdin)-1])
			}
			_ = f.conn.CloseWrite()
		case "signal":
			f.signal(ev.Sig)
		case "tee_sigkill":
			f.signal("killed")
		}
	}
}

// await waits until n lines have been read. It returns false if the output ends before.
func (f *feeder) await(ctx context.Context, n int) bool {
	for {
		f.mu.Lock()
		have := len(f.lines)
		f.mu.Unlock()
		if have >= n {
			return true
		}
		select {
		case <-f.changed:
		case <-f.ended:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

func (f *feeder) pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-f.ended:
		return false
	case <-ctx.Done():
		return false
	}
}

var liveSignals = map[string]syscall.Signal{"terminated": syscall.SIGTERM, "interrupt": syscall.SIGINT, "killed": syscall.SIGKILL, "hangup": syscall.SIGHUP}

func (f *feeder) signal(name string) {
	sig, ok := liveSignals[name]
	if !ok {
		f.t.Fatalf("signal %q", name)
	}
	if p, err := os.FindProcess(f.seen.proc.PID()); err == nil {
		_ = p.Signal(sig)
	}
}

// line returns a recorded line of input for this run: answers get the ids of this run's
// requests.
func (f *feeder) line(s string) json.RawMessage {
	s = f.here(s)
	f.mu.Lock()
	defer f.mu.Unlock()
	var recorded, own []string
	for _, line := range f.proc.Stdout {
		recorded = appendRequest(recorded, []byte(line))
	}
	for _, line := range f.lines {
		own = appendRequest(own, line)
	}
	for i := range min(len(recorded), len(own)) {
		s = strings.ReplaceAll(s, recorded[i], own[i])
	}
	return json.RawMessage(s)
}

// appendRequest appends the id of a line if it is a request.
func appendRequest(ids []string, line []byte) []string {
	var v struct {
		Type      string `json:"type"`
		RequestID string `json:"request_id"`
	}
	if json.Unmarshal(line, &v) == nil && v.Type == "control_request" {
		ids = append(ids, v.RequestID)
	}
	return ids
}

func (f *feeder) compare() {
	f.t.Helper()
	var want, got []json.RawMessage
	for _, line := range f.proc.Stdout {
		if strings.TrimSpace(line) != "" {
			want = append(want, json.RawMessage(strings.TrimSuffix(line, "\n")))
		}
	}
	for _, line := range f.lines {
		got = append(got, json.RawMessage(f.toRecorded(string(line))))
	}
	f.compareSequences("output", sequence(want, nil), sequence(got, nil))
	code := 0
	if exit, ok := errors.AsType[*claude.ExitError](f.err); ok {
		code = exit.Code
	} else if !errors.Is(f.err, io.EOF) {
		f.t.Errorf("ended with %v", f.err)
	}
	if code != f.proc.Exit.Code {
		f.t.Errorf("exit %d, recorded %+v: %v", code, f.proc.Exit, f.err)
	}
}
