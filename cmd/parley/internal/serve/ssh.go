package serve

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/host/sshlink"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/server"
)

// serverIDFile is the name of the file in the data directory with the id that identifies this
// server to machines over ssh and to containers. It is not secret.
const serverIDFile = "server-id"

// sshMachines returns the machines of --ssh.
func (f *Settings) sshMachines() ([]sshlink.Options, error) {
	var all []sshlink.Options
	names := map[string]bool{}
	for _, text := range f.ssh {
		o, err := sshlink.Parse(text)
		if err != nil {
			return nil, term.Usagef("--ssh %s: %v", text, err)
		}
		if names[o.Name] {
			return nil, term.Usagef("--ssh %s: there is another machine %q; add name=NAME", text, o.Name)
		}
		names[o.Name] = true
		all = append(all, o)
	}
	return all, nil
}

// linkMachines keeps the machines of --ssh linked until ctx ends. The returned function ends the links and waits.
func (f *Settings) linkMachines(ctx context.Context, s *server.Server) (func(), error) {
	all, err := f.sshMachines()
	if err != nil || len(all) == 0 {
		return func() {}, err
	}
	id, err := serverID(filepath.Join(f.Data, serverIDFile))
	if err != nil {
		return nil, err
	}
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var links sync.WaitGroup
	for _, o := range all {
		o.Server, o.Executable = id, executable
		links.Go(func() {
			s.LinkMachine(ctx, "ssh:"+o.Destination, func(ctx context.Context) (net.Conn, error) { return sshlink.Dial(ctx, o) })
		})
	}
	return func() {
		cancel()
		links.Wait()
	}, nil
}

// serverID returns the id in a file, which it creates with a random one if it does not exist.
func serverID(name string) (string, error) {
	text, err := regularfile.ReadNoFollow(name, 1<<10)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(random.Hex(16))
		err = os.WriteFile(name, append(text, '\n'), 0o600)
	}
	return strings.TrimSpace(string(text)), err
}
