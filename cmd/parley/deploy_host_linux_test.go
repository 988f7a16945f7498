package main

import (
	"bufio"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/internal/supervise"
)

// TestEntrypoint checks that the entrypoint restarts a server that was killed in a container, and
// that SIGTERM ends the server and the container.
func TestEntrypoint(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(filepath.Join(deployDir, "entrypoint.sh"), linkedProgram(t), "serve", "--agent", "sim", "--listen", "127.0.0.1:0",
		"--data", filepath.Join(dir, "data"), "--dir", dir, "--log-level", "error")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "GORACE=atexit_sleep_ms=0"}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endChildren(cmd.Process.Pid); _ = cmd.Process.Kill() }) // in case the test has failed
	lines := bufio.NewScanner(out)
	greeted := func() bool {
		for lines.Scan() {
			if greetingLink.MatchString(lines.Text()) {
				return true
			}
		}
		return false
	}
	if !greeted() {
		t.Fatalf("the server prints no address; reading its output: %v", lines.Err())
	}
	endChildren(cmd.Process.Pid)
	if !greeted() {
		t.Fatalf("the server was killed and is not started again; reading its output: %v", lines.Err())
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM the entry point ended with %v, want the status 0 of a server that was drained", err)
	}
}

// endChildren kills the children of a process.
func endChildren(pid int) {
	for _, p := range supervise.Table() {
		if p.Parent == pid {
			p.Signal(syscall.SIGKILL)
		}
	}
}

// TestLaunchd checks that the arguments of the launchd agent are valid and that it ends only the server.
func TestLaunchd(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(deployDir, "org.parley.serve.plist"))
	if err != nil {
		t.Fatal(err)
	}
	var plist struct {
		Arguments []string `xml:"dict>array>string"`
	}
	if err := xml.Unmarshal(data, &plist); err != nil {
		t.Fatal(err)
	}
	serveLine(t, "org.parley.serve.plist", plist.Arguments)
	if !strings.Contains(string(data), "<key>AbandonProcessGroup</key>\n\t<true/>") {
		t.Error("launchd ends the host with the server: AbandonProcessGroup is not true")
	}
}
