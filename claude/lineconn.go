package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"

	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/internal/deadline"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/internal/ndjson"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/spawn"
)

// lineConn connects to a process under a host, which numbers and stores its lines. Lines written to the CLI are also
// read back, in order with the CLI's lines.
type lineConn struct {
	*processConn
	lines   spawn.LineProcess
	maxLine int
	last    spawn.Line // the last line that was read
	n       int
}

// withLines returns a connection that reads and writes numbered lines if the process has them, and
// conn otherwise.
func withLines(c *processConn, lines spawn.LineProcess, l *launch) Conn {
	if lines == nil {
		return c
	}
	limit := l.MaxLine
	if limit <= 0 {
		limit = ndjson.DefaultMaxLine
	}
	return &lineConn{processConn: c, lines: lines, maxLine: limit}
}

func (c *lineConn) Read(ctx context.Context) (json.RawMessage, error) {
	for {
		line, err := c.readLine(ctx)
		if err != nil || !c.last.Input {
			return json.RawMessage(line.Text), err
		}
	}
}

func (c *lineConn) readLine(ctx context.Context) (ndjson.Line, error) {
	c.reading.Store(true)
	line, err := c.lines.NextLine(ctx)
	if err != nil {
		c.last = spawn.Line{}
		return ndjson.Line{}, c.ending(err)
	}
	c.last = line
	c.n++
	text := bytes.TrimRight(line.Text, "\r")
	if len(text) > c.maxLine && !line.Input {
		return ndjson.Line{Text: string(text[:4<<10]), Size: len(text), TooLong: true}, nil
	}
	return ndjson.Line{Text: string(text), Size: len(text)}, nil
}

func (c *lineConn) reads() int { return c.n }

// Write writes a line under its id. An answer or a prompt has the same id each time it is written,
// so that it reaches the CLI once.
func (c *lineConn) Write(ctx context.Context, line json.RawMessage) error {
	limit := deadline.Or(c.writeTime, defaultWrite)
	ctx, cancel := deadline.With(ctx, limit, os.ErrDeadlineExceeded)
	defer cancel()
	err := c.lines.WriteLine(ctx, lineID(string(line)), line)
	if errors.Is(err, os.ErrClosed) {
		return ErrClosed
	}
	return err
}

// writeParts joins the parts and writes them as one line, because the host numbers whole lines.
func (c *lineConn) writeParts(ctx context.Context, parts iter.Seq[[]byte]) error {
	return c.Write(ctx, promptLine{parts: parts}.text())
}

// lineID returns the id of a line to the CLI, derived from the request that it answers or from the
// prompt's uuid, or else random.
func lineID(line string) string {
	id := ""
	if answered := control.AnswerID(line); answered != "" {
		id = "answer-" + answered
	} else if d := jsonwire.NewDecoder(line); d.Peek("type") == "user" {
		if uuid := jsonwire.NewDecoder(line).Peek("uuid"); uuid != "" {
			id = "prompt-" + uuid
		}
	}
	if id == "" || len(id) > 255 {
		return "line-" + random.UUID()
	}
	return id
}

// processOf returns the process of a connection, or nil if it does not run here.
func processOf(c wire) *processConn {
	switch c := c.(type) {
	case *processConn:
		return c
	case *lineConn:
		return c.processConn
	}
	return nil
}
