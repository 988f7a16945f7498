package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed7221b0f9/parley/spawn"
)

var _ spawn.LineProcess = (*Process)(nil)

// NextLine is like [Process.Next] but has the signature that package spawn requires; it returns
// io.EOF at the end of the output.
func (p *Process) NextLine(ctx context.Context) (spawn.Line, error) {
	r, err := p.Next(ctx)
	line := spawn.Line{Number: r.Number, Input: r.Kind != Output}
	switch {
	case err != nil:
		return spawn.Line{}, err
	case r.Kind == Output || r.Kind == Input:
		line.Text = bytes.TrimSuffix(r.Data, []byte("\n"))
	case r.Kind == OutputEnd || r.Kind == Exited:
		return spawn.Line{}, io.EOF
	}
	return line, nil
}

// WriteLine is like [Process.Write] but has the signature that package spawn requires.
func (p *Process) WriteLine(ctx context.Context, id string, text []byte) error {
	line := make([]byte, 0, len(text)+1)
	_, err := p.Write(ctx, id, append(append(line, text...), '\n'))
	if errors.Is(err, ErrInputClosed) {
		return fmt.Errorf("%w: %w", os.ErrClosed, err)
	}
	return err
}
