package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/spawn"
)

// attempts lists the ways out of a box that the test tries. Attempts with control set succeed for
// every user outside of a box, which shows that they work.
var attempts = map[string]struct {
	try     attempt
	control bool
}{
	// Files.
	"read a file":                       {reads(func(w world) string { return w.Secret }), true},
	"read a file by a relative path":    {reads(func(w world) string { return "../" + filepath.Base(w.Sibling) + "/secret" }), true},
	"read a file by the root":           {reads(func(w world) string { return "/proc/self/root" + w.Secret }), true},
	"read a file by the first process":  {reads(func(w world) string { return "/proc/1/root" + w.Secret }), false},
	"read a file by the parent":         {reads(func(w world) string { return "/proc/" + strconv.Itoa(os.Getppid()) + "/root" + w.Secret }), false},
	"read a file by a directory of it":  {reads(func(w world) string { return "/proc/" + strconv.Itoa(w.PID) + "/root" + w.Secret }), true},
	"read a file through a link":        {throughLink(func(w world) string { return w.Secret }, ""), true},
	"read a directory through a link":   {throughLink(func(w world) string { return w.Sibling }, "secret"), true},
	"read a file through a link inside": {reads(func(w world) string { return filepath.Join(w.Work, "planted") }), true},
	"read a file by a hard link":        {hardLink, true},
	"read a file by its handle":         {opensByHandle, false},
	"read a login":                      {reads(func(w world) string { return w.Login }), true},
	"read a file of the server":         {reads(func(w world) string { return filepath.Join(w.Data, "token") }), true},
	"read a hidden file":                {reads(func(w world) string { return w.DataFile }), true},
	"read shared memory in a file":      {reads(func(w world) string { return w.Shared }), true},
	"read passwords":                    {writes(always("/etc/shadow")), false},
	"list another project":              {looksAround(func(w world) string { return w.Sibling }), true},
	"list the home":                     {looksAround(func(w world) string { return filepath.Dir(w.Login) }), true},
	"list hosts keys":                   {looksAround(always("/etc/ssh")), false},
	"list kernel objects":               {looksAround(always("/sys")), false},
	"list services":                     {looksAround(always("/run/lock")), false},
	"write a file":                      {writes(func(w world) string { return w.Secret }), true},
	"write a file of the server":        {writes(func(w world) string { return filepath.Join(w.Data, "token") }), true},
	"write a hidden file":               {writes(func(w world) string { return w.DataFile }), true},
	"write a program":                   {writes(always("/usr/bin/env")), false},
	"write the users":                   {writes(always("/etc/passwd")), false},
	"write the program of the box":      {writes(always(initPath)), false},
	"write the core pattern":            {writes(always("/proc/sys/kernel/core_pattern")), false},
	"write the kernel's trigger":        {writes(always("/proc/sysrq-trigger")), false},
	"read keys of the kernel":           {looksAt("/proc/keys"), false},
	// Mounts, setuid, rights.
	"mount a file system":                {mounts("none", "/tmp", "tmpfs", 0), false},
	"mount programs writable":            {mounts("", "/usr", "", syscall.MS_REMOUNT|syscall.MS_BIND), false},
	"unmount what hides":                 {unmounts(func(w world) string { return w.Data }, "token"), false},
	"unmount what hides, as nested root": {nested("unmount what hides"), false},
	"mount programs writable, as nested": {nested("mount programs writable"), false},
	"make a device":                      {makesDevice, false},
	"have capabilities":                  {gainsRights("CapEff", "0000000000000000"), false},
	"have capabilities to gain":          {gainsRights("CapBnd", "0000000000000000"), true},
	"gain rights by setuid":              {gainsRights("NoNewPrivs", "1"), true},
	"become another user":                {changesUser, false},
	// Processes.
	"see a process":              {seesProcess, true},
	"signal a process":           {func(w world) error { return syscall.Kill(w.PID, 0) }, true},
	"trace a process":            {ptraces, false},
	"enter a namespace":          {entersNamespace, false},
	"read a process's variables": {findSecret("environ"), true},
	"read a process's arguments": {findSecret("cmdline"), true},
	"read the own variables":     {reads(always("/proc/self/environ")), false},
	"attach shared memory":       {attachesMemory, true},
	"use a descriptor":           {hasDescriptors, false},
	"open the terminal":          {opensTerminal, false},
	// Sockets and the network.
	"connect to a socket":            {connects("unix", func(w world) string { return w.Socket }), true},
	"connect to the host's socket":   {connects("unix", func(w world) string { return w.DataSocket }), true},
	"connect to the abstract socket": {connects("unix", func(w world) string { return w.Abstract }), true},
	"connect to docker":              {connects("unix", always("/var/run/docker.sock")), false},
	"connect to the message bus":     {connects("unix", always("/run/dbus/system_bus_socket")), false},
	"connect to loopback":            {connects("tcp", func(w world) string { return w.TCP }), true},
	"have a network":                 {hasInterfaces, false},
	"send to another machine":        {sendsOutside, false},
	"replace the socket of a door":   {replacesDoor, false},
}

