package claude_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/claude"
)

// recorded returns options that connect a program to a recording of the real CLI instead
// of starting one. Only this distinguishes the examples from real programs.
func recorded(scenario string) *claude.Options {
	return &claude.Options{Transport: replayed(filepath.Join("..", "testdata", "wire", scenario, "stdout.jsonl"))}
}

// replayed plays the output of a recorded CLI: up to a result for each prompt,
// and the recorded answer for each control request.
type replayed string

func (r replayed) Connect(context.Context) (claude.Conn, error) {
	data, err := os.ReadFile(string(r))
	if err != nil {
		return nil, err
	}
	c := &recordedConn{wake: make(chan struct{}, 1)}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, `{"type":"control_response"`):
			c.answers = append(c.answers, line)
		case line != "":
			c.lines = append(c.lines, line)
		}
	}
	return c, nil
}

type recordedConn struct {
	mu      sync.Mutex
	lines   []string // not yet played
	answers []string // answers to control requests, in order
	out     []string // to be read
	ended   bool
	wake    chan struct{}
}

func (c *recordedConn) Read(context.Context) (json.RawMessage, error) {
	for {
		c.mu.Lock()
		if len(c.out) > 0 {
			line := c.out[0]
			c.out = c.out[1:]
			c.mu.Unlock()
			return json.RawMessage(line), nil
		}
		ended := c.ended
		c.mu.Unlock()
		if ended {
			return nil, io.EOF
		}
		<-c.wake
	}
}

func (c *recordedConn) Write(_ context.Context, line json.RawMessage) error {
	var in struct {
		Type      string `json:"type"`
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return err
	}
	return c.do(func() error {
		if in.Type == "user" {
			c.play(true)
			return nil
		}
		if len(c.answers) == 0 {
			return errors.New("the recording has no answer to this request")
		}
		c.out = append(c.out, withID(c.answers[0], in.RequestID))
		c.answers = c.answers[1:]
		return nil
	})
}

// withID returns a recorded answer for another request.
func withID(answer, id string) string {
	_, rest, _ := bytes.Cut([]byte(answer), []byte(`"request_id":"`))
	old, _, _ := bytes.Cut(rest, []byte(`"`))
	return strings.Replace(answer, `"`+string(old)+`"`, `"`+id+`"`, 1)
}

// play moves lines to the output, up to a result and the state after it.
func (c *recordedConn) play(toResult bool) {
	result := false
	for len(c.lines) > 0 {
		state := strings.Contains(c.lines[0], `"session_state_changed"`)
		if toResult && result && !state {
			return
		}
		result = result || strings.Contains(c.lines[0], `"type":"result"`)
		c.out = append(c.out, c.lines[0])
		c.lines = c.lines[1:]
	}
}

func (c *recordedConn) CloseWrite() error {
	return c.do(func() error {
		c.play(false)
		c.ended = true
		return nil
	})
}

func (c *recordedConn) Close() error {
	return c.do(func() error { c.ended = true; return nil })
}

func (c *recordedConn) do(f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := f()
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return err
}
