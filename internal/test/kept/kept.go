// Package kept provides an in-memory agent whose lines a host keeps, and checks that an adoption
// does not change the events. It is test support.
package kept

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/spawn"
)

// Line is a line of either direction.
type Line struct {
	Input bool // to the agent
	Text  string
}

// Process is an agent whose lines a host keeps. Lines that are written to it are added to them.
type Process struct {
	t testing.TB

	mu      sync.Mutex
	news    sync.Cond
	lines   []spawn.Line
	next    int
	ids     map[string]bool
	written []string
	ended   bool
}

var _ spawn.LineProcess = (*Process)(nil)

// New returns an agent with these lines.
func New(t testing.TB, past []Line) *Process {
	p := &Process{t: t, ids: map[string]bool{}}
	p.news.L = &p.mu
	for _, l := range past {
		p.Add(l)
	}
	return p
}

// Add adds a line.
func (p *Process) Add(l Line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, spawn.Line{Number: uint64(len(p.lines) + 1), Input: l.Input, Text: []byte(l.Text)})
	p.news.Broadcast()
}

// Last returns the number of the last line.
func (p *Process) Last() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return uint64(len(p.lines))
}

// Written returns the lines that were written with WriteLine.
func (p *Process) Written() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.written)
}

// Ended reports whether the agent has been ended.
func (p *Process) Ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

func (p *Process) end() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.news.Broadcast()
	return nil
}

// NextLine returns the next line.
func (p *Process) NextLine(ctx context.Context) (spawn.Line, error) {
	defer context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.news.Broadcast()
	})()
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.next == len(p.lines) && !p.ended && ctx.Err() == nil {
		p.news.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return spawn.Line{}, ctx.Err()
	case p.next == len(p.lines):
		return spawn.Line{}, io.EOF
	}
	p.next++
	return p.lines[p.next-1], nil
}

// WriteLine adds a line to the agent. A repeated id fails the test.
func (p *Process) WriteLine(_ context.Context, id string, text []byte) error {
	p.mu.Lock()
	if p.ids[id] {
		p.t.Errorf("the line %s is written twice", id)
	}
	p.ids[id] = true
	p.written = append(p.written, string(text))
	p.mu.Unlock()
	p.Add(Line{Input: true, Text: string(text)})
	return nil
}

// The methods of [spawn.Process].

func (p *Process) Stdin() io.WriteCloser { return input{p} }
func (p *Process) Stdout() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }
func (p *Process) Stderr() io.ReadCloser { return nil }
func (p *Process) PID() int              { return 7 }
func (p *Process) Terminate() error      { return p.end() }
func (p *Process) Kill() error           { return p.end() }
func (p *Process) Wait() (spawn.ExitStatus, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.ended {
		p.news.Wait()
	}
	return spawn.ExitStatus{}, nil
}

// input supports only Close.
type input struct{ p *Process }

func (i input) Write([]byte) (int, error) { return 0, errors.New("a line without an id") }
func (i input) Close() error              { return i.p.end() }

// Adopted is the result of an adoption.
type Adopted struct {
	Events []string // of lines
	lines  []uint64 // line of each event
	Asked  []string // requests that were opened again
	Wrote  []string // lines that were written after the earlier lines had been read
}

// Adopt adopts the agent after the first n lines, and then adds the lines up to another number.
func Adopt(t *testing.T, p agent.Adopter, id string, opts agent.Options, lines []Line, n, to int) (a Adopted) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		process := New(t, lines[:n])
		s, err := p.Adopt(t.Context(), id, opts, agent.Adoption{Process: process, Last: uint64(n)})
		if err != nil {
			t.Fatalf("adoption after %d lines: %v", n, err)
		}
		var mu sync.Mutex
		done := make(chan struct{})
		stopped := false
		go func() {
			defer close(done)
			for b, err := range s.(agent.Hosted).Batches(context.Background()) {
				mu.Lock()
				if err == nil && !stopped {
					a.take(t, b)
				}
				mu.Unlock()
			}
		}()
		synctest.Wait()
		a.Wrote = process.Written()
		for _, l := range lines[n:to] {
			process.Add(l)
			synctest.Wait() // lines that this process writes do not separate adjacent lines
		}
		mu.Lock()
		stopped = true
		mu.Unlock()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return a
}

