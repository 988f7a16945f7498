package codextest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/seed7221b0f9/parley/internal/tape"
	"github.com/seed7221b0f9/parley/spawn"
)

// Replay is a Spawner that plays the server's side of a recording: it writes each line of the
// server after the lines of the client that preceded it. It replaces the request ids of the
// recording by those of the current client.
//
// The client must make the same requests in the same order. A difference ends the run; Err returns
// the reason.
type Replay struct {
	process *tape.Process

	mu     sync.Mutex
	player *tape.Player // of the last run
}

// NewReplay returns a spawner that plays these lines to each client. The lines must be in recorded
// order.
func NewReplay(lines []Line) *Replay {
	var moments []tape.Moment
	for _, l := range lines {
		var m message
		if json.Unmarshal(l.Msg, &m) != nil {
			continue // not a message
		}
		moment := tape.Moment{Event: tape.Event{Dir: "out", Ev: "line"}, Line: string(l.Msg)}
		if l.Client {
			moment.Dir = "in"
		}
		switch {
		case m.ID == nil:
		case m.Method == "" && !l.Client:
			moment.Type, moment.RequestID = "control_response", string(m.ID)
		case m.Method != "" && l.Client:
			moment.Type, moment.RequestID = "control_request", string(m.ID)
		}
		moments = append(moments, moment)
	}
	moments = append(moments, tape.Moment{Event: tape.Event{Dir: "in", Ev: "eof"}})
	return &Replay{process: tape.NewProcess(moments)}
}

// Err returns the reason why the last run ended early, or nil.
func (r *Replay) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.player == nil || r.player.Err() == nil {
		return nil
	}
	return fmt.Errorf("codextest: replay: %w", r.player.Err())
}

// Spawn starts a run that plays the recorded lines from the start, without an operating system
// process.
func (r *Replay) Spawn(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
	p := tape.NewPlayer(r.process, tape.Hints{})
	p.Protocol = protocol
	r.mu.Lock()
	r.player = p
	r.mu.Unlock()
	return p.Spawn(ctx, cmd)
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// protocol matches requests and notifications by method, and responses by id.
var protocol = &tape.Protocol{
	Key: key,
	Rewrite: func(line, _, own string) string {
		var whole map[string]json.RawMessage
		if own == "" || json.Unmarshal([]byte(line), &whole) != nil {
			return line
		}
		whole["id"] = json.RawMessage(own)
		text, err := json.Marshal(whole)
		if err != nil {
			return line
		}
		return string(text) + "\n"
	},
	Take: func(line, _, next string) (string, error) {
		got, _ := key(line)
		if next == "" {
			return "", fmt.Errorf("the client sent %s after the end of the recording", got)
		}
		if want, _ := key(next); got != want {
			return "", fmt.Errorf("the client sent %s instead of %s", got, want)
		}
		return "", nil
	},
	Missing: func(recorded string) error {
		want, _ := key(recorded)
		return fmt.Errorf("the client ended before %s", want)
	},
}

func key(line string) (key, id string) {
	var m message
	_ = json.Unmarshal([]byte(line), &m) // a line that is not a message has no method
	if m.Method == "" {
		return "the answer to " + string(m.ID), ""
	}
	return m.Method, string(m.ID)
}
