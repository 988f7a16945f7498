package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/claude"
)

// replayConn plays one recording.
type replayConn struct {
	r *Replayer

	mu      sync.Mutex
	changed sync.Cond
	entries []*playEntry            // not yet played, but for a few at the front
	wanted  map[string][]*playEntry // what the program is still to send, by kind
	asked   map[string]*playEntry   // the recorded control requests, by id
	extra   []json.RawMessage       // refusals, to be read next
	ids     []string                // pairs: the recorded id, the program's
	eof     bool                    // the program has ended the input
	end     error                   // what Read returns from now on
}

// playEntry is an entry of a recording that is being played.
type playEntry struct {
	Entry
	matched bool       // the program has sent it
	played  bool       // it was read
	request *playEntry // of an answer to a control request: that request
}

func newReplayConn(r *Replayer, recording []Entry) *replayConn {
	c := &replayConn{r: r, wanted: map[string][]*playEntry{}, asked: map[string]*playEntry{}}
	c.changed.L = &c.mu
	for _, e := range recording {
		p := &playEntry{Entry: e}
		c.entries = append(c.entries, p)
		l := parseSent(e.Line)
		switch {
		case e.Event != "":
		case e.Dir == "in":
			c.wanted[l.kind()] = append(c.wanted[l.kind()], p)
			if l.Type == "control_request" {
				c.asked[l.RequestID] = p
			}
		case l.Type == "control_response":
			p.request = c.asked[l.Response.RequestID]
		}
	}
	return c
}

// sentLine is what matters in a line that the CLI is sent.
type sentLine struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	UUID      string `json:"uuid"`
	Request   struct {
		Subtype string `json:"subtype"`
	} `json:"request"`
	Response struct {
		RequestID string `json:"request_id"`
	} `json:"response"`
}

func parseSent(line json.RawMessage) (l sentLine) {
	_ = json.Unmarshal(line, &l) // what is not an object has no kind
	return l
}

// kind is what a line is matched by.
func (l sentLine) kind() string {
	switch l.Type {
	case "control_request":
		return l.Type + " " + l.Request.Subtype
	case "control_response":
		return l.Type + " " + l.Response.RequestID
	}
	return l.Type
}

func (c *replayConn) Read(context.Context) (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if len(c.extra) > 0 {
			line := c.extra[0]
			c.extra = c.extra[1:]
			return line, nil
		}
		if c.end != nil {
			return nil, c.end
		}
		if len(c.entries) == 0 {
			c.end = io.EOF
			continue
		}
		line, ok := c.play(c.entries[0])
		if !ok {
			line = c.answer()
		}
		switch {
		case line != nil:
			return line, nil
		case !ok && c.end == nil:
			c.changed.Wait()
		}
	}
}

// play plays the next entry; mu is held. It is false if the program has to send
// something first.
func (c *replayConn) play(e *playEntry) (line json.RawMessage, ok bool) {
	switch {
	case e.played:
	case e.Event == "exit":
		c.end = exitOf(e.Entry)
	case e.Event == "eof":
		if !c.eof {
			return nil, false
		}
	case e.Dir == "in":
		if !e.matched && !c.passOver(e) {
			return nil, false
		}
	case e.Dir == "out":
		line = c.output(e)
	}
	c.entries = c.entries[1:]
	return line, true
}

// output is what the CLI wrote, with the ids of this program.
func (c *replayConn) output(e *playEntry) json.RawMessage {
	e.played = true
	if e.Line == nil {
		return json.RawMessage(e.Text)
	}
	return json.RawMessage(c.rename(string(e.Line), 0))
}

// answer is an answer to a control request that the program has sent, of those
// that are recorded further on: the recorded program may have sent something in
// between that this one sends only when it has the answer.
func (c *replayConn) answer() json.RawMessage {
	for _, e := range c.entries {
		if e.request != nil && e.request.matched && !e.played {
			return c.output(e)
		}
	}
	return nil
}

