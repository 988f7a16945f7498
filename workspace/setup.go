package workspace

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

// maxSetupOutput is the number of bytes that are kept from the end of a setup command's output.
const maxSetupOutput = 64 << 10

// setup runs the setup command of a workspace and returns the end of its output. Processes that the command has started end with it.
func (m *Manager) setup(ctx context.Context, r record) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, m.opts.SetupTimeout)
	defer cancel()
	cmd := spawn.Command{Path: "/bin/sh", Args: []string{"-c", "exec 2>&1; " + r.Setup}, Dir: r.Path, Env: m.opts.SetupEnv}
	if runtime.GOOS == "windows" {
		cmd.Path, cmd.Args = "cmd", []string{"/c", r.Setup}
	}
	out := &tail{max: maxSetupOutput}
	p, err := proc.Start(ctx, cmd, proc.Options{Spawner: m.opts.Spawner, StderrTo: func(text []byte) { _, _ = out.Write(text) }})
	if err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() { _ = p.Kill() })
	err = p.Stdin().Close()
	_, _ = io.Copy(out, p.Stdout())
	<-p.Done()
	err = errors.Join(err, p.Close())
	switch status := p.Exit(); {
	case !stop():
		err = context.Cause(ctx)
	case err == nil && status.Err != nil:
		err = status.Err
	case err == nil && status.ExitStatus != (spawn.ExitStatus{}):
		err = errors.New(status.String())
	}
	return strings.ToValidUTF8(out.String(), "�"), err
}

// tail keeps the last bytes that are written to it, from any goroutine.
type tail struct {
	max int

	mu   sync.Mutex
	data []byte
	cut  bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if len(t.data) > 2*t.max {
		t.data, t.cut = append([]byte(nil), t.data[len(t.data)-t.max:]...), true
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	data, cut := t.data, t.cut
	if len(data) > t.max {
		data, cut = data[len(data)-t.max:], true
	}
	if cut {
		return "[…]\n" + string(data)
	}
	return string(data)
}
