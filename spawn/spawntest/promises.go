package spawntest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

// testEcho checks that a written line is echoed, and that the end of the input arrives.
func testEcho(s suite) {
	r := s.start("echo")
	for _, line := range []string{"one\n", "zwei ä\n", "\n"} {
		r.write(line)
		r.expect(line)
	}
	r.stdin.Close()
	if rest := r.read("stdout", r.stdout); len(rest) > 0 {
		s.Errorf("stdout has %q after its end", rest)
	}
	r.wantExit(spawn.ExitStatus{})
}

// testBinary checks that both directions carry arbitrary bytes, more than a pipe holds, and a last line without its line feed.
func testBinary(s suite) {
	const size = 3 << 20
	want := Bytes(size)
	r := s.start("echo")
	go func() {
		_, _ = r.stdin.Write(want[:size/2])
		_, _ = r.stdin.Write(want[size/2:])
		r.stdin.Close()
	}()
	if err := sameBytes(r.read("stdout", r.stdout), want); err != nil {
		s.Error(err)
	}
	r.wantExit(spawn.ExitStatus{})
}

// testPartOfLine checks that the beginning of a line arrives before its end is written.
func testPartOfLine(s suite) {
	r := s.start("prompt")
	r.expect("name? ")
	r.write("you\n")
	r.expect("hello you\n")
	r.wantExit(spawn.ExitStatus{})
}

// testSeparateStreams checks that stderr, if present, is separate from stdout.
func testSeparateStreams(s suite) {
	r := s.start("both")
	if got := string(r.read("stdout", r.stdout)); got != "to stdout\n" {
		s.Errorf("stdout is %q", got)
	}
	if r.stderr == nil {
		return
	}
	if got := string(r.read("stderr", r.stderr)); got != "to stderr\n" {
		s.Errorf("stderr is %q", got)
	}
}

// testArgs checks that arguments arrive unchanged.
func testArgs(s suite) {
	args := []string{"", "a b", "--flag=\"x\"", "$HOME", "*", "ä\n", "'"}
	r := s.start("args", args...)
	if got, want := string(r.read("stdout", r.stdout)), fmt.Sprintf("%q\n", args); got != want {
		s.Errorf("the arguments are %s, want %s", got, want)
	}
}

// testEnv checks that the environment is that of the command: no variable is inherited, and of two entries the last
// one counts. A spawner may add entries that begin with PARLEY_.
func testEnv(s suite) {
	s.Setenv("SPAWNTEST_INHERITED", "1")
	cmd := s.command("env")
	cmd.Env = append(cmd.Env, "SPAWNTEST_TWICE=1", "SPAWNTEST_EMPTY=", "SPAWNTEST_TWICE=a=b c")
	r := s.startCommand(cmd)
	got := string(r.read("stdout", r.stdout))
	for _, want := range []string{"SPAWNTEST_TWICE=a=b c\n", "SPAWNTEST_EMPTY=\n"} {
		if !strings.Contains(got, want) {
			s.Errorf("the environment has no %q:\n%s", want, got)
		}
	}
	for _, never := range []string{"SPAWNTEST_INHERITED", "SPAWNTEST_TWICE=1\n", "\nHOME="} {
		if strings.Contains(got, never) {
			s.Errorf("the environment has %q:\n%s", never, got)
		}
	}
}

// testDir checks that the program runs in the directory of the command.
func testDir(s suite) {
	dir, err := filepath.EvalSymlinks(s.TempDir())
	if err != nil {
		s.Fatal(err)
	}
	cmd := s.command("dir")
	cmd.Dir = dir
	r := s.startCommand(cmd)
	if got, want := string(r.read("stdout", r.stdout)), dir+" <nil>\n"; got != want {
		s.Errorf("the directory is %q, want %q", got, want)
	}
}

