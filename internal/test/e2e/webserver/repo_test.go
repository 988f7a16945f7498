package webserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// retryFile is a file of the repository in which scenes change two places.
const retryFile = `package upload

import (
	"context"
	"time"
)

// Policy says how often a part is tried.
type Policy struct {
	Wait time.Duration
}

// Default is the policy of an uploader without one.
var Default = Policy{
	Wait: time.Second,
}

// Uploader sends parts to a store.
type Uploader struct {
	policy Policy
	put    func(context.Context, Part) error
}

// Part is a piece of an upload.
type Part struct {
	N    int
	Data []byte
}

// retryPart sends a part until the store takes it.
func (u *Uploader) retryPart(ctx context.Context, p Part) error {
	for {
		err := u.put(ctx, p)
		if err == nil {
			return nil
		}
		time.Sleep(u.policy.Wait)
	}
}
`

// rework holds the replacements of the scene of that name.
var rework = strings.NewReplacer(
	"\tWait time.Duration\n", "\tWait     time.Duration\n\tAttempts int\n\tTotal    time.Duration\n",
	"\tWait: time.Second,\n", "\tWait:     time.Second,\n\tAttempts: 6,\n\tTotal:    2 * time.Minute,\n",
	"\tfor {\n\t\terr := u.put(ctx, p)\n", "\tvar first error\n\tfor range u.policy.Attempts {\n\t\terr := u.put(ctx, p)\n",
	"\t\ttime.Sleep(u.policy.Wait)\n\t}\n}\n", "\t\tfirst = cmp.Or(first, err)\n\t\ttime.Sleep(u.policy.Wait)\n\t}\n\treturn first\n}\n",
)

// makeRepo makes the project a git repository with one commit.
func makeRepo(dir string) error {
	files := map[string]string{"upload/retry.go": retryFile, "README.md": "# Harbour\n\nUploads that end.\n"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"}, {"config", "user.name", "Ada"}, {"config", "user.email", "ada@example.com"},
		{"add", "--all"}, {"commit", "--quiet", "--message=Begin"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}
