package main

import (
	"bufio"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/supervise"
)

// TestEntrypoint checks that the entrypoint restarts a server that was killed in a container, and
// that SIGTERM drains the server: its agents and their host end, unlike after a SIGTERM of the server itself.
func TestEntrypoint(t *testing.T) {
	s := newSimHost(t)
	cmd := exec.Command(filepath.Join(deployDir, "entrypoint.sh"), slices.Concat([]string{linkedProgram(t), "serve", "--host"}, s.args)...)
	cmd.Env = s.env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endChildren(cmd.Process.Pid); _ = cmd.Process.Kill() }) // in case the test has failed
	lines := bufio.NewScanner(out)
	greeting := func() (link string) {
		for link == "" && lines.Scan() {
			link = greetingLink.FindString(lines.Text())
		}
		return link
	}
	if greeting() == "" {
		t.Fatalf("the server prints no address; reading its output: %v", lines.Err())
	}
	endChildren(cmd.Process.Pid)
	link := greeting()
	if link == "" {
		t.Fatalf("the server was killed and is not started again; reading its output: %v", lines.Err())
	}
	c, err := client.New(client.Options{URL: link})
	if err != nil {
		t.Fatal(err)
	}
	s.connect(c)
	if _, runs := s.agents(); !runs {
		t.Error("the agent runs under no host")
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM the entry point ended with %v, want the status 0 of a server that was drained", err)
	}
	if agents, runs := s.agents(); runs {
		t.Errorf("after SIGTERM a host runs with %+v", agents)
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
