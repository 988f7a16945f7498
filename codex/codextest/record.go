package codextest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/tape"
	"github.com/seed7221b0f9/parley/spawn"
)

// Line is one line of a recording. Seq orders both directions, T is in seconds.
type Line = tape.Line

// Recorder is a Spawner that records the lines of client and server. Its methods may be called from
// any goroutine.
type Recorder struct {
	// Next starts the process; nil starts a child of this one.
	Next spawn.Spawner

	once  sync.Once
	tape  *tape.Recorder
	mu    sync.Mutex
	lines []Line
}

// Spawn starts a process with the next spawner and records its input and output.
func (r *Recorder) Spawn(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
	next := r.Next
	if next == nil {
		next = proc.Local
	}
	p, err := next.Spawn(ctx, cmd)
	if err != nil {
		return nil, err
	}
	r.once.Do(func() { r.tape = tape.NewRecorder(r.add) })
	return r.tape.Tap(p), nil
}

// Lines returns a copy of the lines recorded so far in both directions, in order.
func (r *Recorder) Lines() []Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Line(nil), r.lines...)
}

func (r *Recorder) add(m tape.Moment) {
	msg := json.RawMessage(m.Line)
	if !json.Valid(msg) {
		msg = jsonwire.AppendString(nil, m.Line) // not a message; kept as a string
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, Line{Seq: len(r.lines) + 1, T: m.TMS / 1000, Msg: msg, Client: m.Dir == "in"})
}

// Save writes client.jsonl and server.jsonl into a directory, which it creates. It does not replace
// existing files.
func (r *Recorder) Save(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var errs error
	for name, client := range map[string]bool{"client.jsonl": true, "server.jsonl": false} {
		var b bytes.Buffer
		for _, l := range r.Lines() {
			if l.Client == client {
				fmt.Fprintf(&b, `{"seq":%d,"t":%.3f,"msg":%s}`+"\n", l.Seq, l.T, l.Msg)
			}
		}
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.Write(b.Bytes())
			err = errors.Join(err, f.Close())
		}
		errs = errors.Join(errs, err)
	}
	return errs
}