func (a *Adopted) take(t *testing.T, b agent.Batch) {
	for _, ev := range b.Events {
		if p, ok := event.NewPrompt(ev); ok && b.Line == 0 {
			a.Asked = append(a.Asked, p.RequestID())
			continue
		}
		text, err := json.Marshal(ev)
		if err != nil {
			t.Error(err)
		}
		a.Events, a.lines = append(a.Events, ev.Head().SessionID+" "+string(text)), append(a.lines, b.Line)
	}
}

// until returns the events of the first lines.
func (a *Adopted) until(n int) []string {
	i, _ := slices.BinarySearch(a.lines, uint64(n)+1)
	return a.Events[:i]
}

// nextCall returns the number of lines before the next call of the client. Only the process that
// makes a call can handle its answer.
func nextCall(lines []Line, n int) int {
	for n < len(lines) && (!lines[n].Input || Decode(lines[n]).Method == "") {
		n++
	}
	return n
}

// Check adopts an agent after each number of lines, from first on in steps. It checks that the
// events up to the next call of the client are the same, and that exactly the unanswered requests
// of the agent are opened again or answered. open returns, after a number of lines, how many
// requests to a person are open, and how many others.
func Check(t *testing.T, p agent.Adopter, id string, opts agent.Options, lines []Line, first, step int, open func([]Line) (people, others int)) (cuts int) {
	t.Helper()
	want := Adopt(t, p, id, opts, lines, len(lines), len(lines))
	if len(want.Events) == 0 {
		t.Error("the lines have no events")
	}
	for n := first; n < len(lines); n += step {
		to := nextCall(lines, n)
		got := Adopt(t, p, id, opts, lines, n, to)
		cuts++
		if diff := cmp.Diff(want.until(to), got.Events); diff != "" {
			t.Errorf("adopted after line %d of %d: events -want +got\n%s", n, len(lines), diff)
			return cuts
		}
		people, others := open(lines[:n])
		if len(got.Asked) != people {
			t.Errorf("adopted after line %d: the requests %v are asked again, want %d", n, got.Asked, people)
		}
		if len(got.Wrote) != others {
			t.Errorf("adopted after line %d: it has written %q, want %d answers", n, got.Wrote, others)
		}
	}
	return cuts
}

// Answer adopts an agent with one open request to a person and answers the request twice. It
// returns the written lines.
func Answer(t *testing.T, p agent.Adopter, id string, opts agent.Options, lines []Line, answer agent.Answer) (written []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		process := New(t, lines)
		s, err := p.Adopt(t.Context(), id, opts, agent.Adoption{Process: process, Last: uint64(len(lines))})
		if err != nil {
			t.Fatal(err)
		}
		var asked []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			for b := range s.(agent.Hosted).Batches(context.Background()) {
				for _, ev := range b.Events {
					if p, ok := event.NewPrompt(ev); ok && b.Line == 0 {
						asked = append(asked, p.RequestID())
					}
				}
			}
		}()
		synctest.Wait()
		if len(asked) != 1 {
			t.Fatalf("the requests %v are asked again, want one", asked)
		}
		if err := s.Answer(t.Context(), asked[0], answer); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if err := s.Answer(t.Context(), asked[0], answer); !errors.Is(err, agent.ErrNotOpen) {
			t.Errorf("the second answer: %v, want %v", err, agent.ErrNotOpen)
		}
		synctest.Wait()
		written = process.Written()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return written
}

// Message has the members of a JSON-RPC message that tests use.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// Decode decodes a line. It returns the zero value if the line is not a message.
func Decode(l Line) (m Message) {
	_ = json.Unmarshal([]byte(l.Text), &m)
	return m
}

// Open returns the unanswered requests of the agent.
func Open(lines []Line) []Message {
	var open []Message
	for _, l := range lines {
		m := Decode(l)
		switch {
		case !l.Input && m.Method != "" && m.ID != nil:
			open = append(open, m)
		case l.Input && m.Method == "" && m.ID != nil:
			open = slices.DeleteFunc(open, func(o Message) bool { return string(o.ID) == string(m.ID) })
		}
	}
	return open
}

// Answered returns the number of lines up to the successful answer to the first call of one of
// these methods, and its result. The number is 0 if there is no such answer.
func Answered(lines []Line, methods ...string) (n int, call Message, result json.RawMessage) {
	for i, l := range lines {
		m := Decode(l)
		if l.Input && call.ID == nil && slices.Contains(methods, m.Method) {
			call = m
		}
		if !l.Input && m.Method == "" && call.ID != nil && string(m.ID) == string(call.ID) && m.Error == nil {
			return i + 1, call, m.Result
		}
	}
	return 0, Message{}, nil
}
