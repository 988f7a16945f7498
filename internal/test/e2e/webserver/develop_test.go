package webserver

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/server/preview"
)

// developer is a stage whose agents start a development server, as agents do with a command.
type developer struct {
	*stage
	command []string
}

// Name returns the provider's name.
func (*developer) Name() string { return "developer" }

// Resume starts an actor that continues a session, with a new server.
func (p *developer) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	opts.ID = id
	return p.Open(ctx, opts)
}

// Open starts an actor and its server, which ends with its standard input.
func (p *developer) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	s, err := p.stage.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(p.command[0], p.command[1:]...)
	cmd.Env, cmd.Stderr = opts.Env, os.Stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return &developing{actor: s.(*actor), end: sync.OnceFunc(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})}, nil
}

// developing is a session with a server.
type developing struct {
	*actor
	end func()
}

// Close ends the session with its server.
func (s *developing) Close() error {
	s.end()
	return s.actor.Close()
}

// develop adds the developer, previews and push messages to the options. Previews are served on
// the listener that it returns.
func (f flags) develop(opts *server.Options) (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	origins, err := preview.ParseOrigins(fmt.Sprintf("http://*.localhost:%d", l.Addr().(*net.TCPAddr).Port))
	if err != nil {
		return nil, err
	}
	opts.Preview, opts.Push, opts.Env = &origins, true, []string{"PATH=" + os.Getenv("PATH")}
	opts.Providers = append([]agent.Provider{&developer{&stage{corpus: f.recordings()}, strings.Fields(f.dev)}}, opts.Providers...)
	return l, nil
}
