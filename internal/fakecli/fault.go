package fakecli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// Hang never returns, even after the end of the input. Only a signal ends it.
func (c *CLI) Hang() {
	// A timer, because the runtime panics if all goroutines are blocked forever.
	for range time.Tick(time.Hour) {
	}
}

// NumberedText returns the text of the n-th message of [CLI.EmitNumbered], counted from 0, for
// comparison.
func NumberedText(n int) string { return fmt.Sprintf("message %d", n) }

// EmitNumbered writes the messages number from to to-1, each with its [NumberedText], several
// per write. They are the blocks of one answer.
func (c *CLI) EmitNumbered(from, to int) {
	m := c.AssistantText("TEXT")
	// Encoding thousands of messages one by one would be too slow.
	head, rest, _ := bytes.Cut(c.encode(m), []byte(m.UUID))
	middle, tail, _ := bytes.Cut(rest, []byte("TEXT"))
	if bytes.Contains(head, []byte("TEXT")) {
		panic("claudetest: the uuid of a message comes after its content")
	}
	var b bytes.Buffer
	for n := from; n < to; n++ {
		b.Write(head)
		b.WriteString(c.UUID())
		b.Write(middle)
		b.WriteString(NumberedText(n))
		b.Write(tail)
		b.WriteByte('\n')
		if b.Len() > 32<<10 || n == to-1 {
			c.EmitRaw(b.Bytes())
			b.Reset()
		}
	}
}

// Burst writes at least size bytes of numbered messages and returns their number. A program
// that calls it before it reads blocks an SDK that does not read while it writes.
func (c *CLI) Burst(size int) (messages int) {
	each := len(c.encode(c.AssistantText(NumberedText(0))))
	messages = size/each + 1
	c.EmitNumbered(0, messages)
	return messages
}

// EmitHuge writes an answer with a line of at least size bytes, in writes of 64 KiB. Its text
// is size times the letter x.
func (c *CLI) EmitHuge(size int) {
	const mark = "HUGE"
	line := c.encode(c.AssistantText(mark))
	head, tail, _ := bytes.Cut(line, []byte(mark))
	c.writing.Lock()
	defer c.writing.Unlock()
	_, _ = c.out.Write(head)
	piece := bytes.Repeat([]byte("x"), 64<<10)
	for rest := size; rest > 0; rest -= len(piece) {
		_, _ = c.out.Write(piece[:min(rest, len(piece))])
	}
	_, _ = c.out.Write(append(tail, '\n'))
}

// EmitSplit writes a line in pieces of n bytes, each in a separate write, which splits
// multi-byte characters.
func (c *CLI) EmitSplit(line any, n int) {
	var b bytes.Buffer
	c.appendLine(&b, line)
	c.writing.Lock()
	defer c.writing.Unlock()
	for piece := range slices.Chunk(b.Bytes(), max(n, 1)) {
		_, _ = c.out.Write(piece)
	}
}

// AnswerReversed makes the CLI wait for n control requests of a subtype and then answer them
// in reverse order with the function answer, each one twice if twice is set.
func (c *CLI) AnswerReversed(subtype string, n int, twice bool, answer ControlHandler) {
	var mu sync.Mutex
	var waiting []ControlRequest
	c.OnControl(subtype, func(req ControlRequest) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		if waiting = append(waiting, req); len(waiting) < n {
			return nil, ErrNoAnswer
		}
		for _, req := range slices.Backward(waiting) {
			body, err := answer(req)
			c.Respond(req.ID, body, err)
			if twice {
				c.Respond(req.ID, body, err)
			}
		}
		waiting = nil
		return nil, ErrNoAnswer
	})
}

// holdProgram is the program of a Grandchild.
const holdProgram = "claudetest.hold"

// holdTime limits the life of a grandchild.
const holdTime = time.Minute

func hold() {
	time.Sleep(holdTime)
	os.Exit(0)
}

// Grandchild starts a process that keeps the CLI's standard streams open for a minute, like a
// server that a tool has started, and returns its id. With detached it leaves the process
// group of the CLI (not on Windows), and the test must end it. It only works in programs of
// [Options].
func (c *CLI) Grandchild(detached bool) (pid int, err error) {
	path, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(path)
	for k, v := range programEnv(holdProgram) {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if detached {
		detach(cmd)
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	return cmd.Process.Pid, nil
}
