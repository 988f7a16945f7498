package claude_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudepool"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"go.uber.org/goleak"
)

// markVariable is in the environment of every process of these tests, so that leftover ones are
// found without the code under test.
const markVariable = "SOAK_MARK"

func init() {
	losslessPrograms["family"] = cliFamily
	losslessPrograms["sleeper"] = func(*claudetest.CLI) int { <-time.After(2 * time.Minute); return 0 }
	losslessPrograms["fleet"] = cliFleet
}

// cliFamily answers prompts and has a descendant in a separate session, which only its mark
// connects with it.
func cliFamily(cli *claudetest.CLI) int {
	if cli.Env("DETACH") != "" {
		path, err := os.Executable()
		if err != nil {
			panic(err)
		}
		cmd := exec.Command(path)
		cmd.Env = append(os.Environ(), "CLAUDETEST_PROGRAM=sleeper")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	}
	return cliHello(cli)
}

// familyOptions returns options for a session that leaves as many processes as possible.
func familyOptions(registry *claude.Registry, mark string, random *rand.Rand) *claude.Options {
	opts := claudetest.FakeCLI("family")
	opts.Env[markVariable] = mark
	if random.IntN(4) == 0 {
		opts.Env["DETACH"] = "1"
	}
	opts.Env["PATH"], opts.Env["TMPDIR"] = os.Getenv("PATH"), os.Getenv("TMPDIR")
	opts.Registry, opts.Isolation = registry, &claude.Isolation{}
	opts.Logger = slog.New(slog.DiscardHandler)
	return opts
}

// marked returns the running processes with a mark.
func marked(mark string) (pids []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		environ, err := os.ReadFile(f)
		if err == nil && bytes.Contains(environ, []byte(markVariable+"="+mark+"\x00")) {
			pids = append(pids, filepath.Base(filepath.Dir(f)))
		}
	}
	return pids
}

func descriptors(t *testing.T) int {
	t.Helper()
	// The first pipe of a process opens the two descriptors of the runtime's poller, which stay.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = r.Close(), w.Close()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// use opens one session in one of several ways, with or without a kill, and
// closes it.
func use(ctx context.Context, opts *claude.Options, random *rand.Rand) error {
	kill := func(pid int) {
		if random.IntN(3) == 0 && pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	var client *claude.Client
	var err error
	switch random.IntN(3) {
	case 0:
		_, err = claude.Run(ctx, "hello", opts)
		return err
	case 1:
		var warm *claude.Warm
		if warm, err = claude.Prewarm(ctx, opts); err != nil {
			return err
		}
		kill(warm.PID())
		if random.IntN(2) == 0 {
			return warm.Close()
		}
		client, err = warm.Connect(ctx)
	default:
		client, err = claude.Connect(ctx, opts)
	}
	if err != nil {
		return err
	}
	defer client.Close()
	turn, err := client.Send(ctx, claude.Text("hello"))
	kill(client.View().PID)
	if err == nil && random.IntN(2) == 0 {
		_, err = turn.Wait(ctx)
	}
	return err
}

// killed reports whether an error can come from a kill.
func killed(err error) bool {
	exit, ok := errors.AsType[*claude.ExitError](err)
	return ok && exit.Signal == "SIGKILL" || errors.Is(err, claude.ErrClosed)
}

// TestOpenAndCloseAtRandom opens and closes many clients, several at a time, while some
// of their processes are killed: no process, descriptor or file is left.
func TestOpenAndCloseAtRandom(t *testing.T) {
	short.SkipLong(t, "starts many processes")
	clients := short.Count(15, 200, 200)
	dir, mark := t.TempDir(), fmt.Sprint("clients-", os.Getpid())
	t.Setenv("TMPDIR", t.TempDir())
	routines, files := goleak.IgnoreCurrent(), descriptors(t)
	registry, _, err := claude.OpenRegistry(dir)
	if err != nil {
		t.Fatal(err)
	}
	admission := claudepool.NewAdmission(8)
	var all sync.WaitGroup
	var kills atomic.Int64
	for i := range clients {
		random := rand.New(rand.NewPCG(uint64(i), 7))
		all.Go(func() {
			opts := familyOptions(registry, mark, random)
			opts.Admission, opts.Tenant = admission, fmt.Sprint(i%5)
			err := use(t.Context(), opts, random)
			switch {
			case killed(err):
				kills.Add(1)
			case err != nil:
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if kills.Load() == 0 {
		t.Error("no kill was noticed")
	}
	if st := admission.State(); st.Held != 0 || len(registry.Children()) > 0 {
		t.Errorf("%+v, children %+v", st, registry.Children())
	}
	if err := registry.Close(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, mark, dir, os.Getenv("TMPDIR"))
	if now := descriptors(t); now > files {
		t.Errorf("%d descriptors before, %d after", files, now)
	}
	if err := goleak.Find(routines); err != nil {
		t.Error(err)
	}
}

func nothingLeft(t *testing.T, mark string, dirs ...string) {
	t.Helper()
	if pids := marked(mark); len(pids) > 0 {
		t.Errorf("processes are left: %v", pids)
	}
	for _, dir := range dirs {
		if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
			t.Errorf("left in %s: %v, %v", dir, left, err)
		}
	}
}

// cliFleet runs many sessions until it is killed.
func cliFleet(cli *claudetest.CLI) int {
	registry, _, err := claude.OpenRegistry(cli.Env("REGISTRY"))
	if err != nil {
		panic(err)
	}
	var seed uint64
	if _, err := fmt.Sscan(cli.Env("SEED"), &seed); err != nil {
		panic(err)
	}
	var all sync.WaitGroup
	for i := range 6 {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		all.Go(func() {
			for {
				client, err := claude.Connect(context.Background(), familyOptions(registry, cli.Env(markVariable), random))
				if err != nil {
					panic(err)
				}
				fmt.Println("opened")
				if _, err := client.Send(context.Background(), claude.Text("hello")); err != nil {
					panic(err)
				}
				if random.IntN(2) == 0 {
					client.Close()
				}
			}
		})
	}
	all.Wait()
	return 0
}

// TestParentIsKilled kills a program with many sessions at random moments. Its leftover
// processes have ended when the next program has opened the registry.
func TestParentIsKilled(t *testing.T) {
	short.SkipQuick(t, "starts several processes")
	for round := range short.Count(1, 2, 20) {
		dir, tmp := t.TempDir(), t.TempDir()
		mark := fmt.Sprint("fleet-", os.Getpid(), "-", round)
		opts := claudetest.FakeCLI("fleet")
		cmd := exec.Command(opts.CLIPath)
		for k, v := range opts.Env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		cmd.Env = append(cmd.Env, "REGISTRY="+dir, "TMPDIR="+tmp, "PATH="+os.Getenv("PATH"), fmt.Sprint("SEED=", round), markVariable+"="+mark)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		for range 6 + rand.IntN(12) {
			if _, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, lines)
		_ = cmd.Wait() // it was killed
		registry, swept, err := claude.OpenRegistry(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("round %d: %d processes were swept", round, len(swept))
		if err := registry.Close(); err != nil {
			t.Error(err)
		}
		nothingLeft(t, mark, dir, tmp)
	}
}
