package claude_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/tape"
	"github.com/seed7221b0f9/parley/spawn"
)

// The Spawner starts the CLI anywhere: in a container, over ssh. Here it plays a recording.
func ExampleProcessTransport() {
	rec, err := readRecording(filepath.Join("..", "testdata", "wire", "simple-string"), nil)
	if err != nil {
		log.Fatal(err)
	}
	player := tape.NewPlayer(rec.Processes["."], tape.Hints{})
	elsewhere := spawn.Func(func(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
		fmt.Println(cmd.Args)
		return player.Spawn(ctx, cmd)
	})
	result, err := claude.Run(context.Background(), "Say hello", &claude.Options{Spawner: elsewhere})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
	// Output:
	// [--output-format stream-json --verbose --input-format stream-json]
	// Hello from fake
}
