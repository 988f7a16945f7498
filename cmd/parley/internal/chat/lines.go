package chat

import (
	"bufio"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// lines reports whether prompts are read line by line and not from an editor.
func (c *loop) lines() bool {
	_, ok := c.ui.(*screenUI)
	return !ok
}

// lineUI treats every line of the input as a prompt, and sends each when the previous one is
// answered. It writes no control sequences.
type lineUI struct {
	c      *loop
	in     *bufio.Reader
	prompt bool // a person types
	next   chan struct{}
	asked  bool // a line is being read
	ended  bool // the input has ended
}

func newLineUI(c *loop, in *os.File) *lineUI {
	_, terminal := term.TerminalWidth(in)
	return &lineUI{c: c, in: bufio.NewReader(in), prompt: terminal && c.con.Err.TTY, next: make(chan struct{}, 1)}
}

func (u *lineUI) start() {
	// This goroutine cannot be waited for: a read from a terminal or a pipe may block
	// forever.
	go func() {
		for range u.next {
			text, err := readPromptLines(u.in)
			u.c.post(func() {
				u.asked = false
				if text != "" || err == nil {
					u.c.submit(text)
				}
				u.ended = err != nil
			})
			if err != nil {
				return
			}
		}
	}()
	u.changed()
}

// changed reads the next line when no turn or command runs, or when the agent asks a
// question, and ends the conversation after the last line.
func (u *lineUI) changed() {
	if u.ended && u.c.o.Agent.Shared && (u.c.asking() || inactive(u.c.state)) {
		u.c.leave() // other clients answer
		return
	}
	if u.ended {
		u.c.unanswered()
	}
	if u.asked || u.c.leaving || (u.c.busy() || u.c.doing > 0) && !u.c.asking() {
		return
	}
	if len(u.c.held) > 0 && !u.c.asking() {
		text := u.c.held[0]
		u.c.held = u.c.held[1:]
		u.c.send(text)
		return
	}
	if u.ended {
		u.c.leave()
		return
	}
	u.asked = true
	if u.prompt {
		u.c.con.Lock()
		u.c.con.Err.Begin(term.Line, "")
		u.c.con.Err.Print(u.c.promptMark())
		u.c.con.Unlock()
	}
	u.next <- struct{}{}
}

// person reports whether the input is a person.
func (c *loop) person() bool {
	u, ok := c.ui.(*lineUI)
	return !ok || u.prompt
}

// inactive reports whether a session of a server in a state neither works nor waits for prompts.
func inactive(state string) bool {
	return !slices.Contains([]string{"", "idle", "running", "starting", "requires_action"}, state)
}

// promptMark returns the text before the typed input.
func (c *loop) promptMark() string {
	if c.asking() {
		return "? "
	}
	return "> "
}

func (u *lineUI) hold() {}

func (u *lineUI) stop() { close(u.next) }

// readPromptLines reads a line, and further lines while they end with a backslash.
func readPromptLines(in *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		text, err := in.ReadString('\n')
		text = strings.TrimRight(text, "\r\n")
		more, goesOn := strings.CutSuffix(text, `\`)
		b.WriteString(more)
		if !goesOn || err != nil {
			if err == io.EOF && b.Len() == 0 {
				return "", io.EOF
			}
			return b.String(), err
		}
		b.WriteByte('\n')
	}
}
