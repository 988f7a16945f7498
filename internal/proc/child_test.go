//go:build linux || darwin

package proc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// behaviours are the roles of the test binary as a child.
var behaviours = map[string]func(){
	"echo":    func() { io.Copy(os.Stdout, os.Stdin) },
	"orphan":  func() { deafen(); hold(); fmt.Println("ready"); forever() },
	"fail":    func() { fmt.Fprint(os.Stderr, "one\n\n  two  \nthree"); os.Exit(3) },
	"env":     func() { fmt.Println(strings.Join(os.Environ(), "\n")) },
	"pwd":     func() { dir, _ := os.Getwd(); fmt.Println(dir) },
	"version": func() { fmt.Println("2.1.325 (Claude Code)", os.Args[1:]) },
	"babble":  func() { fmt.Println("hello"); os.Exit(4) },
	"hang":    func() { fmt.Println("ready"); forever() },
	// exits on SIGTERM only
	"term": func() {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		<-c
		os.Exit(7)
	},
	// exits on SIGKILL only
	"deaf":  func() { deafen(); fmt.Println("ready"); forever() },
	"burst": func() { os.Stdout.Write(burst(1 << 20)) },
	"chatter": func() {
		w := bufio.NewWriterSize(os.Stderr, 64<<10)
		lines, _ := strconv.Atoi(os.Getenv(linesVar))
		for i := range lines {
			w.WriteString(chatterLine(i))
		}
		w.Flush()
		fmt.Println("done")
		io.Copy(io.Discard, os.Stdin)
	},
	"few": func() {
		for i := range 5 {
			fmt.Fprintln(os.Stderr, "line", i)
		}
	},
	"squatter": func() { deafen(); hold(); os.Stdin.Close(); ready(); forever() },
	"flooder": func() {
		deafen()
		hold()
		ready()
		for {
			if _, err := os.Stdout.Write(make([]byte, 4096)); err != nil {
				os.Exit(0)
			}
		}
	},
	"leave-squatter": func() { grandchild("squatter", true, true); os.Stdout.Write(burst(60 << 10)); os.Exit(5) },
	"leave-flooder":  func() { grandchild("flooder", true, true); os.Exit(5) },
	"leave-member": func() {
		grandchild("squatter", false, false)
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin)
	},
	"deaf-family": func() { deafen(); grandchild("family", true, false); fmt.Println("ready"); forever() },
	"family":      func() { deafen(); grandchild("squatter", true, false); ready(); forever() },
	"registrar": func() {
		r, _, err := OpenRegistry(os.Getenv(registryVar))
		if err != nil {
			panic(err)
		}
		if err := os.WriteFile(r.TempDir()+"/left", nil, 0o600); err != nil {
			panic(err)
		}
		cmd := behaviour("deaf-family", lifelineVar+"="+os.Getenv(lifelineVar))
		s, err := Start(context.Background(), cmd, Options{Spawner: r.Spawner(local{})})
		if err != nil {
			panic(err)
		}
		line, _ := bufio.NewReader(s.Stdout()).ReadString('\n')
		fmt.Print(line)
		forever()
	},
	"parent": func() {
		s, err := Start(context.Background(), behaviour("orphan", lifelineVar+"="+os.Getenv(lifelineVar)), Options{})
		if err != nil {
			panic(err)
		}
		line, _ := bufio.NewReader(s.Stdout()).ReadString('\n')
		fmt.Print(line)
		forever()
	},
}

func deafen() { signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT) }

// forever blocks. The timer prevents a deadlock panic and limits the life of leftover processes.
func forever() { <-time.After(4 * patience) }

// hold opens the lifeline, leaves it open, and prints its process id.
func hold() {
	fd, err := syscall.Open(os.Getenv(lifelineVar), syscall.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	// Not as an os.File, which the garbage collector would close.
	if _, err := syscall.Write(fd, fmt.Appendln(nil, os.Getpid())); err != nil {
		panic(err)
	}
}

// ready lets the process that called grandchild continue.
func ready() { os.NewFile(3, "ready").Close() }

// grandchild starts a child of the child, with the same streams, and returns when it is ready. With outlives it
// has no mark, so that it is not found.
func grandchild(name string, ownSession, outlives bool) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), behaviourVar+"="+name)
	if outlives {
		cmd.Env = append(cmd.Env, markVariable+"=")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: ownSession}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	w.Close()
	io.Copy(io.Discard, r)
}

// burst returns size bytes without repetitions.
func burst(size int) []byte {
	var b []byte
	for i := 1_000_000; len(b) < size; i++ {
		b = append(strconv.AppendInt(b, int64(i), 10), ' ')
	}
	return b[:size]
}

const registryVar = "PROC_TEST_REGISTRY"

const linesVar = "PROC_TEST_LINES"

var chatterPadding = strings.Repeat("x", 92)

// chatterLine is 100 bytes long.
func chatterLine(i int) string { return strconv.Itoa(1_000_000+i) + chatterPadding + "\n" }
