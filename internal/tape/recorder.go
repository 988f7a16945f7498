package tape

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

// Moment is an event of a dialogue with its content.
type Moment struct {
	Event
	// Line is the line of an event "line", without its line feed.
	Line string
	// Exit and Stderr describe the end of the process, for an event "exit".
	Exit   Exit
	Stderr string
}

// Recorder adds times to the moments of a dialogue and passes them on in order. Its methods are safe
// for concurrent use.
type Recorder struct {
	add func(Moment)

	mu    sync.Mutex
	begun time.Time
	ended bool
}

// NewRecorder returns a recorder that calls add with each moment, one call at a time. Time 0 is now.
func NewRecorder(add func(Moment)) *Recorder { return &Recorder{add: add, begun: time.Now()} }

// Record passes a moment on. After an event "exit" it has no effect.
func (r *Recorder) Record(m Moment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.ended = m.Ev == "exit"
	m.TMS = float64(time.Since(r.begun).Microseconds()) / 1000
	r.add(m)
}

// Line records a line of the direction "in" or "out".
func (r *Recorder) Line(dir, line string) {
	r.Record(Moment{Event: Event{Dir: dir, Ev: "line"}, Line: line})
}

// Tap returns a process whose input and output are recorded line by line. Blank lines are skipped.
func (r *Recorder) Tap(p spawn.Process) spawn.Process {
	return &tapped{Process: p, in: tap{dir: "in", r: r}, out: tap{dir: "out", r: r}}
}

// tapped is a recorded process.
type tapped struct {
	spawn.Process
	in, out tap
}

func (p *tapped) Stdin() io.WriteCloser { return tappedStdin{p.Process.Stdin(), &p.in} }

func (p *tapped) Stdout() io.ReadCloser { return tappedStdout{p.Process.Stdout(), &p.out} }

// tap splits a stream into lines. It is not safe for concurrent use.
type tap struct {
	r    *Recorder
	dir  string
	rest []byte
}

func (t *tap) feed(p []byte) {
	t.rest = append(t.rest, p...)
	for {
		line, rest, ok := bytes.Cut(t.rest, []byte("\n"))
		if !ok {
			return
		}
		t.rest = rest
		if text := string(line); strings.TrimSpace(text) != "" {
			t.r.Line(t.dir, text)
		}
	}
}

type tappedStdin struct {
	io.WriteCloser
	tap *tap
}

func (s tappedStdin) Write(p []byte) (int, error) {
	s.tap.feed(p) // before it is written: an answer must follow it in the recording
	return s.WriteCloser.Write(p)
}

type tappedStdout struct {
	io.ReadCloser
	tap *tap
}

func (s tappedStdout) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.tap.feed(p[:n])
	return n, err
}

// NewProcess returns the process of recorded moments, with events that have their type,
// "control_request" and "control_response" with the id of the request.
func NewProcess(moments []Moment) *Process {
	p := &Process{}
	for _, m := range moments {
		switch {
		case m.Ev == "exit":
			p.Exit, p.Stderr = m.Exit, m.Stderr
		case m.Ev != "line":
		case m.Dir == "in":
			p.Stdin = append(p.Stdin, m.Line)
			m.N = len(p.Stdin)
		default:
			p.Stdout = append(p.Stdout, m.Line+"\n")
			m.N = len(p.Stdout)
		}
		p.Timeline = append(p.Timeline, m.Event)
	}
	return p
}
