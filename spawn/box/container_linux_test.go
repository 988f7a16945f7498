package box

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/spawn/spawntest"
)

// fakeState is the variable that contains the directory in which the replacement for docker stores
// its containers.
const fakeState = "FAKE_DOCKER"

// fakeDockerMain runs the replacement for docker if this process has its name. Containers are
// processes that outlive it, as with a daemon.
func fakeDockerMain() {
	if name := filepath.Base(os.Args[0]); name != "docker" && name != "podman" {
		return
	}
	dir, args := os.Getenv(fakeState), os.Args[1:]
	switch args[0] {
	case "image":
		if args[len(args)-1] != "agents:1" {
			fmt.Fprintln(os.Stderr, "No such image")
			os.Exit(1)
		}
	case "ps":
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, file := range files {
			labels, _ := os.ReadFile(file)
			wanted := true
			for _, arg := range args {
				if label, ok := strings.CutPrefix(arg, "--filter=label="); ok {
					wanted = wanted && strings.Contains(string(labels), label+"\n")
				}
			}
			_, session, _ := strings.Cut(string(labels), labelSession+"=")
			session, _, _ = strings.Cut(session, "\n")
			if wanted {
				fmt.Println(filepath.Base(file), session)
			}
		}
	case "rm":
		for _, id := range args[2:] {
			pid, _ := strconv.Atoi(id)
			_ = syscall.Kill(-pid, syscall.SIGKILL) // it may have ended
			_ = os.Remove(filepath.Join(dir, id))
		}
	case "run":
		os.Exit(fakeRun(dir, args[1:]))
	}
	os.Exit(0)
}

