package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/server/api"
)

// sshScript is a program used instead of ssh: it runs the command with the environment of the
// machine while the gate is open, and records its process id.
const sshScript = `#!/bin/sh
while [ "$1" != -- ]; do shift; done
[ "$2" = dev@box ] && [ -e '%[1]s/gate' ] || { echo "ssh: connect to host box: Connection refused" >&2; exit 255; }
echo $$ >> '%[1]s/pids'
cd '%[1]s/home' && exec env -i %[2]s /bin/sh -c "$3"
`

// newSSHWorld is like newMachineWorld, but the server reaches the machine with the program that is
// used instead of ssh.
func newSSHWorld(t *testing.T, replies ...claudetest.Reply) *machineWorld {
	fake := claudetest.StartFakeAPI(t, claudetest.Replies(replies...))
	w := newMachine(t, fake)
	w.env = append(w.env, "PATH="+os.Getenv("PATH"))
	dir := t.TempDir()
	var words []string
	text := "dev@box,name=m1,dir=" + filepath.Join(w.home, "elsewhere") + ",cli=" + e2e.CLI(t) + ",data=" + filepath.Join(w.home, "data")
	for _, entry := range w.env {
		name, _, _ := strings.Cut(entry, "=")
		text += ",pass-env=" + name
		words = append(words, "'"+entry+"'")
	}
	for name, content := range map[string]string{"ssh": fmt.Sprintf(sshScript, dir, strings.Join(words, " ")), "gate": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(w.home, filepath.Join(dir, "home")); err != nil {
		t.Fatal(err)
	}
	w.cut = func() {
		pids, err := os.ReadFile(filepath.Join(dir, "pids"))
		if err == nil {
			err = os.Remove(filepath.Join(dir, "gate"))
		}
		if err != nil {
			t.Fatal(err)
		}
		for pid := range strings.FieldsSeq(string(pids)) {
			if n, err := strconv.Atoi(pid); err == nil {
				_ = syscall.Kill(n, syscall.SIGKILL) // at most one still runs
			}
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	w.moveIn(newHostWorldOn(t, fake, "--ssh", text))
	id, err := os.ReadFile(filepath.Join(w.data, "server-id"))
	if err == nil {
		w.hostDir, err = join.OverDir(filepath.Join(w.home, "data"), strings.TrimSpace(string(id)))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup((&simHost{T: t, data: w.hostDir}).stop)
	w.is(api.MachineReachable)
	return w
}

// TestMachines_ssh breaks the ssh link of a session during a turn. The agent continues, and the
// turn ends as usual.
func TestMachines_ssh(t *testing.T) {
	w := newSSHWorld(t, claudetest.Use("Bash", map[string]any{"command": "echo kept >> kept", "description": "Write a file"}), claudetest.Say("It is written."))
	dir, _, _ := strings.Cut(os.Getenv("PATH"), ":") // directory of the program that is used instead of ssh
	gate := filepath.Join(dir, "gate")
	request := w.asks("write it")
	before := w.theirs()
	w.cut()
	w.is(api.MachineUnreachable)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.is(api.MachineReachable)
	w.answered(request)
	if after := w.theirs(); len(before) != 1 || len(after) != 1 || after[0].PID != before[0].PID {
		t.Errorf("the agents are %+v, they were %+v", after, before)
	}
	w.end(syscall.SIGTERM)
}
