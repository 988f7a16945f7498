package workspace_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/seed7221b0f9/parley/workspace"
)

// Create a worktree for an agent, show the agent's changes, revert a part and commit.
func Example() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	repo := filepath.Join(dir, "repo")
	script := `git init -q repo && cd repo && git config user.name U && git config user.email u@example.invalid &&
		echo hello > greeting && git add . && git commit -qm first`
	first := exec.Command("sh", "-c", script)
	first.Dir, first.Env = dir, env
	if err := first.Run(); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	m, err := workspace.Open(ctx, workspace.Options{Dir: filepath.Join(dir, "data"), Env: env})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	ws, err := m.Create(ctx, workspace.CreateOptions{Repo: repo, Branch: "better"})
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string]string{"greeting": "hello, world\n", "noise": "noise\n"} { // the agent's work
		if err := os.WriteFile(filepath.Join(ws.Path, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	tree, err := m.Tree(ctx, ws.Path, ws.ID)
	if err != nil {
		log.Fatal(err)
	}
	diff, err := tree.Diff(ctx, ws.Base, "")
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range diff.Files {
		fmt.Println(f.Kind, f.Path, f.Hunks[0].Lines)
	}
	if _, err := tree.Revert(ctx, workspace.RevertOptions{From: ws.Base, File: "noise"}); err != nil {
		log.Fatal(err)
	}
	c, err := tree.Commit(ctx, workspace.CommitOptions{Message: "Greet everybody", Session: "s-1"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Branch, c.Files)
	fmt.Println(m.Remove(ctx, ws.ID, workspace.RemoveOptions{KeepBranch: true}))
	// Output:
	// update greeting [-hello +hello, world]
	// add noise [+noise]
	// better [greeting]
	// <nil>
}
