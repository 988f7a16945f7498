package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/ndjson"
	"github.com/seed7221b0f9/parley/internal/tape"
	"github.com/seed7221b0f9/parley/spawn"
)

// replayConn plays one recording. The player calls the protocol functions, which use ids.
type replayConn struct {
	r       *Replayer
	player  *tape.Player
	process spawn.Process
	lines   *ndjson.Reader
	exit    Entry
	closed  atomic.Bool
	ids     []string // pairs: the recorded id, the program's
}

func newReplayConn(ctx context.Context, r *Replayer, recording []Entry) (*replayConn, error) {
	c := &replayConn{r: r}
	hints := tape.Hints{EndsInput: true, Optional: map[int]bool{}}
	var moments []tape.Moment
	sent := 0
	for _, e := range recording {
		if e.Event == "exit" {
			c.exit = e
		}
		m := e.moment()
		moments = append(moments, m)
		if m.Dir == "in" && m.Ev == "line" {
			sent++
			hints.Optional[sent] = r.Lenient && (m.Type == "control_cancel_request" || m.Type == "keep_alive")
		}
	}
	c.player = tape.NewPlayer(tape.NewProcess(moments), hints)
	c.player.Protocol = &tape.Protocol{
		Key:      func(line string) (key, id string) { l := parseSent([]byte(line)); return l.kind(), l.RequestID },
		Rewrite:  func(line, _, _ string) string { return c.rename(line, 0) },
		Take:     c.take,
		PassOver: r.Lenient,
	}
	if !r.Lenient {
		c.player.Protocol.Missing = func(recorded string) error {
			return &ReplayError{What: "the program ended its input and did not send a line", Want: json.RawMessage(recorded)}
		}
	}
	process, err := c.player.Spawn(ctx, spawn.Command{})
	if err != nil {
		return nil, err
	}
	c.process, c.lines = process, ndjson.NewReader(process.Stdout(), maxLine)
	return c, nil
}

// sentLine holds the members that identify a line to the CLI.
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
	_ = json.Unmarshal(line, &l) // a line that is not an object has no kind
	return l
}

// kind returns the key by which a line is matched.
func (l sentLine) kind() string {
	switch l.Type {
	case "control_request":
		return l.Type + " " + l.Request.Subtype
	case "control_response":
		return l.Type + " " + l.Response.RequestID
	}
	return l.Type
}

// take compares a line of the program with the recorded one and records its ids.
func (c *replayConn) take(line, recorded, _ string) (reply string, err error) {
	got := parseSent([]byte(line))
	switch {
	case recorded != "":
		want := parseSent([]byte(recorded))
		c.learn(want.RequestID, got.RequestID)
		c.learn(want.UUID, got.UUID)
		if !c.r.Lenient && !c.same(line, recorded) {
			return "", &ReplayError{What: "the program sent another line", Got: json.RawMessage(line), Want: json.RawMessage(recorded)}
		}
	case !c.r.Lenient:
		return "", &ReplayError{What: "the program sent a line that is not in the recording", Got: json.RawMessage(line)}
	case got.Type == "control_request":
		return string(refusal(got)) + "\n", nil
	}
	return "", nil
}

// learn records the program's id for a recorded one.
func (c *replayConn) learn(recorded, own string) {
	if recorded != "" && own != "" && recorded != own {
		c.ids = append(c.ids, `"`+recorded+`"`, `"`+own+`"`)
	}
}

// rename replaces the recorded ids in a line by the program's, or with direction 1 the
// program's by the recorded ones.
func (c *replayConn) rename(line string, direction int) string {
	for i := 0; i < len(c.ids); i += 2 {
		line = strings.ReplaceAll(line, c.ids[i+direction], c.ids[i+1-direction])
	}
	return line
}

// same reports whether the program's line equals the recorded one, apart from ids.
func (c *replayConn) same(got, want string) bool {
	text := []byte(c.rename(got, 1))
	return reflect.DeepEqual(plainLine(c.r.Redactor.JSON(text)), plainLine([]byte(want)))
}

// plainLine returns a line without the members that differ from run to run.
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

func refusal(req sentLine) json.RawMessage {
	return mustEncode(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "error", "request_id": req.RequestID,
		"error": "Unsupported control request subtype: " + req.Request.Subtype + " is not in the recording", "error_code": "unsupported_request",
	}})
}

func (c *replayConn) Read(context.Context) (json.RawMessage, error) {
	line, err := c.lines.Next()
	if err == nil {
		return json.RawMessage(line.Text), nil
	}
	if err := c.failed(); err != nil {
		return nil, err
	}
	switch e := c.exit; {
	case c.closed.Load():
	case e.Error != "":
		return nil, errors.New(e.Error)
	case e.Code != 0 || e.Signal != "":
		return nil, &claude.ExitError{Code: e.Code, Signal: e.Signal, Stderr: e.Stderr}
	}
	return nil, io.EOF
}

// failed returns the difference between the program and the recording, and records it.
func (c *replayConn) failed() error {
	err := c.player.Err()
	if err != nil {
		c.r.fail(err)
	}
	return err
}

func (c *replayConn) Write(_ context.Context, line json.RawMessage) error {
	_, err := c.process.Stdin().Write(append(line[:len(line):len(line)], '\n'))
	if failed := c.failed(); failed != nil {
		return failed
	}
	return err
}

func (c *replayConn) CloseWrite() error { return c.process.Stdin().Close() }

// Close ends the replay; unplayed lines are not an error.
func (c *replayConn) Close() error {
	c.closed.Store(true)
	err := errors.Join(c.process.Kill(), c.process.Stdout().Close())
	_, waitErr := c.process.Wait()
	return errors.Join(err, waitErr)
}