// fakeRun runs a container.
func fakeRun(dir string, args []string) int {
	init, labels := "", ""
	cmd := &exec.Cmd{SysProcAttr: &syscall.SysProcAttr{Setsid: true}, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: []string{}}
	for ; strings.HasPrefix(args[0], "--"); args = args[1:] {
		flag, value, _ := strings.Cut(args[0], "=")
		switch source, isInit := strings.CutSuffix(args[0], ",target="+initPath+",readonly"); {
		case isInit:
			init = strings.TrimPrefix(source, "--mount=type=bind,source=")
		case flag == "--label":
			labels += value + "\n"
		case flag == "--workdir":
			cmd.Dir = value
		case flag == "--env":
			cmd.Env = append(cmd.Env, value+"="+os.Getenv(value))
		}
	}
	cmd.Path, cmd.Args = init, append([]string{init}, args[1:]...)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	name := filepath.Join(dir, strconv.Itoa(cmd.Process.Pid))
	_ = os.WriteFile(name, []byte(labels), 0o600) // the test waits for the file
	go func() {
		<-signals
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // it may have ended
	}()
	_ = cmd.Wait() // the caller sees the status
	_ = os.Remove(name)
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

// fakeContainer returns a container that uses a replacement for docker, and the directory of its
// containers.
func fakeContainer(t *testing.T, name string) (*Container, string) {
	t.Helper()
	dir := tempDir(t)
	state := filepath.Join(dir, "state")
	for _, d := range []string{"state", "home", "work"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self(t), filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	return &Container{
		Box:   Box{Program: filepath.Join(dir, name), Init: self(t), Home: filepath.Join(dir, "home"), Network: NetworkOn},
		Image: "agents:1", Host: "h-1", Session: "s-1", Env: []string{fakeState + "=" + state},
	}, state
}

// TestContainer_golden checks the arguments of docker and podman on a fixed system.
func TestContainer_golden(t *testing.T) {
	work := tempDir(t)
	key := filepath.Join(work, "key")
	if err := os.WriteFile(key, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"docker", "podman"} {
		c := &Container{Image: "registry.example/agents:1", Host: "h-1", Session: "s-1", Env: []string{"DOCKER_HOST=unix:///x"}, Box: Box{
			Program: "/usr/bin/" + name, Init: "/usr/local/bin/parley", Home: "/home/user", Empty: []string{"/home/user/.agent"}, Read: []string{"/usr/share"}, Hide: []string{key, work + "/none"},
			Logins: []string{"/etc/hosts"}, Network: NetworkOff, Doors: map[int]string{9000: "/run/user/1/p/api"},
		}}
		cmd := spawn.Command{Path: "/bin/sh", Args: []string{"-c", "a b"}, Dir: work, Env: []string{"TOKEN=hidden", "LD_PRELOAD=/x.so"}}
		got, err := c.Command(cmd)
		if err != nil {
			t.Fatal(err)
		}
		real, err := filepath.EvalSymlinks("/bin/sh")
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(got.Args, " "); strings.Contains(all, "hidden") || strings.Contains(all, "x.so") {
			t.Error("a value of the environment is in the arguments")
		}
		if want := []string{"DOCKER_HOST=unix:///x", "PARLEY_BOXED_TOKEN=hidden", "PARLEY_BOXED_LD_PRELOAD=/x.so"}; !slices.Equal(got.Env, want) {
			t.Errorf("the environment of the client is %q, want %q", got.Env, want)
		}
		list := lines(got)
		checkOrder(t, list)
		mounted := func(argument string) bool { return target(argument) != "" }
		mounts := list[slices.IndexFunc(list, mounted):]
		mounts = mounts[:slices.IndexFunc(mounts, func(argument string) bool { return !mounted(argument) })]
		slices.SortStableFunc(mounts, func(x, y string) int { // the position of WORK depends on the temporary directory
			return strings.Compare(target(strings.ReplaceAll(x, work, "WORK")), target(strings.ReplaceAll(y, work, "WORK")))
		})
		text := strings.Join(list, "\n") + "\n"
		text = strings.NewReplacer(work, "WORK", real, "SHELL", fmt.Sprintf("--user=%d:%d", os.Getuid(), os.Getgid()), "--user=UID:GID").Replace(text)
		golden(t, filepath.Join("testdata", name+".txt"), text)
	}
}

// target returns the path in the container of a mount argument, or "" for other arguments.
func target(argument string) string {
	if path, ok := strings.CutPrefix(argument, "--tmpfs="); ok {
		path, _, _ = strings.Cut(path, ":")
		return path
	}
	_, path, _ := strings.Cut(argument, ",target=")
	path, _, _ = strings.Cut(path, ",")
	return path
}

// checkOrder checks that no mount hides an earlier one.
func checkOrder(t *testing.T, arguments []string) {
	t.Helper()
	for i, outer := range arguments {
		for _, inner := range arguments[:i] {
			if o, in := target(outer), target(inner); o != "" && in != "" && within(o, in) {
				t.Errorf("%s is mounted after %s and hides it", outer, inner)
			}
		}
	}
}

// TestContainer_refused checks that containers that would not confine are rejected, as are names
// that docker could interpret as something else.
func TestContainer_refused(t *testing.T) {
	for name, edit := range map[string]func(*Container, *spawn.Command){
		"a flag as an image":     func(c *Container, _ *spawn.Command) { c.Image = "--privileged" },
		"no image":               func(c *Container, _ *spawn.Command) { c.Image = "" },
		"a session with a comma": func(c *Container, _ *spawn.Command) { c.Session = "a,b" },
		"no session":             func(c *Container, _ *spawn.Command) { c.Session = "" },
		"no host":                func(c *Container, _ *spawn.Command) { c.Host = "" },
		"the root":               func(c *Container, _ *spawn.Command) { c.Box.Write = []string{"/"} },
		"the home":               func(c *Container, _ *spawn.Command) { c.Box.Read = []string{c.Box.Home} },
		"another user":           func(_ *Container, cmd *spawn.Command) { cmd.User = "nobody" },
		"a path with a comma": func(c *Container, _ *spawn.Command) {
			dir := filepath.Join(c.Box.Home, "..", "a,readonly=false")
			_ = os.Mkdir(dir, 0o700) // the command reports a missing directory
			c.Box.Read = []string{filepath.Clean(dir)}
		},
		"an unknown network": func(c *Container, _ *spawn.Command) { c.Box.Network = "some" },
	} {
		c, state := fakeContainer(t, "docker")
		cmd := spawn.Command{Path: "/bin/sh", Dir: filepath.Join(filepath.Dir(state), "work")}
		edit(c, &cmd)
		if got, err := c.Command(cmd); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %q, %v, want %v", name, got.Args, err, ErrRefused)
		}
	}
}

// TestContainer_probe checks that a missing program, daemon or image is reported.
func TestContainer_probe(t *testing.T) {
	c, _ := fakeContainer(t, "podman")
	if err := c.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	c.Image = "agents:2"
	if err := c.Probe(t.Context()); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "No such image") {
		t.Errorf("another image: %v", err)
	}
	c.Box.Program = "/nowhere/podman"
	if err := c.Probe(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("no program: %v", err)
	}
}

