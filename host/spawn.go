package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/spawn"
)

const (
	maxKey = 4 << 10
	// maxSecret limits a file in the arguments.
	maxSecret = 16 << 20
)

// spawn starts an agent.
func (h *server) spawn(ctx context.Context, q request) (*agent, error) {
	if q.Command == nil {
		return nil, errors.New("no command")
	}
	o := AgentOptions{}
	if q.Options != nil {
		o = *q.Options
	}
	if len(o.Key) > maxKey || len(o.OrphanInput) > fragment {
		return nil, fmt.Errorf("invalid options: the key is limited to %d bytes, the input to %d", maxKey, fragment)
	}
	number, err := h.disk.increase(h.next)
	if err != nil {
		return nil, err
	}
	a := &agent{
		h: h, number: uint32(number), dir: filepath.Join(h.dir, agentsName, strconv.FormatUint(number, 10)),
		inputs: map[string]*input{}, exited: make(chan struct{}), done: make(chan struct{}),
	}
	a.room.L = &a.mu
	a.spool = newSpool(h.disk, a.dir, h.o.Spool)
	a.info = Agent{Number: a.number, Key: o.Key, Path: q.Command.Path, Dir: q.Command.Dir, Started: h.clock.Now()}
	a.setOrphan(o)
	if err := h.disk.mkdir(a.dir); err != nil {
		return nil, err
	}
	if err := a.start(ctx, *q.Command, o); err != nil {
		return nil, errors.Join(err, os.RemoveAll(a.dir))
	}
	return a, nil
}

// start starts the process and registers the agent.
func (a *agent) start(ctx context.Context, cmd spawn.Command, o AgentOptions) (err error) {
	defer func() {
		if err != nil {
			a.removeSecrets()
		}
	}()
	cmd, err = a.takeFiles(cmd)
	if err == nil {
		capture := spawn.Func(func(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
			p, err := a.h.spawner(o.KeepChildren).Spawn(ctx, cmd)
			a.raw = p
			return p, err
		})
		a.process, err = proc.Start(ctx, cmd, proc.Options{Spawner: capture, StderrTail: stderrTail, StderrTo: a.onStderr})
	}
	if err != nil {
		return err
	}
	a.info.PID = a.process.PID()
	if err := a.save(); err != nil {
		return errors.Join(err, a.process.Kill(), a.process.Close())
	}
	a.h.mu.Lock()
	defer a.h.mu.Unlock()
	if a.h.ending {
		return errors.Join(errors.New("the host is ending"), a.process.Kill(), a.process.Close())
	}
	a.h.agents[a.number] = a
	go a.watch()
	go a.read()
	return nil
}

// removeSecrets removes the files in the arguments, which only the agent needs.
func (a *agent) removeSecrets() {
	for _, path := range a.secrets {
		os.Remove(path)
	}
}

// takeFiles copies the files in the arguments to the host's folder until the agent ends, because the owner may
// remove its files. Files for another user are not copied, because that user cannot access the host's folder.
func (a *agent) takeFiles(cmd spawn.Command) (spawn.Command, error) {
	cmd.Args = slices.Clone(cmd.Args)
	for i, path := range cmd.Files {
		if cmd.User != "" {
			a.secrets = append(a.secrets, path)
			continue
		}
		text, err := regularfile.Read(path, maxSecret)
		if err != nil {
			return cmd, err
		}
		own := filepath.Join(a.h.temp, fmt.Sprintf("%d-%d-%s", a.number, i, filepath.Base(path)))
		a.secrets = append(a.secrets, own)
		if err := a.h.disk.write(own, text); err != nil {
			return cmd, err
		}
		for i, arg := range cmd.Args {
			cmd.Args[i] = strings.ReplaceAll(arg, path, own)
		}
	}
	return cmd, nil
}

// forget drops an agent that has ended, with its files.
func (h *server) forget(a *agent) error {
	a.mu.Lock()
	ended := a.exit != nil
	if ended {
		a.dropped = true
		a.room.Broadcast()
	}
	a.mu.Unlock()
	if !ended {
		return fmt.Errorf("agent %d has not ended", a.number)
	}
	<-a.done
	a.detach()
	err := errors.Join(a.process.Close(), os.RemoveAll(a.dir))
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.agents, a.number) // last, so that a removed agent never has files
	return err
}