// TestEscape makes each attempt in a box without a network. As a control, it makes the marked
// attempts outside of a box, where they succeed.
func TestEscape(t *testing.T) {
	program := bwrap(t)
	for _, page := range []string{"SECURITY.md", "docs/guide/boxes.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
		if claim := fmt.Sprintf("makes %d attempts", len(attempts)); err != nil || !strings.Contains(string(text), claim) {
			t.Errorf("%s does not have %q, %v", page, claim, err)
		}
	}
	w, b := newWorld(t, program)
	for _, name := range slices.Sorted(maps.Keys(attempts)) {
		t.Run(name, func(t *testing.T) {
			if got := w.attempt(t, b.Spawner(local()), name); !strings.HasPrefix(got, "held: ") {
				t.Errorf("in the box: %s", got)
			}
			if !attempts[name].control {
				return
			}
			if got := w.attempt(t, local(), name); got != "out" {
				t.Errorf("the attempt cannot succeed: outside it is %s", got)
			}
		})
	}
}

// TestBox_work checks the permitted actions in a box: its directory, a cache, the system's
// programs, its door, its own processes and /tmp.
func TestBox_work(t *testing.T) {
	program := bwrap(t)
	w, b := newWorld(t, program)
	script := `set -e
echo changed > file; cat file
echo cached > "` + b.Write[0] + `/entry"
echo x > "$HOME/dot"; echo y > /tmp/z; rm "$HOME/dot"
test "$(cat "` + b.Read[0] + `")" = readable
kill -0 $$; ls / >/dev/null
echo "$VALUE" "$(pwd)"
exit 7`
	out, status := run(t, b.Spawner(local()), spawn.Command{Path: "/bin/sh", Args: []string{"-c", script}, Dir: w.Work, Env: []string{"HOME=" + b.Home, "VALUE=given", "PATH=/usr/bin:/bin"}})
	if want := "changed\ngiven " + w.Work + "\n"; out != want || status.Code != 7 {
		t.Errorf("the box printed %q and ended with %v, want %q", out, status, want)
	}
	for path, want := range map[string]string{filepath.Join(w.Work, "file"): "changed\n", filepath.Join(b.Write[0], "entry"): "cached\n"} {
		if data, err := os.ReadFile(path); err != nil || string(data) != want {
			t.Errorf("%s has %q, %v", path, data, err)
		}
	}
}