// testFiles checks that the program can read the files in its arguments, under the same names.
func testFiles(s suite) {
	file := filepath.Join(s.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("hidden"), 0o600); err != nil {
		s.Fatal(err)
	}
	cmd := s.command("cat", file)
	cmd.Files = []string{file}
	r := s.startCommand(cmd)
	r.expect("hidden <nil>\n")
	r.stdin.Close()
	r.wantExit(spawn.ExitStatus{})
}

// testPID checks that the id is the program's, or 0.
func testPID(s suite) {
	r := s.start("pid")
	if pid := r.PID(); pid == 0 {
		s.Log("the spawner does not know the id")
	} else {
		r.expect(strconv.Itoa(pid) + "\n")
	}
	r.stdin.Close()
	r.wantExit(spawn.ExitStatus{})
}

func testExitCode(s suite) {
	for _, code := range []int{0, 3, 255} {
		s.start("exit", strconv.Itoa(code)).wantExit(spawn.ExitStatus{Code: code})
	}
}

// testStartFails checks that a program that does not exist is an error of Spawn, or a non-zero exit.
func testStartFails(s suite) {
	cmd := s.command("echo")
	cmd.Path += "-does-not-exist"
	p, err := s.spawner.Spawn(s.Context(), cmd)
	if err != nil {
		if p != nil {
			s.Error("Spawn returned a process and an error")
		}
		return
	}
	s.within("Wait", func() {
		if status, err := p.Wait(); err == nil && status == (spawn.ExitStatus{}) {
			s.Error("a program that does not exist has run")
		}
	})
}

// testContextEnded checks that no process starts with an ended context.
func testContextEnded(s suite) {
	p, err := s.spawner.Spawn(cancelled(), s.command("hang"))
	if !errors.Is(err, context.Canceled) {
		s.Errorf("Spawn returned %v, want context.Canceled", err)
	}
	if p != nil {
		_ = p.Kill()
		s.within("Wait", func() { _, _ = p.Wait() })
	}
}

// testContextEndsLater checks that the process outlives the context that bounded its start.
func testContextEndsLater(s suite) {
	ctx, cancel := context.WithCancel(s.Context())
	r := s.startIn(ctx, s.command("echo"))
	cancel()
	r.write("still here\n")
	r.expect("still here\n")
	r.stdin.Close()
	r.wantExit(spawn.ExitStatus{})
}

// testWaitUnread checks that Wait returns while stdout is not being read, and leaves it readable.
func testWaitUnread(s suite) {
	const size = 40_000 // less than a pipe holds
	r := s.start("burst", strconv.Itoa(size))
	r.wantExit(spawn.ExitStatus{})
	if err := sameBytes(r.read("stdout", r.stdout), Bytes(size)); err != nil {
		s.Error(err)
	}
}

