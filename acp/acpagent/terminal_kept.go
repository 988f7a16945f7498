package acpagent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

const (
	// discardStep is the minimum amount of output that the host drops at a time.
	discardStep = 1 << 20
	// hostWait limits a call to the host whose result the terminal does not need.
	hostWait = 5 * time.Second
)

// terminalCall is a request about a terminal of an agent under a host.
type terminalCall struct {
	creates, releases string // the id of the new or the released terminal, or ""
	limit             int
}

// mark is a position in the output of a terminal.
type mark struct {
	total int64  // number of bytes before it
	line  uint64 // the last line before it
}

// asked records a request about a terminal. The ids of new terminals depend only on the order of the lines, so that
// every process assigns the same ids.
func (l *terminals) asked(m *jsonrpc.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var c terminalCall
	switch m.Method {
	case acp.MethodTerminalCreate:
		var r acp.CreateTerminalRequest
		_ = json.Unmarshal([]byte(m.Params), &r) // an invalid request is answered with an error
		l.count++
		c = terminalCall{creates: terminalID(l.count), limit: outputLimit(&r)}
	case acp.MethodTerminalRelease:
		var r acp.ReleaseTerminalRequest
		_ = json.Unmarshal([]byte(m.Params), &r)
		c = terminalCall{releases: string(r.TerminalID)}
	default:
		return
	}
	if l.calls == nil {
		l.calls = map[jsonrpc.ID]terminalCall{}
	}
	l.calls[m.ID] = c
}

// answered records the answer to a request about a terminal.
func (l *terminals) answered(m *jsonrpc.Message, past bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.calls[m.ID]
	delete(l.calls, m.ID)
	switch {
	case !ok || !past || m.Error != nil:
	case c.creates != "":
		if l.past == nil {
			l.past = map[string]int{}
		}
		l.past[c.creates] = c.limit
	default:
		delete(l.past, c.releases)
	}
}

// restoreTerminals restores the terminals that an earlier process has started.
func (s *Session) restoreTerminals() {
	l := &s.terminals
	defer close(l.restored)
	if s.hosted.Wait(s.ctx) != nil || s.keeper == nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, hostWait)
	defer cancel()
	for _, t := range s.findTerminals() {
		if err := t.kept.CaughtUp(ctx); err != nil {
			s.provider.log().Warn("acpagent: the output of a terminal is delayed", "err", err)
		}
	}
}

// findTerminals attaches to the terminals of an earlier process. A terminal that cannot be found is logged and counts
// as ended.
func (s *Session) findTerminals() (found []*terminal) {
	l := &s.terminals
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	for id, limit := range l.past {
		t := newTerminal(limit)
		kept, err := s.keeper.Find(s.ctx, id)
		if err == nil {
			err = t.attach(s.ctx, kept)
		}
		l.put(id, t)
		if err != nil {
			s.provider.log().Warn("acpagent: a terminal is lost", "terminal", id, "err", err)
			close(t.done)
			continue
		}
		found = append(found, t)
		go t.run()
	}
	l.past = nil
	return found
}

// keep starts the command under a host, which merges its standard output and standard error.
func (t *terminal) keep(ctx context.Context, k agent.Keeper, id string, cmd spawn.Command) error {
	if k == nil {
		return jsonrpc.MethodNotFound(acp.MethodTerminalCreate)
	}
	cmd.Args = slices.Concat([]string{"-c", `exec "$0" "$@" 2>&1`, cmd.Path}, cmd.Args)
	cmd.Path = "/bin/sh"
	kept, err := k.Keep(ctx, id, cmd)
	if err != nil {
		return err
	}
	return t.attach(ctx, kept)
}

// attach connects the terminal to a process that runs under a host.
func (t *terminal) attach(ctx context.Context, kept agent.Kept) (err error) {
	t.kept, t.cut = kept, kept.Cut()
	t.sup, err = proc.Start(ctx, spawn.Command{}, proc.Options{Spawner: proc.Adopted(kept)})
	if err != nil {
		return errors.Join(err, kept.Kill())
	}
	return nil
}

// discard counts new output. Once it exceeds the limit of the terminal, the host discards the
// output before the limit. The caller holds mu.
func (t *terminal) discard(size int) {
	t.total += int64(size)
	if t.kept == nil || t.total-t.mark.total < int64(max(t.limit, discardStep)) {
		return
	}
	line := t.mark.line
	t.mark = mark{total: t.total, line: t.kept.Taken()}
	if line == 0 {
		return
	}
	t.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), hostWait)
		defer cancel()
		_ = t.kept.Discard(ctx, line) // a later call discards more
	})
}

// forget removes the host's record of a command that has ended.
func (t *terminal) forget() {
	if t.kept == nil {
		return
	}
	t.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), hostWait)
	defer cancel()
	_ = t.kept.Forget(ctx) // otherwise the next owner of the host forgets it
}
