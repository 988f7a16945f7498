package codextest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

// Line is one line of a recording. Seq orders both directions, T is in seconds.
type Line struct {
	Seq    int             `json:"seq"`
	T      float64         `json:"t"`
	Msg    json.RawMessage `json:"msg"`
	Client bool            `json:"-"`
}

// Recorder is a Spawner that writes down what client and server say. Its methods may be
// called from any goroutine.
type Recorder struct {
	// Next starts the process; nil starts a child of this one.
	Next spawn.Spawner

	mu    sync.Mutex
	begin time.Time
	lines []Line
}

// Spawn starts a process with the next spawner and records what is written to it and what it
// writes.
func (r *Recorder) Spawn(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
	next := r.Next
	if next == nil {
		next = proc.Local
	}
	p, err := next.Spawn(ctx, cmd)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	if r.begin.IsZero() {
		r.begin = time.Now()
	}
	r.mu.Unlock()
	return &recorded{
		Process: p, in: &tee{w: p.Stdin(), c: p.Stdin(), split: splitter{r: r, client: true}},
		out: &teeReader{ReadCloser: p.Stdout(), split: splitter{r: r}},
	}, nil
}

// Lines returns what was written so far in both directions, in its order, as a copy.
func (r *Recorder) Lines() []Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Line(nil), r.lines...)
}

func (r *Recorder) add(client bool, line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	msg := json.RawMessage(bytes.Clone(line))
	if !json.Valid(line) {
		msg = jsonwire.AppendString(nil, string(line)) // not a message; kept as a string
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, Line{Seq: len(r.lines) + 1, T: time.Since(r.begin).Seconds(), Msg: msg, Client: client})
}

// Save writes client.jsonl and server.jsonl into a directory, which it makes. Files that
// are there are not replaced.
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

// recorded is a process whose streams are written down.
type recorded struct {
	spawn.Process
	in  io.WriteCloser
	out io.ReadCloser
}

func (p *recorded) Stdin() io.WriteCloser { return p.in }

func (p *recorded) Stdout() io.ReadCloser { return p.out }

// splitter cuts a stream into lines. It is for one goroutine.
type splitter struct {
	r      *Recorder
	client bool
	rest   []byte
}

func (s *splitter) feed(p []byte) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.rest = append(s.rest, p...)
			return
		}
		s.r.add(s.client, append(s.rest, p[:i]...))
		s.rest, p = s.rest[:0], p[i+1:]
	}
}

type tee struct {
	w     io.Writer
	c     io.Closer
	split splitter
}

func (t *tee) Write(p []byte) (int, error) {
	// Before it is written: the answer must not come first.
	t.split.feed(p)
	return t.w.Write(p)
}

func (t *tee) Close() error { return t.c.Close() }

type teeReader struct {
	io.ReadCloser
	split splitter
}

func (t *teeReader) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.split.feed(p[:n])
	return n, err
}