// testCloseEndsRead checks that closing stdout, or its deadline, ends a pending Read.
func testCloseEndsRead(s suite) {
	r := s.start("pid")
	one := make([]byte, 1)
	for one[0] != '\n' {
		if _, err := r.stdout.Read(one); err != nil {
			s.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() {
		_, err := r.stdout.Read(one)
		done <- err
	}()
	s.within("closing stdout", func() { _ = unblock(r.stdout, readDeadline(r.stdout)) })
	s.within("Read", func() {
		if err := <-done; err == nil {
			s.Error("Read of a closed stream returned no error")
		}
	})
}

func readDeadline(stream any) func(time.Time) error {
	if d, ok := stream.(interface{ SetReadDeadline(time.Time) error }); ok {
		return d.SetReadDeadline
	}
	return nil
}

// testCloseEndsWrite checks that closing stdin, or its deadline, ends a Write that blocks because the process does not read.
func testCloseEndsWrite(s suite) {
	r := s.start("hang")
	r.expect("ready\n")
	done := make(chan error, 1)
	go func() {
		_, err := r.stdin.Write(make([]byte, 8<<20))
		done <- err
	}()
	var deadline func(time.Time) error
	if d, ok := r.stdin.(interface{ SetWriteDeadline(time.Time) error }); ok {
		deadline = d.SetWriteDeadline
	}
	s.within("closing stdin", func() { _ = unblock(r.stdin, deadline) })
	s.within("Write", func() {
		if err := <-done; err == nil {
			s.Error("a Write that nobody reads returned no error")
		}
	})
}

// testTerminate checks that Terminate asks the process to end, which chooses its exit code.
func testTerminate(s suite) {
	r := s.start("term")
	r.expect("ready\n")
	if err := r.Terminate(); err != nil {
		s.Errorf("Terminate: %v", err)
	}
	r.expect("asked\n")
	r.wantExit(spawn.ExitStatus{Code: 7})
}

// testKill checks that Kill ends the process at once, with the status of the signal where signals exist.
func testKill(s suite) {
	r := s.start("deaf")
	r.expect("ready\n")
	if err := r.Kill(); err != nil {
		s.Errorf("Kill: %v", err)
	}
	status, err := r.wait()
	if err != nil || status == (spawn.ExitStatus{}) {
		s.Errorf("a killed process ended with %+v, %v", status, err)
	}
	if status.Signal != "" && status != (spawn.ExitStatus{Code: -1, Signal: "SIGKILL"}) {
		s.Errorf("a killed process ended with %+v", status)
	}
}

// testKillChildren checks that Kill also ends the children of the process, which hold its streams open.
func testKillChildren(s suite) {
	r := s.start("parent")
	r.expect("ready\n") // written by the child
	if err := r.Kill(); err != nil {
		s.Errorf("Kill: %v", err)
	}
	r.wait()
	if rest := r.read("stdout", r.stdout); len(rest) > 0 {
		s.Errorf("stdout has %q", rest)
	}
}

// testAfterWait checks that Terminate and Kill have no effect after the end, from any goroutine.
func testAfterWait(s suite) {
	r := s.start("exit", "0")
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() { <-r.ended })
		calls.Go(func() { _ = r.Terminate() })
	}
	status, err := r.wait()
	s.within("the calls", calls.Wait)
	if err != nil || status.Code > 0 && status.Code != 128+int(syscall.SIGTERM) { // a container reports the end by a signal as such a code
		s.Errorf("Wait returned %+v, %v", status, err)
	}
	for range 2 {
		if err := r.Terminate(); err != nil {
			s.Errorf("Terminate of a process that is gone: %v", err)
		}
		if err := r.Kill(); err != nil {
			s.Errorf("Kill of a process that is gone: %v", err)
		}
	}
}

// testMany checks that many goroutines can use a spawner, that the streams of two processes do not mix, and that
// an unread process does not block others.
func testMany(s suite) {
	full := s.start("burst", "4000000")
	var each sync.WaitGroup
	for i := range 8 {
		each.Go(func() {
			p, err := s.spawner.Spawn(s.Context(), s.command("echo"))
			if err != nil {
				s.Errorf("Spawn: %v", err)
				return
			}
			in, out := p.Stdin(), p.Stdout()
			defer out.Close()
			if stderr := p.Stderr(); stderr != nil {
				defer stderr.Close()
			}
			want := strings.Repeat("process "+strconv.Itoa(i)+"\n", 5000)
			go func() {
				_, _ = io.WriteString(in, want)
				in.Close()
			}()
			got, err := io.ReadAll(out)
			if err != nil || string(got) != want {
				s.Errorf("process %d: %d bytes, %v, want %d", i, len(got), err, len(want))
			}
			if status, err := p.Wait(); err != nil || status != (spawn.ExitStatus{}) {
				s.Errorf("process %d: %+v, %v", i, status, err)
			}
		})
	}
	s.within("eight processes", each.Wait)
	if err := sameBytes(full.read("stdout", full.stdout), Bytes(4000000)); err != nil {
		s.Error(err)
	}
}
