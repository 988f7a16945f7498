package chat

import (
	"context"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/textfile"
	"io"
	"os"
	"strings"
	"time"
)

// patience is the time without standard input after which a note is shown.
const patience = 3 * time.Second

// ReadPrompt combines the prompt from the arguments and standard input.
func ReadPrompt(ctx context.Context, args []string, stdin *os.File, note func(string)) (string, error) {
	text := strings.Join(args, " ")
	_, terminal := term.TerminalWidth(stdin)
	fromInput := text == "-"
	if fromInput {
		text = ""
	}
	if fromInput || text == "" && !terminal || text != "" && isPiped(stdin) {
		input, err := readAll(ctx, stdin, note)
		if err != nil {
			return "", err
		}
		text = join(text, input)
	}
	if strings.TrimSpace(text) == "" {
		return "", term.Usagef("no prompt: write it as an argument, or to standard input")
	}
	return text, nil
}

func join(prompt, input string) string {
	if prompt == "" || strings.TrimSpace(input) == "" {
		return prompt + input
	}
	return prompt + "\n\n" + input
}

// isPiped reports whether standard input is a pipe or a file; a device, such as a terminal or
// the null device, does not count.
func isPiped(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}

// readAll reads all of f, and stops when ctx ends.
func readAll(ctx context.Context, f *os.File, note func(string)) (string, error) {
	type content struct {
		text string
		err  error
	}
	read := make(chan content, 1)
	go func() {
		data, err := io.ReadAll(f)
		read <- content{string(textfile.Trim(data)), err}
	}()
	silence := time.NewTimer(patience)
	defer silence.Stop()
	for {
		select {
		case c := <-read:
			if c.err != nil {
				return "", term.Usagef("reading standard input: %v", c.err)
			}
			return c.text, nil
		case <-silence.C:
			note("waiting for the end of standard input")
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}