// TestContainer_spawner runs the suite for spawners with a replacement for docker.
func TestContainer_spawner(t *testing.T) {
	c, state := fakeContainer(t, "docker")
	spawntest.Run(t, spawntest.Options{Elsewhere: true, Spawner: func(testing.TB) spawn.Spawner {
		return inDir(filepath.Join(filepath.Dir(state), "work"), c.Spawner(local()))
	}})
}

// TestContainer_end kills the client of a container, which does not end the container: End and
// Sweep find it by its labels, and do not affect others.
func TestContainer_end(t *testing.T) {
	c, state := fakeContainer(t, "docker")
	work := filepath.Join(filepath.Dir(state), "work")
	running := func() (sessions []string) {
		files, err := filepath.Glob(filepath.Join(state, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if errors.Is(err, fs.ErrNotExist) {
				continue // it has just ended
			}
			if err != nil {
				t.Fatal(err)
			}
			pid, _ := strconv.Atoi(filepath.Base(file))
			if syscall.Kill(pid, 0) == nil {
				sessions = append(sessions, strings.TrimSpace(string(bytes.ReplaceAll(text, []byte("\n"), []byte(" ")))))
			}
		}
		slices.Sort(sessions)
		return sessions
	}
	label := func(host, session string) string { return labelHost + "=" + host + " " + labelSession + "=" + session }
	await := func(what string, ok func(got []string) bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		for got := running(); !ok(got); got = running() {
			select {
			case <-ctx.Done():
				t.Fatalf("the containers are %q, want %s", got, what)
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	awaitRunning := func(want ...string) {
		t.Helper()
		await(fmt.Sprintf("%q", want), func(got []string) bool { return slices.Equal(got, want) })
	}
	start := func(c *Container) {
		t.Helper()
		cmd, err := c.Command(spawn.Command{Path: "/bin/sh", Args: []string{"-c", "echo here; exec sleep 1000"}, Dir: work})
		if err != nil {
			t.Fatal(err)
		}
		client := exec.CommandContext(t.Context(), cmd.Path, cmd.Args...)
		client.Env = cmd.Env
		out, err := client.StdoutPipe()
		if err == nil {
			err = client.Start()
		}
		if err == nil {
			_, err = io.ReadFull(out, make([]byte, 5))
		}
		if err != nil {
			t.Fatal(err)
		}
		// A container is listed when its client has stored the name, which may be after its first
		// line.
		want := label(c.Host, c.Session)
		await(want, func(got []string) bool { return slices.Contains(got, want) })
		_ = client.Process.Kill()
		_ = client.Wait() // it was killed
	}
	others := []*Container{}
	for _, names := range [][2]string{{"h-1", "s-2"}, {"h-1", "s-3"}, {"h-2", "s-1"}} {
		other := *c
		other.Host, other.Session = names[0], names[1]
		others = append(others, &other)
		start(&other)
	}
	start(c)
	awaitRunning(label("h-1", "s-1"), label("h-1", "s-2"), label("h-1", "s-3"), label("h-2", "s-1"))
	if err := c.End(t.Context()); err != nil {
		t.Error(err)
	}
	awaitRunning(label("h-1", "s-2"), label("h-1", "s-3"), label("h-2", "s-1"))
	if n, err := c.Sweep(t.Context(), "s-3"); n != 1 || err != nil {
		t.Errorf("the sweep ends %d containers, %v, want 1", n, err)
	}
	awaitRunning(label("h-1", "s-3"), label("h-2", "s-1"))
	for _, other := range others {
		if _, err := other.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
	}
	awaitRunning()
	if err := c.End(t.Context()); err != nil {
		t.Errorf("ending containers that are gone: %v", err)
	}
	c.Session = ""
	if err := c.End(t.Context()); !errors.Is(err, ErrRefused) {
		t.Errorf("ending containers without a session: %v, want %v", err, ErrRefused)
	}
}
