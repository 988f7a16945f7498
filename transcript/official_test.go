package transcript_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/clipath"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// officialSDK is a process with the official TypeScript SDK and a separate configuration directory.
type officialSDK struct {
	t      *testing.T
	config string
	in     io.WriteCloser
	out    *bufio.Reader
	stderr strings.Builder
}

// startOfficial starts the SDK, which stops when the test ends.
func startOfficial(t *testing.T) *officialSDK {
	t.Helper()
	node, module := requireSDK(t)
	home := t.TempDir()
	env, err := claudetest.HermeticEnv(home, "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	o := &officialSDK{t: t, config: filepath.Join(home, "home", ".claude")}
	cmd := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "official.mjs"), module)
	cmd.Env = env
	cmd.Stderr = &o.stderr
	if o.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	o.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		o.in.Close()
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Errorf("the official SDK: %v\n%s", err, &o.stderr)
		}
	})
	return o
}

// ask calls a function of the SDK and decodes its answer into dst, unless that is nil. The error is
// the exception that the function threw.
func (o *officialSDK) ask(dst any, fn string, args ...any) error {
	o.t.Helper()
	o.send(fn, args...)
	return o.receive(dst)
}

func (o *officialSDK) send(fn string, args ...any) {
	o.t.Helper()
	line, err := json.Marshal(map[string]any{"fn": fn, "args": args})
	if err != nil {
		o.t.Fatal(err)
	}
	if _, err := o.in.Write(append(line, '\n')); err != nil {
		o.t.Fatalf("the official SDK is gone: %v\n%s", err, &o.stderr)
	}
}

func (o *officialSDK) receive(dst any) error {
	o.t.Helper()
	line, err := o.out.ReadBytes('\n')
	if err != nil {
		o.t.Fatalf("the official SDK is gone: %v\n%s", err, &o.stderr)
	}
	var answer struct {
		Value json.RawMessage
		Error *string
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		o.t.Fatal(err)
	}
	if answer.Error != nil {
		return errors.New(*answer.Error)
	}
	if dst == nil {
		return nil
	}
	if err := json.Unmarshal(answer.Value, dst); err != nil {
		return fmt.Errorf("%s: %w", answer.Value, err)
	}
	return nil
}

// must is like ask but fails the test on an error.
func (o *officialSDK) must(dst any, fn string, args ...any) {
	o.t.Helper()
	if err := o.ask(dst, fn, args...); err != nil {
		o.t.Fatalf("%s: %v", fn, err)
	}
}

// sdkPath returns the module of the official TypeScript SDK that is installed with the
// pinned CLI, and the node that runs it.
func sdkPath() (node, module string, err error) {
	cli, err := clipath.Cached()
	if err != nil {
		return "", "", err
	}
	module = filepath.Join(filepath.Dir(filepath.Dir(cli)), "claude-agent-sdk", "sdk.mjs")
	if err := clipath.CheckFile(module); err != nil {
		return "", "", fmt.Errorf("the official SDK is not installed, run make test, or scripts/install-cli: %w", err)
	}
	node, err = exec.LookPath("node")
	if err != nil {
		return "", "", err
	}
	return node, module, nil
}

// requireSDK returns node and the module of the official TypeScript SDK. Without them the test is
// skipped, and the reason printed; it fails where CI=true.
func requireSDK(tb testing.TB) (node, module string) {
	tb.Helper()
	short.Skip(tb, "the official SDK")
	node, module, err := sdkPath()
	switch {
	case err == nil:
		return node, module
	case os.Getenv("CI") == "true":
		tb.Fatalf("this test needs the official SDK: %v", err)
	default:
		tb.Skipf("this test needs the official SDK: %v", err)
	}
	return "", ""
}
