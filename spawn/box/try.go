package box

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"

	"github.com/seed7221b0f9/parley/spawn"
)

// Trial lists what a process tries in a box.
type Trial struct {
	Paths   []string // to read and to write
	Sockets []string // to connect to
}

// Seen holds the findings of a process in a box.
type Seen struct {
	Readable, Writable []string // of the paths; of a directory, one that is not empty can be read
	Connected          []string // of the sockets
	Interfaces         []string // of the network that reach other machines
	Processes          int      // all that it sees, without its own
	Variables          []string // names
}

// tryArgument makes a program that calls Enter perform the trial that it reads from standard input.
const tryArgument = "parley-box-try"

// Try makes another box like this, and tries from inside.
func (b *Box) Try(ctx context.Context, dir string, env []string, t Trial) (Seen, error) {
	cmd, err := b.Command(spawn.Command{Path: b.Init, Args: []string{tryArgument}, Dir: dir, Env: env})
	if err != nil {
		return Seen{}, err
	}
	return t.run(ctx, cmd)
}

// run runs the command of a trial.
func (t Trial) run(ctx context.Context, cmd spawn.Command) (seen Seen, err error) {
	input, err := json.Marshal(t)
	if err != nil {
		return seen, err
	}
	c := exec.CommandContext(ctx, cmd.Path, cmd.Args...)
	c.Dir, c.Env, c.Stdin = cmd.Dir, cmd.Env, bytes.NewReader(input)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err == nil {
		err = json.Unmarshal(out, &seen)
	}
	if err != nil {
		return seen, fmt.Errorf("%w: %w: %s", ErrUnavailable, err, strings.TrimSpace(stderr.String()))
	}
	return seen, nil
}
