package sshlink

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/bwraptest"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// findSSHD returns the path of an OpenSSH server, and the directory of its libraries if it is in
// the cache. It skips the test if there is none.
func findSSHD(t *testing.T) (program, libraries string) {
	t.Helper()
	for _, name := range []string{"ssh", "ssh-keygen"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("no real ssh: %v", err)
		}
	}
	if _, err := os.Stat("/usr/sbin/sshd"); err == nil {
		return "/usr/sbin/sshd", ""
	}
	cache := os.Getenv("PARLEY_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		must(t, err)
		cache = filepath.Join(user, "parley")
	}
	program = filepath.Join(cache, "openssh/usr/sbin/sshd")
	if _, err := os.Stat(program); err != nil {
		t.Skipf("no real sshd: %v; scripts/install-sshd installs it", err)
	}
	found, err := filepath.Glob(filepath.Join(cache, "openssh", "*lib*", "*"))
	must(t, err)
	more, err := filepath.Glob(filepath.Join(cache, "openssh/usr/lib/*"))
	must(t, err)
	return program, strings.Join(append(found, more...), ":")
}

// startSSHD starts an sshd in a user namespace for the user dev with a key, and returns its port.
func (f *fakeSSH) startSSHD(program, libraries string) int {
	f.Helper()
	bwrap := filepath.Join(bwraptest.Dir(f.T), "bwrap")
	for _, name := range []string{"host_key", "id"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(f.dir, name)).CombinedOutput()
		if err != nil {
			f.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(f, err)
	port := l.Addr().(*net.TCPAddr).Port
	must(f, l.Close())
	f.write("passwd", fmt.Sprintf("dev:x:1000:1000::%s:/bin/sh\n", f.home))
	f.write("group", "dev:x:1000:\n")
	f.write("sshd_config", fmt.Sprintf("ListenAddress 127.0.0.1:%d\nHostKey %[2]s/host_key\nAuthorizedKeysFile %[2]s/id.pub\nPidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nSetEnv XDG_CACHE_HOME=\n", port, f.dir))
	cmd := exec.Command(bwrap, "--dev-bind", "/", "/", "--unshare-user", "--uid", "1000", "--gid", "1000", "--die-with-parent", "--ro-bind", filepath.Join(f.dir, "passwd"), "/etc/passwd",
		"--ro-bind", filepath.Join(f.dir, "group"), "/etc/group", "--", program, "-D", "-e", "-f", filepath.Join(f.dir, "sshd_config"))
	cmd.Env = []string{"LD_LIBRARY_PATH=" + libraries, "PATH=" + os.Getenv("PATH")}
	said := &tail{}
	cmd.Stderr = said
	must(f, cmd.Start())
	f.Cleanup(func() {
		_ = cmd.Process.Kill() // it serves until then
		_ = cmd.Wait()
	})
	for ctx := within(f.T); ; {
		conn, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", port))
		if err == nil {
			conn.Close()
			return port
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			f.Skipf("no real sshd: it does not start here: %v", said.explain("sshd", err))
		}
	}
}

// TestDial_sshd connects with the real ssh to a real sshd: the program is copied and started. A machine with an unknown host key is refused.
func TestDial_sshd(t *testing.T) {
	short.Skip(t, "sshd")
	program, libraries := findSSHD(t)
	f := newFakeSSH(t, `printf '%s|' "$@"; exec cat`)
	port := f.startSSHD(program, libraries)
	key, err := os.ReadFile(filepath.Join(f.dir, "host_key.pub"))
	must(t, err)
	f.write("known", fmt.Sprintf("[127.0.0.1]:%d %s", port, key))
	f.write("none", "")
	for _, known := range []string{"known", "none"} {
		f.write("config-"+known, fmt.Sprintf("Host box\nHostName 127.0.0.1\nPort %d\nIdentityFile %[2]s/id\nIdentitiesOnly yes\nUserKnownHostsFile %[2]s/%[3]s\nGlobalKnownHostsFile /dev/null\n", port, f.dir, known))
		f.write("ssh-"+known, fmt.Sprintf("#!/bin/sh\nexec ssh -F %s/config-%s \"$@\"\n", f.dir, known))
	}
	f.options.Program = filepath.Join(f.dir, "ssh-known")
	want := `host|join|--stdio|--name=box|--dir=a 'b'; exit 1|0123456789abcdef|`
	for range 2 {
		c, err := Dial(within(t), f.options)
		must(t, err)
		if _, err := c.Write([]byte("hello\n")); err != nil {
			t.Error(err)
		}
		got := make([]byte, len(want)+6)
		if _, err := io.ReadFull(c, got); err != nil || string(got) != want+"hello\n" {
			t.Errorf("the connection reads %q, %v, want %q and the echo", got, err, want)
		}
		must(t, c.Close())
	}
	if copies, _ := filepath.Glob(filepath.Join(f.home, ".cache/parley/bin/*/parley")); len(copies) != 1 {
		t.Errorf("the machine has the programs %v, want one", copies)
	}
	f.options.Program = filepath.Join(f.dir, "ssh-none")
	if c, err := Dial(within(t), f.options); err == nil || !strings.Contains(err.Error(), "Host key verification failed") {
		t.Errorf("an unknown host key: %v", err)
		if err == nil {
			must(t, errors.Join(c.Close()))
		}
	}
}
