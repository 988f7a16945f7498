package sshlink

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Limits of a connection: the times for checking for the program and for copying it, and the stored bytes of ssh's standard error.
const (
	lookTime = time.Minute
	copyTime = 10 * time.Minute
	maxSaid  = 4 << 10
)

// flags are the flags of ssh before the destination: no prompts, no forwarding, and detection of a
// dead machine within 30 s.
var flags = []string{"-T", "-oBatchMode=yes", "-oClearAllForwardings=yes", "-oForwardAgent=no", "-oForwardX11=no", "-oPermitLocalCommand=no",
	"-oConnectTimeout=15", "-oServerAliveInterval=10", "-oServerAliveCountMax=2"}

// Dial connects to a machine over ssh, where parley host join --stdio serves the connection. It first copies the program if the machine
// does not have it. Errors contain the output of ssh. ctx limits connecting; Close ends ssh.
func Dial(ctx context.Context, o Options) (net.Conn, error) {
	if err := o.checkDestination(); err != nil {
		return nil, err
	}
	if !serverID.MatchString(o.Server) || o.Executable == "" {
		return nil, fmt.Errorf("%w: the id of the server is %q, the program %q", ErrOptions, o.Server, o.Executable)
	}
	if o.Program == "" {
		program, err := exec.LookPath("ssh")
		if err != nil {
			return nil, fmt.Errorf("sshlink: ssh not found: %w", err)
		}
		o.Program = program
	}
	program, err := o.install(ctx)
	if err != nil {
		return nil, err
	}
	words := []string{"host", "join", "--stdio", "--name=" + o.Name}
	for _, word := range append(words, append(o.Args, o.Server)...) {
		program += " " + quote(word)
	}
	return o.start(ctx, "exec "+program)
}

// command returns an ssh process with a command for the machine's shell.
func (o *Options) command(ctx context.Context, script string) *exec.Cmd {
	args := append(append([]string{}, flags...), "--", o.Destination, script)
	cmd := exec.CommandContext(ctx, o.Program, args...)
	cmd.WaitDelay = 5 * time.Second // for a child of ssh that keeps its output open
	return cmd
}

// run runs a script on the machine and returns its output.
func (o *Options) run(ctx context.Context, limit time.Duration, script string, in io.Reader) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := o.command(ctx, script)
	said := &tail{}
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return "", said.explain(o.Destination, err)
	}
	return out.String(), nil
}

// place is the path of the copied program on the machine, as its shell expands it. Each version has
// a separate folder.
const place = `"${XDG_CACHE_HOME:-$HOME/.cache}/parley/bin/%s/parley"`

// install returns the path of the program on the machine for its shell. It copies the program if it
// is missing.
func (o *Options) install(ctx context.Context) (string, error) {
	file, err := os.Open(o.Executable)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	path := fmt.Sprintf(place, hex.EncodeToString(hash.Sum(nil)[:8]))
	found, err := o.run(ctx, lookTime, "p="+path+`; if [ -x "$p" ]; then echo found; else uname -sm; command -v parley || true; fi`, nil)
	if err != nil {
		return "", err
	}
	system, own, _ := strings.Cut(strings.TrimSpace(found), "\n")
	switch {
	case system == "found":
		return path, nil
	case system == uname[runtime.GOOS+"/"+runtime.GOARCH]:
	case own != "":
		return "parley", nil
	default:
		return "", fmt.Errorf("sshlink: %s has the system %q, for which this program was not built; install parley there", o.Destination, system)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	script := "umask 077 && p=" + path + ` && mkdir -p "${p%/*}" && cat > "$p.$$" && chmod 700 "$p.$$" && mv "$p.$$" "$p"`
	_, err = o.run(ctx, copyTime, script, file)
	return path, err
}

// uname maps the systems of Go to the output of uname -sm.
var uname = map[string]string{
	"linux/amd64": "Linux x86_64", "linux/arm64": "Linux aarch64", "linux/386": "Linux i686", "linux/arm": "Linux armv7l", "linux/riscv64": "Linux riscv64",
	"darwin/amd64": "Darwin x86_64", "darwin/arm64": "Darwin arm64",
}

// start starts ssh with a command, and returns the connection with the command.
func (o *Options) start(ctx context.Context, script string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	in, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	theirs, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	defer out.Close()
	c := &conn{read: theirs, write: ours, said: &tail{}, dest: o.Destination, over: make(chan struct{})}
	c.cmd = o.command(context.Background(), script)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = in, out, c.said
	if err := c.cmd.Start(); err != nil {
		return nil, errors.Join(err, ours.Close(), theirs.Close())
	}
	go func() {
		defer close(c.over)
		c.err = c.cmd.Wait()
	}()
	return c, nil
}

// conn is the connection to a program on the machine.
type conn struct {
	cmd         *exec.Cmd
	read, write *os.File
	said        *tail
	dest        string
	over        chan struct{} // closed when ssh has ended, with err
	err         error
	closing     sync.Once
}

// Read returns the output of ssh as an error if the connection ends.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.read.Read(b)
	if err == io.EOF {
		_ = c.cmd.Process.Kill() // it has closed its output
		<-c.over
		return n, c.said.explain(c.dest, c.err)
	}
	return n, err
}

func (c *conn) Write(b []byte) (int, error) { return c.write.Write(b) }

// Close ends ssh, which ends the connection with the machine.
func (c *conn) Close() (err error) {
	c.closing.Do(func() {
		err = errors.Join(c.write.Close(), c.read.Close())
		_ = c.cmd.Process.Kill() // it may have ended
		<-c.over
	})
	return err
}

func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}
func (c *conn) SetReadDeadline(t time.Time) error  { return c.read.SetReadDeadline(t) }
func (c *conn) SetWriteDeadline(t time.Time) error { return c.write.SetWriteDeadline(t) }
func (c *conn) LocalAddr() net.Addr                { return addr("local") }
func (c *conn) RemoteAddr() net.Addr               { return addr(c.dest) }

// addr is the address of one end of a connection.
type addr string

func (addr) Network() string  { return "ssh" }
func (a addr) String() string { return string(a) }

// tail keeps the end of ssh's output. It may be used concurrently.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-maxSaid):]
	return len(b), nil
}

// explain returns an error with the output of ssh.
func (t *tail) explain(dest string, err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	said := strings.TrimSpace(strings.ToValidUTF8(string(t.text), "?"))
	if err == nil {
		err = io.EOF
	}
	if said == "" {
		return fmt.Errorf("ssh to %s: %w", dest, err)
	}
	return fmt.Errorf("ssh to %s: %w: %s", dest, err, said)
}
