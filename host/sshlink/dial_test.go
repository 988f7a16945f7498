//go:build unix

package sshlink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/bwraptest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

func TestMain(m *testing.M) {
	bwraptest.Visible()
	e2e.VerifyMain(m)
}

// fakeSSH is a program used instead of ssh. It runs the command on this machine with another home
// directory, and records its arguments.
type fakeSSH struct {
	*testing.T
	dir, home string
	options   Options
}

const fakeScript = `#!/bin/sh
printf '%%s\n' "$@" "--end--" >> %[1]s/args
while [ "$1" != -- ]; do shift; done
[ "$2" = dev@box ] || { echo "ssh: Could not resolve hostname $2" >&2; exit 255; }
cd %[1]s/home && HOME=%[1]s/home XDG_CACHE_HOME= PATH=%[2]s exec /bin/sh -c "$3"
`

// newFakeSSH returns a machine with a script of this text as its parley.
func newFakeSSH(t *testing.T, program string) *fakeSSH {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	f := &fakeSSH{T: t, dir: dir, home: filepath.Join(dir, "home")}
	must(t, os.Mkdir(f.home, 0o700))
	f.write("ssh", fmt.Sprintf(fakeScript, dir, os.Getenv("PATH")))
	f.write("parley", "#!/bin/sh\n"+program)
	f.options = Options{Program: filepath.Join(dir, "ssh"), Destination: "dev@box", Name: "box", Executable: filepath.Join(dir, "parley"), Server: "0123456789abcdef", Args: []string{"--dir=a 'b'; exit 1"}}
	return f
}

func (f *fakeSSH) write(name, text string) {
	f.Helper()
	must(f, os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o700))
}

// calls returns the arguments of each call of ssh.
func (f *fakeSSH) calls() (all [][]string) {
	text, err := os.ReadFile(filepath.Join(f.dir, "args"))
	must(f, err)
	for call := range strings.SplitSeq(strings.TrimSuffix(string(text), "--end--\n"), "--end--\n") {
		all = append(all, strings.Split(strings.TrimSuffix(call, "\n"), "\n"))
	}
	return all
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// TestDial checks that the program is copied once and started with exactly the given arguments, and
// that data is transferred in both directions.
func TestDial(t *testing.T) {
	f := newFakeSSH(t, `printf '%s|' "$@"; exec cat`)
	want := `host|join|--stdio|--name=box|--dir=a 'b'; exit 1|0123456789abcdef|`
	for i := range 2 {
		c, err := Dial(within(t), f.options)
		must(t, err)
		text := bytes.Repeat([]byte("line\n"), 1<<16)
		go func() { _, _ = c.Write(text) }() // the read shows whether it arrived
		got := make([]byte, len(want)+len(text))
		if _, err := io.ReadFull(c, got); err != nil || string(got[:len(want)]) != want || !bytes.Equal(got[len(want):], text) {
			t.Fatalf("connection %d reads %.200q, %v, want %q and the echo", i, got, err, want)
		}
		must(t, c.Close())
		if _, err := c.Read(got); err == nil {
			t.Error("a closed connection is read")
		}
	}
	calls := f.calls()
	if len(calls) != 5 { // look, copy, start, look, start
		t.Fatalf("ssh was started %d times, want 5: %q", len(calls), calls)
	}
	for _, args := range calls {
		end := slices.Index(args, "--")
		for _, flag := range []string{"-T", "-oBatchMode=yes", "-oClearAllForwardings=yes", "-oForwardAgent=no", "-oForwardX11=no", "-oPermitLocalCommand=no", "-oServerAliveInterval=10"} {
			if !slices.Contains(args[:max(0, end)], flag) {
				t.Errorf("ssh has no %s: %q", flag, args)
			}
		}
		if len(args) != end+3 || args[end+1] != "dev@box" {
			t.Errorf("after its flags ssh has %q, want the destination and a command", args[end:])
		}
		for _, arg := range args {
			if strings.Contains(arg, "StrictHostKeyChecking") || strings.Contains(arg, "UserKnownHostsFile") {
				t.Errorf("ssh gets %s: host keys are checked as its configuration tells", arg)
			}
		}
	}
	copies, err := filepath.Glob(filepath.Join(f.home, ".cache/parley/bin/*/parley"))
	must(t, err)
	if len(copies) != 1 {
		t.Fatalf("the machine has the programs %v, want one", copies)
	}
	info, err := os.Stat(copies[0])
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the program has the mode %v, want 0700", info.Mode())
	}
	f.write("parley", "#!/bin/sh\nexec cat # another version")
	c, err := Dial(within(t), f.options)
	must(t, err)
	must(t, c.Close())
	if copies, _ := filepath.Glob(filepath.Join(f.home, ".cache/parley/bin/*/*")); len(copies) != 2 {
		t.Errorf("with another version the machine has the programs %v, want two", copies)
	}
}

// TestDial_fails checks that an error contains the output of ssh or of the program.
func TestDial_fails(t *testing.T) {
	f := newFakeSSH(t, "echo no agent can be offered >&2; exit 1")
	c, err := Dial(within(t), f.options)
	must(t, err)
	if _, err := c.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "no agent can be offered") {
		t.Errorf("a program that ends: %v, want what it has printed", err)
	}
	must(t, c.Close())
	for name, test := range map[string]struct {
		change func(o *Options)
		want   string
	}{
		"an unknown machine":  {func(o *Options) { o.Destination = "dev@other" }, "Could not resolve hostname dev@other"},
		"no ssh":              {func(o *Options) { o.Program = "/nowhere/ssh" }, "/nowhere/ssh"},
		"a flag":              {func(o *Options) { o.Destination = "-oProxyCommand=x" }, "not a destination"},
		"no program":          {func(o *Options) { o.Executable = filepath.Join(f.dir, "none") }, "none"},
		"an id with a quote":  {func(o *Options) { o.Server = "0123456789abcde'" }, "the id of the server"},
		"a context that ends": {nil, context.Canceled.Error()},
	} {
		o, ctx := f.options, within(t)
		if test.change == nil {
			var cancel func()
			ctx, cancel = context.WithCancel(ctx)
			cancel()
		} else {
			test.change(&o)
		}
		if c, err := Dial(ctx, o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
			if err == nil {
				c.Close()
			}
		}
	}
}

// TestDial_system checks that a machine with another system needs an installed parley.
func TestDial_system(t *testing.T) {
	f := newFakeSSH(t, "exec cat")
	bin := filepath.Join(f.dir, "bin")
	must(t, os.Mkdir(bin, 0o700))
	f.write("bin/uname", "#!/bin/sh\necho Plan9 mips\n")
	f.write("ssh", fmt.Sprintf(fakeScript, f.dir, bin+":"+os.Getenv("PATH")))
	if _, err := Dial(within(t), f.options); err == nil || !strings.Contains(err.Error(), `"Plan9 mips"`) {
		t.Errorf("a machine with another system: %v", err)
	}
	f.write("bin/parley", "#!/bin/sh\necho own\n")
	c, err := Dial(within(t), f.options)
	must(t, err)
	defer c.Close()
	if text, err := io.ReadAll(c); string(text) != "own\n" || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("its own parley prints %q, %v", text, err)
	}
}

// TestDial_deadline checks that a read ends at its deadline.
func TestDial_deadline(t *testing.T) {
	f := newFakeSSH(t, "exec cat")
	c, err := Dial(within(t), f.options)
	must(t, err)
	defer c.Close()
	must(t, c.SetDeadline(time.Now()))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read after its deadline: %v", err)
	}
}
