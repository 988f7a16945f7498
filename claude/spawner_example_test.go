package claude_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claudetest"
)

// The CLI runs wherever the Spawner starts it: in a container, behind ssh. Here
// a recording is played in its place.
func ExampleSpawnerFunc() {
	rec, err := claudetest.ReadRecording(filepath.Join("..", "testdata", "wire", "simple-string"), nil)
	if err != nil {
		log.Fatal(err)
	}
	player := claudetest.NewPlayer(rec.Processes["."], nil)
	elsewhere := claude.SpawnerFunc(func(ctx context.Context, cmd claude.Command) (claude.Process, error) {
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
