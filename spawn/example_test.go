package spawn_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/spawn"
)

// This example shows a Spawner that would run the program of an agent in a container. It keeps the
// directory and passes only the names of the environment variables, because values do not belong in
// arguments.
func ExampleFunc() {
	container := func(next spawn.Spawner) spawn.Spawner {
		return spawn.Func(func(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
			args := []string{"run", "--rm", "--interactive", "--workdir", cmd.Dir, "agents", cmd.Path}
			cmd.Path, cmd.Args = "/usr/bin/podman", append(args, cmd.Args...)
			return next.Spawn(ctx, cmd)
		})
	}
	show := spawn.Func(func(_ context.Context, cmd spawn.Command) (spawn.Process, error) {
		fmt.Println(cmd.Path, cmd.Args)
		return nil, errors.New("this example starts nothing")
	})
	_, err := container(show).Spawn(context.Background(), spawn.Command{Path: "/usr/bin/claude", Args: []string{"--print"}, Dir: "/work"})
	fmt.Println(err)
	// Output:
	// /usr/bin/podman [run --rm --interactive --workdir /work agents /usr/bin/claude --print]
	// this example starts nothing
}
