package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// webScript finds changes with the compiler of TypeScript, and checks their types.
//
//go:embed web.mjs
var webScript []byte

// webLanguage is a folder of the page.
type webLanguage struct {
	root, scratch string
	group         group
	were          map[string][]byte // original files of the copy that were changed
}

// node runs the script in the folder of the page, where its tools are.
func (l *webLanguage) node(ctx context.Context, in, out any, args ...string) error {
	if err := l.sh(ctx, "scripts/generate-web", "--install"); err != nil {
		return err
	}
	script := filepath.Join(l.root, "web", "mutants.mjs")
	if err := os.WriteFile(script, webScript, 0o600); err != nil {
		return err
	}
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "node", append([]string{script}, args...)...)
	cmd.Dir, cmd.Stdin = l.root, bytes.NewReader(text)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	answer, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("node: %w\n%s", err, firstLines(stderr.String(), 20))
	}
	return json.Unmarshal(answer, out)
}

func (l *webLanguage) sh(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = l.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", args[0], err, firstLines(string(out), 20))
	}
	return nil
}

func (l *webLanguage) changes(ctx context.Context) ([]change, error) {
	var all []change
	if err := l.node(ctx, nil, &all, "changes", l.group.name); err != nil {
		return nil, err
	}
	for i := range all {
		c := &all[i]
		text, err := os.ReadFile(filepath.Join(l.root, filepath.FromSlash(c.File)))
		if err != nil {
			return nil, err
		}
		c.Line, c.Text = lineAt(string(text), c.Start)
	}
	return all, nil
}

func (l *webLanguage) compile(ctx context.Context, list []*change) ([]bool, error) {
	var good []bool
	err := l.node(ctx, list, &good, "check")
	return good, err
}

// write changes a file of the copy.
func (l *webLanguage) write(path string, change func(text string) string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if l.were == nil {
		l.were = map[string][]byte{}
	}
	l.were[path] = text
	return os.WriteFile(path, []byte(change(string(text))), 0o600)
}

func (l *webLanguage) restore() error {
	var errs []error
	for path, text := range l.were {
		errs = append(errs, os.WriteFile(path, text, 0o600))
	}
	return errors.Join(errs...)
}

// build writes the changes into the copy.
func (l *webLanguage) build(ctx context.Context, sample []*change) ([]*suiteTests, error) {
	byFile := map[string][]*change{}
	for _, c := range sample {
		byFile[c.File] = append(byFile[c.File], c)
	}
	for name, list := range byFile {
		if err := l.write(filepath.Join(l.root, filepath.FromSlash(name)), func(text string) string { return tsPrelude + embed(text, list) }); err != nil {
			return nil, err
		}
	}
	var suites []*suiteTests
	if len(l.group.also) > 0 { // tests in Go that run the bundle
		if err := l.sh(ctx, "node", "web/node_modules/esbuild/bin/esbuild", "web/src/fold/index.ts", "--bundle", "--format=esm", "--platform=node", "--target=es2022",
			"--charset=utf8", "--log-level=error", "--outfile=web/dist/fold.mjs", "--allow-overwrite"); err != nil {
			return nil, err
		}
		packages, err := goList(ctx, l.root, l.group.also...)
		if err != nil {
			return nil, err
		}
		if suites, err = goSuites(ctx, l.root, l.scratch, tested(packages), false); err != nil {
			return nil, err
		}
	}
	tests, err := filepath.Glob(filepath.Join(l.root, "web", "src", "*", "*.test.ts"))
	if err != nil {
		return nil, err
	}
	vitest := &suiteTests{suite: &suite{dir: filepath.Join(l.root, "web"), args: func(tests []string, limit time.Duration) []string {
		return append([]string{"node", "node_modules/vitest/vitest.mjs", "run", "--bail", "1"}, tests...)
	}}}
	for _, path := range tests {
		vitest.tests = append(vitest.tests, strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(vitest.dir)+"/"))
	}
	return append(suites, vitest), nil
}
