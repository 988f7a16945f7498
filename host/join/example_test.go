package join_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/spawn"
)

// onlyNotes runs one program in one directory, and passes the server's lines to it.
type onlyNotes struct{}

func (onlyNotes) Start(_ context.Context, l host.Launch, start func(spawn.Command) error) error {
	if l.Agent != "notes" || l.Dir != "/srv/notes" {
		return fmt.Errorf("agent %q in %q is not offered", l.Agent, l.Dir)
	}
	return start(spawn.Command{Path: "/usr/bin/notes", Dir: l.Dir})
}

func (onlyNotes) Line(_ string, line []byte) ([]byte, error) { return line, nil }

// A machine offers an agent to a server until the context ends.
func Example() {
	offer := func(ctx context.Context, token string) error {
		return join.Run(ctx, join.Config{
			Server: "https://parley.example.com", Token: token, DataDir: "/var/lib/parley", Policy: onlyNotes{},
			Registration: host.Registration{Name: "workstation", Agents: []string{"notes"}, Dirs: []string{"/srv/notes"}},
			OnState:      func(s join.State) { log.Print("joined: ", s.Joined, " ", s.Err) },
		})
	}
	if false {
		log.Print(offer(context.Background(), "TOKEN"))
	}
}