// TestBox_door checks that the door forwards data to its socket in both directions, including the
// end of each.
func TestBox_door(t *testing.T) {
	program := bwrap(t)
	w, b := newWorld(t, program)
	script := `exec 3<>/dev/tcp/127.0.0.1/` + strconv.Itoa(w.Door) + `; echo question >&3; read answer <&3; echo "$answer"`
	bash := "/bin/bash"
	if _, err := os.Stat(bash); err != nil {
		t.Skip("there is no bash")
	}
	out, status := run(t, b.Spawner(local()), spawn.Command{Path: bash, Args: []string{"-c", script}, Dir: w.Work})
	if out != "answer to question\n" || status != (spawn.ExitStatus{}) {
		t.Errorf("the door gave %q, %v", out, status)
	}
}

// attempt makes an attempt with a spawner and returns its outcome.
func (w world) attempt(t *testing.T, s spawn.Spawner, name string) string {
	t.Helper()
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	env := []string{attemptVar + "=" + name, worldVar + "=" + string(text), "GORACE=atexit_sleep_ms=0"}
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		env = append(env, "GOCOVERDIR="+dir)
	}
	out, _ := run(t, s, spawn.Command{Path: self(t), Dir: w.Work, Env: env})
	return strings.TrimSpace(out)
}

// run returns the output and the end of a command.
func run(t *testing.T, s spawn.Spawner, cmd spawn.Command) (string, spawn.ExitStatus) {
	t.Helper()
	p, err := s.Spawn(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	p.Stdin().Close()
	var said sync.WaitGroup
	stdout, stderr := p.Stdout(), p.Stderr()
	said.Go(func() {
		if text, _ := io.ReadAll(stderr); len(text) > 0 {
			t.Logf("stderr: %s", text)
		}
	})
	out, err := io.ReadAll(stdout)
	status, waitErr := p.Wait()
	said.Wait()
	stdout.Close()
	stderr.Close()
	if err != nil || waitErr != nil {
		t.Fatalf("err is %v, waitErr is %v; want err == nil and waitErr == nil", err, waitErr)
	}
	return string(out), status
}

// newWorld creates the files, sockets and processes outside, and the box. The server's data is in
// the working directory.
func newWorld(t *testing.T, program string) (world, *Box) {
	dir := tempDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	w := world{Work: at("work"), Sibling: at("sibling"), Secret: at("sibling/secret"), Login: at("home/.ssh/id"), Data: at("work/.data"), DataFile: at("work/key"),
		Socket: at("sibling/s"), DataSocket: at("work/.data/host.sock"), Abstract: "@parley-box-" + strconv.Itoa(os.Getpid()), PID: os.Getpid()}
	for _, path := range []string{w.Secret, w.Login, filepath.Join(w.Data, "token"), w.DataFile, at("readable"), at("cache/old")} {
		text := marker
		if path == at("readable") {
			text = "readable"
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(w.Secret, filepath.Join(w.Work, "planted")); err != nil {
		t.Fatal(err)
	}
	shared, err := os.CreateTemp("/dev/shm", "parley-box-")
	if err != nil {
		t.Fatal(err)
	}
	w.Shared = shared.Name()
	t.Cleanup(func() { os.Remove(w.Shared) })
	_, err = shared.WriteString(marker)
	if err := errors.Join(err, shared.Close()); err != nil {
		t.Fatal(err)
	}
	w.SharedMemory = sharedMemory(t)
	listen(t, "unix", w.Socket, "")
	listen(t, "unix", w.DataSocket, "")
	listen(t, "unix", w.Abstract, "")
	w.TCP = listen(t, "tcp", "127.0.0.1:0", "")
	if err := os.Mkdir(at("doors"), 0o700); err != nil {
		t.Fatal(err)
	}
	listen(t, "unix", at("doors/api"), "answer to ")
	w.Door = 7721
	secretProcess(t)
	return w, &Box{Program: program, Init: self(t), Home: at("home"), Write: []string{at("cache")}, Read: []string{at("readable")}, Hide: []string{w.Data, w.DataFile, at("none")},
		Network: NetworkOff, Doors: map[int]string{w.Door: at("doors/api")}}
}
