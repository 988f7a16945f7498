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

// Trial lists the actions that a process tries in a box.
type Trial struct {
	Paths   []string // paths to read and to write
	Sockets []string // sockets to connect to
}

// Seen holds the results of a trial.
type Seen struct {
	Readable, Writable []string // the accessible paths; a directory is readable only if it is not empty
	Connected          []string // the reachable sockets
	Interfaces         []string // network interfaces that reach other machines
	Processes          int      // number of visible processes, without its own
	Variables          []string // names of the environment variables
}

// tryArgument makes a program that calls Enter perform the trial that it reads from standard input.
const tryArgument = "parley-box-try"

// Try creates another box with the same settings, and runs the trial in it.
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
