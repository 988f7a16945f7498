package joined

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/internal/proc"
)

// savedToken is the name of the file in the host's directory that stores the token from a code.
const savedToken = "token"

// credential returns the token for a server, and reports whether the token was saved from an earlier code. At a
// terminal it asks for a code, exchanges it for a token, and saves the token in dir, readable by the user only.
func (f *Settings) credential(ctx context.Context, server, dir string, in *os.File, out io.Writer) (token string, kept bool, err error) {
	_, typed := term.TerminalWidth(in)
	given := f.tokenFile != "" || os.Getenv(tokenVariable) != ""
	if !given && typed {
		token, err = readToken(filepath.Join(dir, savedToken))
		switch {
		case err == nil:
			return strings.TrimSpace(token), true, proc.Hide()
		case !errors.Is(err, fs.ErrNotExist):
			return "", false, err
		}
		fmt.Fprintf(out, "The code that the page of %s shows under Machines, Add machine: ", server)
		if token, err = readLine(ctx, in); err != nil {
			return "", false, err
		}
		token = strings.TrimSpace(token)
		if err := proc.Hide(); err != nil {
			return "", false, err
		}
	} else if token, err = f.token(ctx, in); err != nil {
		if saved, readErr := readToken(filepath.Join(dir, savedToken)); !given && readErr == nil {
			return strings.TrimSpace(saved), true, proc.Hide()
		}
		return "", false, err
	}
	if !join.IsCode(token) {
		return token, false, nil
	}
	if token, err = join.Pair(ctx, server, token); err != nil {
		return "", false, fmt.Errorf("the code was not accepted: %w", err)
	}
	return token, true, keepToken(dir, token)
}

// keepToken saves a token in the host's directory.
func keepToken(dir, token string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, savedToken+"-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = file.WriteString(token + "\n")
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, savedToken))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// forgetToken removes a saved token that the server has refused, so that the next start asks for a code.
func forgetToken(dir string, err error) error {
	if status, ok := errors.AsType[*join.StatusError](err); !ok || !status.Permanent() {
		return err
	}
	return errors.Join(fmt.Errorf("%w; the kept token was removed, and a new code joins again", err), os.Remove(filepath.Join(dir, savedToken)))
}
