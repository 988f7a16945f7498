package box

import (
	"bufio"
	"io"
	"net"
	"os/exec"
	"syscall"
	"testing"
)

// listen accepts connections. If answer is set, it answers a line with answer and the line.
func listen(t *testing.T, network, address, answer string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if line, err := bufio.NewReader(c).ReadString('\n'); err == nil && answer != "" {
				_, _ = io.WriteString(c, answer+line)
			}
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

// sharedMemory makes a segment of System V shared memory.
func sharedMemory(t *testing.T) int {
	t.Helper()
	id, _, errno := syscall.Syscall(syscall.SYS_SHMGET, 0, 4096, 0o1600)
	if errno != 0 {
		t.Fatal(errno)
	}
	t.Cleanup(func() { _, _, _ = syscall.Syscall(syscall.SYS_SHMCTL, id, 0, 0) })
	return int(id)
}

// secretProcess runs a process with the secret in its environment and its arguments.
func secretProcess(t *testing.T) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "read line # "+marker)
	cmd.Env = []string{"SECRET=" + marker}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
}
