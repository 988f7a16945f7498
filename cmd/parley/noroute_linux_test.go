package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// noRouteVariable makes the test binary run in the network namespace without a route.
const noRouteVariable = "PARLEY_TEST_NO_ROUTE"

// TestServe_noRoute starts a server in a network that has only loopback, and checks that it
// sends no packets before it listens. A session of the simulated agent works there.
func TestServe_noRoute(t *testing.T) {
	if os.Getenv(noRouteVariable) != "" {
		serveWithoutRoute(t)
		return
	}
	var refused []string
	for _, flags := range []uintptr{syscall.CLONE_NEWNET, syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER} {
		out, err := runWithoutRoute(t, flags)
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "operation not permitted") && !strings.Contains(err.Error(), "invalid argument") {
			t.Fatalf("%v\n%s; want not (!strings.Contains(err.Error(), \"operation not permitted\") && !strings.Contains(err.Error(), \"invalid argument\"))", err, out)
		}
		refused = append(refused, err.Error())
	}
	serveTraced(t, refused)
}

// runWithoutRoute runs this test again in a new network namespace.
func runWithoutRoute(t *testing.T, flags uintptr) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, exe, "-test.run=^TestServe_noRoute$", "-test.v")
	cmd.Env = append(os.Environ(), noRouteVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	if flags&syscall.CLONE_NEWUSER != 0 {
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err == nil && !bytes.Contains(out, []byte("--- PASS: TestServe_noRoute")) {
		err = fmt.Errorf("the test did not run")
	}
	return string(out), err
}

// serveWithoutRoute runs in the network namespace without a route.
func serveWithoutRoute(t *testing.T) {
	loopbackUp(t)
	t.Setenv("PARLEY_SIM_PACE", "0")
	dir := t.TempDir()
	f := serveFlagsFor(t, "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--dir", dir, "--log-level", "error", "--agent", "sim")
	c, _ := serveForTest(t, f)
	if sent := networkCalls(t); len(sent) > 0 {
		t.Errorf("before the server listened it tried to reach others: %v", sent)
	}
	converse(t, c, "say hello")
	if sent := networkCalls(t); len(sent) == 0 {
		t.Error("the counters do not count: the client's connections are not among them")
	}
}

// loopbackUp enables the loopback interface of a new network.
func loopbackUp(t *testing.T) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	var request struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], "lo")
	request.flags = syscall.IFF_UP | syscall.IFF_RUNNING
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		t.Fatalf("loopback: %v", errno)
	}
}

// sentCounters are the kernel counters of outgoing traffic.
var sentCounters = map[string]bool{
	"Tcp ActiveOpens": true, "Udp OutDatagrams": true, "Ip OutNoRoutes": true, "Icmp OutMsgs": true,
	"Udp6OutDatagrams": true, "Ip6OutNoRoutes": true,
}

// networkCalls returns the nonzero counters of this network.
func networkCalls(t *testing.T) map[string]string {
	t.Helper()
	sent := map[string]string{}
	v4, err := os.ReadFile("/proc/self/net/snmp")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(v4), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		names, values := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		for j := 1; j < len(names) && j < len(values); j++ {
			name := strings.TrimSuffix(names[0], ":") + " " + names[j]
			if sentCounters[name] && values[j] != "0" {
				sent[name] = values[j]
			}
		}
	}
	v6, _ := os.ReadFile("/proc/self/net/snmp6") // a kernel without IPv6 has no such address
	for line := range strings.Lines(string(v6)) {
		if f := strings.Fields(line); len(f) == 2 && sentCounters[f[0]] && f[1] != "0" {
			sent[f[0]] = f[1]
		}
	}
	return sent
}

var (
	tracedListen  = regexp.MustCompile(`\blisten\(`)
	tracedConnect = regexp.MustCompile(`\b(connect|sendto|sendmsg|sendmmsg)\(.*AF_INET`)
)

// serveTraced traces the system calls instead, if no network namespace can be created.
func serveTraced(t *testing.T, refused []string) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		text := fmt.Sprintf("neither a network without a route (%s) nor strace can be had", strings.Join(refused, "; "))
		if os.Getenv("CI") == "true" {
			t.Fatalf("text is %v; want os.Getenv(\"CI\") != \"true\"", text)
		}
		t.Skip(text)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	parley, trace := filepath.Join(dir, "parley"), filepath.Join(dir, "trace")
	if err := os.Symlink(exe, parley); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, strace, "-f", "-qq", "-s", "16", "-e", "trace=connect,sendto,sendmsg,sendmmsg,listen", "-o", trace,
		parley, "serve", "--listen", "127.0.0.1:0", "--agent", "sim", "--data", filepath.Join(dir, "data"), "--dir", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // the server ends, then strace
	cmd.WaitDelay = 30 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !greetingLink.MatchString(lines.Text()) {
	}
	if err := lines.Err(); err != nil {
		t.Errorf("reading the output of the server: %v", err)
	}
	text, err := os.ReadFile(trace)
	cancel()
	_ = cmd.Wait() // it was ended
	if err != nil {
		t.Fatal(err)
	}
	if !tracedListen.Match(text) {
		t.Fatalf("the server does not listen:\n%s", text)
	}
	if call := tracedConnect.Find(text); call != nil {
		t.Errorf("before the server listened it tried to reach others: %s", call)
	}
}
