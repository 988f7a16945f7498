package joined

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/internal/textfile"
)

// tokenVariable is the environment variable with the token of a server. A flag would expose the token to all users of
// the machine.
const tokenVariable = "PARLEY_TOKEN"

// maxToken limits the size of a token.
const maxToken = 4 << 10

// token returns the token from the file, the environment or a line of standard input. It hides the
// token from agents: it removes it from the environment and protects the memory of this process.
func (f *Settings) token(ctx context.Context, in *os.File) (token string, err error) {
	token = os.Getenv(tokenVariable)
	if err := os.Unsetenv(tokenVariable); err != nil {
		return "", err
	}
	_, typed := term.TerminalWidth(in)
	switch {
	case f.tokenFile != "":
		token, err = readToken(f.tokenFile)
	case token == "" && typed:
		return "", term.Usagef("no token: set --token-file or %s, or pass a line on standard input", tokenVariable)
	case token == "":
		token, err = readLine(ctx, in)
		if err == io.EOF {
			err = nil // the last line has no line feed
		}
	}
	if err != nil {
		return "", err
	}
	if token = strings.TrimSpace(token); token == "" {
		return "", term.Usagef("the token is empty: set --token-file or %s, or pass a line on standard input", tokenVariable)
	}
	if err := proc.Hide(); err != nil {
		return "", fmt.Errorf("hiding the token from agents: %w", err)
	}
	return token, nil
}

// readLine reads a line until ctx ends. A goroutine may continue to read in after that, because
// reading from a terminal cannot be cancelled.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	type result struct {
		line string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		line, err := bufio.NewReader(io.LimitReader(in, maxToken)).ReadString('\n')
		read <- result{strings.TrimPrefix(line, "\ufeff"), err}
	}()
	select {
	case r := <-read:
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// readToken returns the token in a file that only its owner can read.
func readToken(name string) (string, error) {
	file, err := regularfile.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", term.Usagef("--token-file %s: other users can read it; chmod 600 %s", name, name)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxToken))
	return string(textfile.Trim(text)), err
}
