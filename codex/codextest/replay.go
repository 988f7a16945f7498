package codextest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/seed7221b0f9/parley/spawn"
)

// Replay is a Spawner that plays the server's part of a recording: it says what the server
// said, each line after the lines of the client that it came after. The ids of requests are
// those of the client that is there, not those of the recording.
//
// The client must make the same requests in the same order. One that differs ends the run;
// Err says why.
type Replay struct {
	lines []Line

	mu  sync.Mutex
	err error
}

// NewReplay returns a spawner that plays these lines to each client. The lines must be in their
// recorded order.
func NewReplay(lines []Line) *Replay { return &Replay{lines: lines} }

// Err is why the last run ended before the recording did; nil if it did not.
func (r *Replay) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Spawn starts a run that plays the recorded lines from the start, without a process of the
// system.
func (r *Replay) Spawn(context.Context, spawn.Command) (spawn.Process, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &player{lines: r.lines, in: bufio.NewReader(inR), out: outW, ids: map[string]json.RawMessage{}, asked: map[string][]json.RawMessage{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := p.play()
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
		if err == nil {
			_, _ = io.Copy(io.Discard, inR) // until the client closes
		}
		_ = inR.Close()
		_ = outW.Close()
	}()
	return &replayProcess{stdin: inW, stdout: outR, inR: inR, done: done}, nil
}

// player plays one run.
type player struct {
	lines []Line
	in    *bufio.Reader
	out   io.Writer
	ids   map[string]json.RawMessage   // recorded id of a client's request → the id that it has now
	asked map[string][]json.RawMessage // method → ids of requests that came early
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

func (p *player) play() error {
	for _, l := range p.lines {
		var m message
		if json.Unmarshal(l.Msg, &m) != nil {
			continue // was not a message
		}
		var err error
		if l.Client {
			err = p.expect(m)
		} else {
			err = p.say(m, l.Msg)
		}
		if err != nil {
			return fmt.Errorf("codextest: line %d of the recording: %w", l.Seq, err)
		}
	}
	return nil
}

// expect waits for the client's line that stands for a recorded one.
func (p *player) expect(want message) error {
	for {
		if early := p.asked[want.Method]; want.Method != "" && want.ID != nil && len(early) > 0 {
			p.asked[want.Method] = early[1:]
			p.ids[string(want.ID)] = early[0]
			return nil
		}
		line, err := p.in.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("the client ended before %s: %w", want.Method, err)
		}
		var got message
		if err := json.Unmarshal(line, &got); err != nil {
			return err
		}
		switch {
		case got.Method == want.Method && got.ID == nil && want.ID == nil:
			return nil
		case got.Method == "" && want.Method == "" && string(got.ID) == string(want.ID):
			return nil
		case got.Method != "" && got.ID != nil:
			p.asked[got.Method] = append(p.asked[got.Method], got.ID)
			if got.Method != want.Method {
				return fmt.Errorf("the client asked %s instead of %s", got.Method, want.Method)
			}
		default:
			return fmt.Errorf("the client said %.100s instead of %s", line, want.Method)
		}
	}
}

// say writes a recorded line, with the id of the request that it answers.
func (p *player) say(m message, msg json.RawMessage) error {
	if m.Method == "" && m.ID != nil {
		id, ok := p.ids[string(m.ID)]
		if !ok {
			return nil // an answer to what was never asked
		}
		var whole map[string]json.RawMessage
		if err := json.Unmarshal(msg, &whole); err != nil {
			return err
		}
		whole["id"] = id
		var err error
		if msg, err = json.Marshal(whole); err != nil {
			return err
		}
	}
	_, err := p.out.Write(append(append([]byte(nil), msg...), '\n'))
	if errors.Is(err, io.ErrClosedPipe) {
		return errors.New("the client has gone")
	}
	return err
}

type replayProcess struct {
	stdin  *io.PipeWriter
	stdout *io.PipeReader
	inR    *io.PipeReader
	done   chan struct{}
}

func (p *replayProcess) Stdin() io.WriteCloser { return p.stdin }

func (p *replayProcess) Stdout() io.ReadCloser { return p.stdout }

func (p *replayProcess) Stderr() io.ReadCloser { return nil }

func (p *replayProcess) PID() int { return 0 }

func (p *replayProcess) Terminate() error { return p.Kill() }

func (p *replayProcess) Kill() error {
	_ = p.inR.Close()
	_ = p.stdout.Close()
	return nil
}

func (p *replayProcess) Wait() (spawn.ExitStatus, error) {
	<-p.done
	return spawn.ExitStatus{}, nil
}
