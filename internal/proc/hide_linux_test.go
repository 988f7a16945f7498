package proc

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func init() {
	behaviours["hidden"] = func() {
		if err := Hide(); err != nil {
			fmt.Println(err)
		}
		fmt.Println("ready")
		forever()
	}
}

// TestHide: after Hide the memory and the environment of a process in /proc belong to root and no longer to its user, who
// therefore cannot read them.
func TestHide(t *testing.T) {
	census(t)
	for name, hidden := range map[string]bool{"hang": false, "hidden": true} {
		cmd := behaviour(name)
		c := exec.Command("/proc/self/exe")
		c.Env = cmd.Env
		user := uint32(os.Geteuid())
		if user == 0 {
			user = 65534
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		}
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if line != "ready\n" {
			t.Errorf("%s prints %q, %v; want ready", name, line, err)
		}
		for _, file := range []string{"mem", "environ"} {
			info, err := os.Stat(fmt.Sprintf("/proc/%d/%s", c.Process.Pid, file))
			if err != nil {
				t.Fatal(err)
			}
			want := user
			if hidden {
				want = 0
			}
			if owner := info.Sys().(*syscall.Stat_t).Uid; owner != want {
				t.Errorf("%s: %s belongs to user %d, want %d", name, file, owner, want)
			}
		}
		_ = c.Process.Kill()
		_ = c.Wait() // it was killed
	}
}