// passOver reports whether the replay goes on without a line that the program has
// not sent.
func (c *replayConn) passOver(e *playEntry) bool {
	typ := parseSent(e.Line).Type
	switch {
	case c.r.Lenient:
		return c.eof || typ == "control_cancel_request" || typ == "keep_alive"
	case c.eof:
		c.fail(&ReplayError{What: "the program ended its input and did not send a line", Want: e.Line})
	}
	return false
}

func exitOf(e Entry) error {
	switch {
	case e.Error != "":
		return errors.New(e.Error)
	case e.Code != 0 || e.Signal != "":
		return &claude.ExitError{Code: e.Code, Signal: e.Signal, Stderr: e.Stderr}
	}
	return io.EOF
}

// match notes that the program has sent the line that a recorded one stands for.
func (c *replayConn) match(line json.RawMessage, got sentLine, e *playEntry) {
	e.matched = true
	want := parseSent(e.Line)
	c.learn(want.RequestID, got.RequestID)
	c.learn(want.UUID, got.UUID)
	if !c.r.Lenient && !c.same(line, e.Line) {
		c.fail(&ReplayError{What: "the program sent another line", Got: line, Want: e.Line})
	}
}

func (c *replayConn) fail(err *ReplayError) {
	c.end = err
	c.r.fail(err)
}

// learn remembers which id stands for a recorded one.
func (c *replayConn) learn(recorded, own string) {
	if recorded != "" && own != "" && recorded != own {
		c.ids = append(c.ids, `"`+recorded+`"`, `"`+own+`"`)
	}
}

// rename puts the program's ids into a recorded line, or with 1 the recorded ones
// into the program's.
func (c *replayConn) rename(line string, direction int) string {
	for i := 0; i < len(c.ids); i += 2 {
		line = strings.ReplaceAll(line, c.ids[i+direction], c.ids[i+1-direction])
	}
	return line
}

// same reports whether the program's line is the recorded one, apart from ids.
func (c *replayConn) same(got, want json.RawMessage) bool {
	text := []byte(c.rename(string(got), 1))
	return reflect.DeepEqual(plainLine(c.r.Redactor.JSON(text)), plainLine(want))
}

// plainLine is a line without what differs from run to run.
func plainLine(line []byte) any {
	var v map[string]any
	if json.Unmarshal(line, &v) != nil {
		return string(line)
	}
	for _, name := range []string{"request_id", "uuid", "session_id"} {
		delete(v, name)
	}
	return v
}

func (c *replayConn) Write(_ context.Context, line json.RawMessage) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		if _, mismatch := errors.AsType[*ReplayError](c.end); mismatch {
			return c.end
		}
		return io.ErrClosedPipe
	}
	defer c.changed.Broadcast()
	line = append(json.RawMessage(nil), line...)
	got := parseSent(line)
	kind := got.kind()
	if wanted := c.wanted[kind]; len(wanted) > 0 {
		c.wanted[kind] = wanted[1:]
		c.match(line, got, wanted[0])
		return nil
	}
	if !c.r.Lenient {
		c.fail(&ReplayError{What: "the program sent a line that is not in the recording", Got: line})
		return c.end
	}
	if got.Type == "control_request" {
		c.extra = append(c.extra, refusal(got))
	}
	return nil
}

func refusal(req sentLine) json.RawMessage {
	return mustEncode(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "error", "request_id": req.RequestID,
		"error": "Unsupported control request subtype: " + req.Request.Subtype + " is not in the recording", "error_code": "unsupported_request",
	}})
}

func (c *replayConn) CloseWrite() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.eof = true
	c.changed.Broadcast()
	return nil
}

// Close ends the replay where it is; what was not played is not missed.
func (c *replayConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.eof = true
	if c.end == nil {
		c.end = io.EOF
	}
	c.changed.Broadcast()
	return nil
}
